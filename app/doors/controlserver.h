#pragma once

#include "engine/engineclient.h"

#include <QLocalServer>

namespace app {

// The door of a running instance for commands of the same user: a Unix socket in the private runtime folder.
// GUI thread.
class ControlServer final : public QObject
{
    Q_OBJECT

public:
    // `kind`: "window" or "headless".
    ControlServer(engine::EngineClient &engine, const QString &kind);
    // Call it only while this instance holds the store: a socket that is left of a dead instance is replaced.
    engine::Result<void> listen(const QString &path);

signals:
    void raiseRequested();

private:
    void accept();

    engine::EngineClient &m_engine;
    const QString m_kind;
    QLocalServer m_server;
};

} // namespace app
