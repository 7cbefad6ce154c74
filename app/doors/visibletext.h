#pragma once

#include <QString>

namespace app {

// Text of a model or a tool for a terminal: control, invisible and direction-changing characters as visible tokens
// (<U+001B>), so that nothing hides and no terminal obeys it. Line feeds and tabs stay.
QString visibleText(const QString &text);

} // namespace app
