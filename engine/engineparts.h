#pragma once

#include "engine/approvals/approvaldesk.h"
#include "engine/harness/programfinder.h"
#include "engine/harness/replay/replayprovider.h"
#include "engine/queue/dispatcher.h"
#include "engine/sandboxes/sandboxdesk.h"
#include "engine/sessions/rescuer.h"
#include "engine/store/instancelock.h"
#include "engine/tools/consoletools.h"
#include "sandbox/host/hostprovider.h"

namespace engine {

struct Waiter
{
    RunId run;
    std::function<void(const Run &)> answer;
};

// What the engine consists of, in the order it is built and the reverse order it goes. Private to engine/.
struct EngineParts
{
    EngineParts(const EngineOptions &options, InstanceLock held, std::unique_ptr<Database> opened,
                std::unique_ptr<Clock> time, const QString &owner);

    int tasks = 0;
    InstanceLock lock;
    std::unique_ptr<Database> database;
    std::unique_ptr<Clock> clock;
    QString instance;
    Stores stores;
    Feed feed;
    ProgramFinder programs;
    ConsoleTools tools;
    sandbox::HostProvider hostProvider;
    sandbox::DockerProvider dockerProvider;
    ReplayProvider replayProvider;
    SessionParts sessionParts;
    ApprovalDesk desk;
    SessionHost host;
    TurnExecutor executor;
    Dispatcher dispatcher;
    Rescuer rescuer;
    SandboxDesk sandboxes;
    QList<Waiter> waiters;
    QSet<SessionId> warm;
};

// The store's file below a data folder.
QString storePath(const QString &dataFolder);

} // namespace engine
