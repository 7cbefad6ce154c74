#pragma once

#include <QString>

namespace sandbox {

// Names in the engine are made from the session alone, so that making something twice yields the same thing.
QString containerName(const QString &sessionId, int generation);
QString sessionVolumeName(const QString &sessionId);

} // namespace sandbox
