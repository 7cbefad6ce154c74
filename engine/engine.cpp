#include "engine/engine.h"

#include "engine/demo.h"
#include "engine/engineparts.h"

#include <QCoreApplication>
#include <QDir>
#include <QProcessEnvironment>
#include <QRandomGenerator>
#include <QSaveFile>
#include <QSysInfo>
#include <QTimer>
#include <QUuid>

namespace engine {
namespace {

constexpr int stopPollMs = 10;
constexpr int longestStopMs = 8000;

QMap<QString, QString> processEnvironment()
{
    QMap<QString, QString> environment;
    const QProcessEnvironment present = QProcessEnvironment::systemEnvironment();
    for (const QString &key : present.keys())
        environment.insert(key, present.value(key));
    return environment;
}

// Whose things in the container engine are ours is told by an id that the store was given once.
sandbox::DockerOptions dockerOptionsOf(Stores &stores, const EngineOptions &options)
{
    const QString key = QStringLiteral("installation.id");
    const Result<std::optional<QString>> known = stores.settings.get(key);
    QString id = known && *known ? **known : QString();
    if (known && id.isEmpty()) {
        id = QUuid::createUuid().toString(QUuid::WithoutBraces);
        if (!stores.settings.set(key, id))
            id.clear();
    }
    sandbox::DockerOptions docker;
    docker.socket = options.dockerSocket;
    for (auto at = options.environment.begin(); at != options.environment.end(); ++at)
        docker.environment.insert(at.key(), at.value());
    docker.workerProgram = options.workerProgram;
    docker.installId = id;
    return docker;
}

// Kept beside the store, for the owner's eyes alone: an engine after this one must know the tokens that it gave out.
QByteArray gatewaySecret(const QString &dataFolder)
{
    QFile file(dataFolder + QStringLiteral("/gateway.secret"));
    if (file.open(QIODevice::ReadOnly) && file.size() >= 32)
        return file.readAll();
    QByteArray secret(32, Qt::Uninitialized);
    QRandomGenerator::system()->generate(secret.begin(), secret.end());
    QSaveFile made(file.fileName());
    if (made.open(QIODevice::WriteOnly)) {
        made.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
        made.write(secret);
        made.commit();
    }
    return secret;
}

SessionParts sessionPartsOf(EngineParts &parts, const EngineOptions &options)
{
    return {parts.stores, parts.feed, *parts.clock, parts.tools, parts.programs, options,
            [&parts](const Agent &agent) -> sandbox::Provider * {
                if (agent.harness == HarnessKind::Replay)
                    return &parts.replayProvider;
                if (agent.provider == parts.dockerProvider.name())
                    return &parts.dockerProvider;
                return agent.provider == parts.hostProvider.name() ? &parts.hostProvider : nullptr;
            },
            parts.tasks, gatewaySecret(options.dataFolder)};
}

} // namespace

QString storePath(const QString &dataFolder)
{
    return dataFolder + QStringLiteral("/signalbox.db");
}

EngineParts::EngineParts(const EngineOptions &options, InstanceLock held, std::unique_ptr<Database> opened,
                         std::unique_ptr<Clock> time, const QString &owner)
    : lock(std::move(held)), database(std::move(opened)), clock(std::move(time)), instance(owner), stores(*database),
      feed(stores, *clock), hostProvider(options.workerProgram, options.runtimeFolder, options.dataFolder),
      dockerProvider(dockerOptionsOf(stores, options)),
      sessionParts(sessionPartsOf(*this, options)), desk(stores, feed, *clock), host(sessionParts, desk),
      executor(sessionParts, host), dispatcher(stores, feed, *clock, owner, options.pollMs),
      rescuer(sessionParts, host, executor, desk, {&hostProvider, &dockerProvider}, owner),
      sandboxes(sessionParts, host, hostProvider, dockerProvider)
{
}

Engine::Engine(EngineOptions options) : m_options(std::move(options))
{
    if (m_options.environment.isEmpty())
        m_options.environment = processEnvironment();
    if (m_options.instanceName.isEmpty())
        m_options.instanceName =
            QSysInfo::machineHostName() + u':' + QString::number(QCoreApplication::applicationPid());
}

Engine::~Engine() = default;

void Engine::start()
{
    const Result<void> ready = startParts();
    if (!ready) {
        m_parts.reset();
        m_failure = ready.error();
        emit failed(m_failure);
        return;
    }
    openQueue();
}

Result<void> Engine::startParts()
{
    if (!QDir().mkpath(m_options.dataFolder))
        return fail(ErrorCode::StorageUnavailable,
                    tr("The data folder %1 can't be made. Choose a writable one with --data.").arg(m_options.dataFolder));
    if (!QDir().mkpath(m_options.runtimeFolder))
        return fail(ErrorCode::StorageUnavailable,
                    tr("The runtime folder %1 can't be made; it is where the workers' sockets live. Set XDG_RUNTIME_DIR to a "
                       "writable folder.")
                        .arg(m_options.runtimeFolder));
    QFile::setPermissions(m_options.runtimeFolder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    Result<InstanceLock> lock = InstanceLock::acquire(m_options.dataFolder);
    if (!lock)
        return tl::unexpected<Error>(lock.error());
    Result<std::unique_ptr<Database>> database = Database::open({storePath(m_options.dataFolder), false, 5000});
    if (!database)
        return tl::unexpected<Error>(database.error());
    std::unique_ptr<Clock> clock = m_options.clock ? m_options.clock() : std::make_unique<SystemClock>();
    m_parts = std::make_unique<EngineParts>(m_options, std::move(*lock), std::move(*database), std::move(clock),
                                            m_options.instanceName);
    connectParts();
    if (const Result<void> applied = applySettings(); !applied)
        return applied;
    if (const Result<void> taken = takeOverOldSettings(); !taken)
        return taken;
    return installAgents(m_parts->stores, *m_parts->clock, m_options);
}

void Engine::connectParts()
{
    EngineParts &parts = *m_parts;
    parts.feed.setWarmth([&parts](const SessionId &id) { return parts.host.isWarm(id); });
    parts.tools.setSessionInfo([&parts](const QString &nativeSessionId) { return describeSession(parts.stores, nativeSessionId); });
    connect(&parts.feed, &Feed::batchReady, this, [this](const FeedBatch &batch) {
        QSet<SessionId> warm = m_parts->warm;
        for (const Session &session : batch.sessions) {
            if (session.warm)
                warm.insert(session.id);
            else
                warm.remove(session.id);
        }
        if (warm != m_parts->warm) {
            m_parts->warm = warm;
            emit warmChanged(warm);
        }
        emit batchReady(batch);
    });
    connect(&parts.feed, &Feed::runNoted, this, [this](const Run &run) {
        if (run.state != RunState::Paused && !isTerminal(run.state))
            return;
        QList<Waiter> due;
        for (qsizetype i = m_parts->waiters.size() - 1; i >= 0; --i) {
            if (m_parts->waiters.at(i).run == run.id)
                due.append(m_parts->waiters.takeAt(i));
        }
        for (const Waiter &waiter : std::as_const(due))
            waiter.answer(run);
    });
    parts.dockerProvider.setListener([&parts] { parts.feed.noteComputers(); });
    connect(&parts.dispatcher, &Dispatcher::claimed, this, [&parts](const Run &run) { parts.executor.execute(run); });
    connect(&parts.executor, &TurnExecutor::settled, this, [&parts](const Run &run) {
        parts.host.runSettled(run.sessionId);
        parts.dispatcher.wake();
    });
    connect(&parts.host, &SessionHost::resumeNeeded, this, [&parts](const RunId &id) {
        if (const Result<Run> run = parts.stores.runs.get(id); run && run->state == RunState::Running)
            parts.executor.resumeLost(*run);
    });
}

void Engine::openQueue()
{
    QCoro::connect(m_parts->rescuer.rescue(), this, [this](const Result<void> &rescued) {
        if (!m_parts || m_stopping)
            return;
        if (!rescued) {
            m_failure = rescued.error();
            m_parts.reset();
            emit failed(m_failure);
            return;
        }
        m_parts->desk.start();
        if (m_options.demo)
            startDemo(m_parts->stores, *m_parts->clock, m_parts->feed);
        m_parts->dispatcher.start();
        emit started();
    });
}

Result<void> Engine::applySettings()
{
    const Result<std::optional<QString>> runs = m_parts->stores.settings.get(QStringLiteral("queue.max_concurrency"));
    if (!runs)
        return tl::unexpected<Error>(runs.error());
    if (*runs)
        m_parts->dispatcher.setMaxConcurrency(qBound(1, (*runs)->toInt(), 64));
    return {};
}

void Engine::stop()
{
    if (!m_parts || m_stopping) {
        if (!m_parts)
            emit stopped();
        return;
    }
    m_stopping = true;
    m_parts->dispatcher.stop();
    m_parts->host.detachAll();
    m_parts->feed.flush();
    finishStop(0);
}

// The coroutines under way come to their end first; what still waits after that is let go with everything it uses.
void Engine::finishStop(int waitedMs)
{
    if (m_parts->tasks > 0 && waitedMs < longestStopMs) {
        QTimer::singleShot(stopPollMs, this, [this, waitedMs] { finishStop(waitedMs + stopPollMs); });
        return;
    }
    if (m_parts->tasks > 0)
        qWarning("%d task(s) did not end in time", m_parts->tasks);
    const bool clean = m_parts->tasks == 0;
    m_failure = {ErrorCode::ShuttingDown, tr("The engine is closing."), {}};
    if (clean)
        m_parts.reset();
    else
        (void)m_parts.release();
    emit stopped();
}

} // namespace engine
