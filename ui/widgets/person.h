#pragma once

#include <QString>

namespace ui {

// Who decides and asks in this window: the name of Settings, else the one of the operating system's account.
// Kept as a property of the application object, so that widgets made anywhere sign alike.
QString personName();
void setPersonName(const QString &name);

} // namespace ui
