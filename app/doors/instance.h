#pragma once

#include "app/doors/controlserver.h"
#include "app/doors/folders.h"
#include "engine/localengineclient.h"

#include <QTimer>

namespace app {

// An engine on a data folder, with the door for commands once it holds the store. GUI thread.
class Instance final : public QObject
{
    Q_OBJECT

public:
    // `kind`: "window", "headless", or "command" (no door: it lives as long as one command).
    Instance(const Folders &folders, bool demo, const QString &kind);

    engine::LocalEngineClient &engine() { return m_engine; }
    void start();
    // Answered by stopped(), also when the engine does not come to an end in time.
    void shutdown();

signals:
    void started();
    void failed(const engine::Error &error);
    void stopped();
    void warned(const QString &text);
    void raiseRequested();

private:
    void openDoor();

    const Folders m_folders;
    const QString m_kind;
    engine::LocalEngineClient m_engine;
    ControlServer m_server;
    QTimer m_patience;
    bool m_stopping = false;
};

} // namespace app
