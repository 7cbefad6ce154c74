#pragma once

#include <QString>

namespace app {

// Login name of the person this process runs for.
QString userName();

} // namespace app
