#pragma once

#include <QMap>
#include <QString>
#include <functional>
#include <memory>

namespace engine {

class Clock;

// What the composition root gives the engine. Copied into the engine thread.
struct EngineOptions
{
    QString dataFolder;    // store, agents' folders, locks
    QString runtimeFolder; // workers' sockets
    QString workerProgram; // absolute path of signalbox-worker
    QString instanceName;  // empty: host name and process id
    QString dockerSocket;  // empty: searched (DOCKER_HOST, the usual places)
    bool demo = false;     // install the demo agents and sessions on an empty store
    int pollMs = 1000;     // fallback poll of the queue; waking is by commit
    QMap<QString, QString> environment; // where keys, base URLs and PATH are looked up; empty: the process's own
    std::function<std::unique_ptr<Clock>()> clock; // tests; empty: the system's
};

} // namespace engine
