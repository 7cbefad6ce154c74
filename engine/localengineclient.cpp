#include "engine/localengineclient.h"

#include "engine/engine.h"
#include "engine/engineparts.h"
#include "engine/reader.h"

namespace engine {

LocalEngineClient::LocalEngineClient(EngineOptions options, QObject *parent)
    : EngineClient(parent), m_engine(new Engine(options)), m_reader(new Reader)
{
    qRegisterMetaType<FeedBatch>();
    qRegisterMetaType<Error>();
    m_engineThread.setObjectName(QStringLiteral("engine"));
    m_readerThread.setObjectName(QStringLiteral("reader"));
    m_engine->moveToThread(&m_engineThread);
    m_reader->moveToThread(&m_readerThread);
    connect(&m_engineThread, &QThread::finished, m_engine, &QObject::deleteLater);
    connect(&m_readerThread, &QThread::finished, m_reader, &QObject::deleteLater);

    // The reader opens after the engine migrated the store and before anybody is told that it is there.
    connect(m_engine, &Engine::started, m_reader, [reader = m_reader, path = storePath(options.dataFolder)] { reader->open(path); });
    connect(m_engine, &Engine::started, this, [this] {
        QMetaObject::invokeMethod(m_reader, [this] { QMetaObject::invokeMethod(this, &LocalEngineClient::started); });
    });
    connect(m_engine, &Engine::failed, m_reader, [reader = m_reader](const Error &error) { reader->giveUp(error); });
    connect(m_engine, &Engine::failed, this, &LocalEngineClient::failed);
    connect(m_engine, &Engine::batchReady, this, &LocalEngineClient::fed);
    connect(m_engine, &Engine::warmChanged, m_reader, [reader = m_reader](const QSet<SessionId> &warm) { reader->setWarm(warm); });
    // In its own thread, so that it also ends while this thread waits for it.
    connect(m_engine, &Engine::stopped, &m_engineThread, &QThread::quit, Qt::DirectConnection);
    connect(&m_engineThread, &QThread::finished, this, &LocalEngineClient::stopped);
}

LocalEngineClient::~LocalEngineClient()
{
    if (!m_engineThread.isRunning() && !m_readerThread.isRunning()) {
        if (!m_shutDown) { // never started
            delete m_engine;
            delete m_reader;
        }
        return;
    }
    shutdown();
    // The one place that waits: the threads must not outlive the objects they use.
    m_readerThread.wait();
    m_engineThread.wait();
}

void LocalEngineClient::start()
{
    m_engineThread.start();
    m_readerThread.start();
    QMetaObject::invokeMethod(m_engine, &Engine::start);
    m_startAsked = true;
    for (const auto &perform : std::exchange(m_early, {}))
        perform();
}

void LocalEngineClient::shutdown()
{
    if (std::exchange(m_shutDown, true))
        return;
    // The reading connection goes first: the last one to close is the one that may tidy the store's log up.
    QMetaObject::invokeMethod(m_reader, [this] {
        m_reader->close();
        m_readerThread.quit();
        QMetaObject::invokeMethod(m_engine, &Engine::stop);
    });
}

template <class T, class F> QFuture<Result<T>> LocalEngineClient::command(F work)
{
    auto promise = std::make_shared<QPromise<Result<T>>>();
    promise->start();
    QFuture<Result<T>> future = promise->future();
    const auto answer = [promise](const Result<T> &result) {
        promise->addResult(result);
        promise->finish();
    };
    if (m_shutDown) {
        answer(fail(ErrorCode::ShuttingDown, tr("The engine is closing.")));
        return future;
    }
    const auto perform = [engine = m_engine, work = std::move(work), answer] {
        QMetaObject::invokeMethod(engine, [engine, work, answer] { work(*engine, answer); });
    };
    // What is asked before the start waits for it; it would be answered by an engine that is not there yet.
    if (m_startAsked)
        perform();
    else
        m_early.append(perform);
    return future;
}

template <class T, class F> QFuture<Result<T>> LocalEngineClient::query(F work)
{
    auto promise = std::make_shared<QPromise<Result<T>>>();
    promise->start();
    QFuture<Result<T>> future = promise->future();
    if (m_shutDown) {
        promise->addResult(Result<T>(fail(ErrorCode::ShuttingDown, tr("The engine is closing."))));
        promise->finish();
        return future;
    }
    const auto perform = [reader = m_reader, work = std::move(work), promise] {
        if (const Error *failure = reader->failure())
            promise->addResult(Result<T>(tl::unexpected<Error>(*failure)));
        else
            promise->addResult(work(*reader));
        promise->finish();
    };
    QMetaObject::invokeMethod(m_reader, [reader = m_reader, perform] { reader->perform(perform); });
    return future;
}

QFuture<Result<QList<Agent>>> LocalEngineClient::agents()
{
    return query<QList<Agent>>([](Reader &reader) { return reader.stores().agents.list(true); });
}

QFuture<Result<Agent>> LocalEngineClient::saveAgent(const Agent &agent, const QString &who)
{
    return command<Agent>([=](Engine &engine, const Answer<Agent> &answer) { engine.saveAgent(agent, who, answer); });
}

QFuture<Result<Agent>> LocalEngineClient::archiveAgent(const AgentId &id, const QString &who)
{
    return command<Agent>([=](Engine &engine, const Answer<Agent> &answer) { engine.archiveAgent(id, who, answer); });
}

QFuture<Result<Session>> LocalEngineClient::createSession(const NewSession &request, const QString &who)
{
    return command<Session>([=](Engine &engine, const Answer<Session> &answer) { engine.createSession(request, who, answer); });
}

QFuture<Result<Session>> LocalEngineClient::renameSession(const SessionId &id, const QString &title)
{
    return command<Session>([=](Engine &engine, const Answer<Session> &answer) { engine.renameSession(id, title, answer); });
}

QFuture<Result<void>> LocalEngineClient::deleteSession(const SessionId &id, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.deleteSession(id, who, answer); });
}

QFuture<Result<Session>> LocalEngineClient::setSessionModel(const SessionId &id, const QString &model)
{
    return command<Session>([=](Engine &engine, const Answer<Session> &answer) { engine.setSessionModel(id, model, answer); });
}

QFuture<Result<Session>> LocalEngineClient::setSessionMode(const SessionId &id, const QString &mode)
{
    return command<Session>([=](Engine &engine, const Answer<Session> &answer) { engine.setSessionMode(id, mode, answer); });
}

QFuture<Result<Session>> LocalEngineClient::startFresh(const SessionId &id, const QString &who)
{
    return command<Session>([=](Engine &engine, const Answer<Session> &answer) { engine.startFresh(id, who, answer); });
}

void LocalEngineClient::prewarm(const SessionId &id)
{
    if (!m_shutDown)
        QMetaObject::invokeMethod(m_engine, [engine = m_engine, id] { engine->prewarm(id); });
}

QFuture<Result<QList<Session>>> LocalEngineClient::sessions(const SessionQuery &asked)
{
    return query<QList<Session>>([=](Reader &reader) { return reader.sessions(asked); });
}

QFuture<Result<Session>> LocalEngineClient::session(const SessionId &id)
{
    return query<Session>([=](Reader &reader) { return reader.session(id); });
}

QFuture<Result<BlockPage>> LocalEngineClient::blocks(const SessionId &id, qint64 first, int count)
{
    return query<BlockPage>([=](Reader &reader) { return reader.stores().events.blocks(id, first, count); });
}

QFuture<Result<QList<RawLine>>> LocalEngineClient::rawLines(const SessionId &id, const RunId &run, int limit)
{
    return query<QList<RawLine>>([=](Reader &reader) { return reader.stores().events.rawLines(id, run, limit); });
}

QFuture<Result<QList<RunEvent>>> LocalEngineClient::runEvents(const RunId &id, int limit)
{
    return query<QList<RunEvent>>([=](Reader &reader) { return reader.stores().events.runEvents(id, limit); });
}

QFuture<Result<Submitted>> LocalEngineClient::submit(const NewRun &request)
{
    return command<Submitted>([=](Engine &engine, const Answer<Submitted> &answer) { engine.submit(request, answer); });
}

QFuture<Result<Run>> LocalEngineClient::cancelRun(const RunId &id, const QString &who)
{
    return command<Run>([=](Engine &engine, const Answer<Run> &answer) { engine.cancelRun(id, who, answer); });
}

QFuture<Result<Run>> LocalEngineClient::requeueRun(const RunId &id, const QString &who)
{
    return command<Run>([=](Engine &engine, const Answer<Run> &answer) { engine.requeueRun(id, who, answer); });
}

QFuture<Result<Run>> LocalEngineClient::run(const RunId &id)
{
    return query<Run>([=](Reader &reader) { return reader.stores().runs.get(id); });
}

QFuture<Result<QList<Run>>> LocalEngineClient::runs(const SessionId &id, int limit)
{
    return query<QList<Run>>([=](Reader &reader) { return reader.runs(id, limit); });
}

QFuture<Result<QList<Approval>>> LocalEngineClient::approvals(const ApprovalQuery &asked)
{
    return query<QList<Approval>>([=](Reader &reader) { return reader.stores().approvals.list(asked); });
}

QFuture<Result<Approval>> LocalEngineClient::approval(const ApprovalId &id)
{
    return query<Approval>([=](Reader &reader) { return reader.stores().approvals.get(id); });
}

QFuture<Result<Resolved>> LocalEngineClient::resolve(const Decision &decision)
{
    return command<Resolved>([=](Engine &engine, const Answer<Resolved> &answer) { engine.resolve(decision, answer); });
}

QFuture<Result<Continued>> LocalEngineClient::continueRun(const RunId &id, const QString &who, bool wait)
{
    return command<Continued>([=](Engine &engine, const Answer<Continued> &answer) { engine.continueRun(id, who, wait, answer); });
}

QFuture<Result<Approval>> LocalEngineClient::extendApproval(const ApprovalId &id, int seconds, const QString &who)
{
    return command<Approval>([=](Engine &engine, const Answer<Approval> &answer) { engine.extendApproval(id, seconds, who, answer); });
}

void LocalEngineClient::markSeen(const QList<ApprovalId> &ids, const QString &who)
{
    if (!m_shutDown)
        QMetaObject::invokeMethod(m_engine, [engine = m_engine, ids, who] { engine->markSeen(ids, who); });
}

QFuture<Result<QList<AuditEntry>>> LocalEngineClient::audit(int limit)
{
    return query<QList<AuditEntry>>([=](Reader &reader) { return reader.stores().audit.list(limit); });
}

QFuture<Result<SandboxEngine>> LocalEngineClient::sandboxEngine()
{
    return command<SandboxEngine>([](Engine &engine, const Answer<SandboxEngine> &answer) { engine.sandboxEngine(answer); });
}

QFuture<Result<QList<Computer>>> LocalEngineClient::computers(bool usage)
{
    return command<QList<Computer>>([=](Engine &engine, const Answer<QList<Computer>> &answer) { engine.computers(usage, answer); });
}

QFuture<Result<QList<Protection>>> LocalEngineClient::checklist(const SessionId &id)
{
    return command<QList<Protection>>([=](Engine &engine, const Answer<QList<Protection>> &answer) { engine.checklist(id, answer); });
}

QFuture<Result<void>> LocalEngineClient::pauseComputer(const SessionId &id, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.pauseComputer(id, who, answer); });
}

QFuture<Result<void>> LocalEngineClient::resumeComputer(const SessionId &id, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.resumeComputer(id, who, answer); });
}

QFuture<Result<void>> LocalEngineClient::stopComputer(const SessionId &id, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.stopComputer(id, who, answer); });
}

QFuture<Result<QList<Leftover>>> LocalEngineClient::leftovers()
{
    return command<QList<Leftover>>([](Engine &engine, const Answer<QList<Leftover>> &answer) { engine.leftovers(answer); });
}

QFuture<Result<void>> LocalEngineClient::removeLeftover(const Leftover &leftover, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.removeLeftover(leftover, who, answer); });
}

QFuture<Result<QList<AgentImage>>> LocalEngineClient::images()
{
    return command<QList<AgentImage>>([](Engine &engine, const Answer<QList<AgentImage>> &answer) { engine.images(answer); });
}

QFuture<Result<void>> LocalEngineClient::buildImage(const ImageRequest &request, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.buildImage(request, who, answer); });
}

void LocalEngineClient::cancelImageBuild()
{
    if (!m_shutDown)
        QMetaObject::invokeMethod(m_engine, [engine = m_engine] { engine->cancelImageBuild(); });
}

QFuture<Result<QMap<QString, QString>>> LocalEngineClient::settings()
{
    return query<QMap<QString, QString>>([](Reader &reader) { return reader.stores().settings.all(); });
}

QFuture<Result<void>> LocalEngineClient::setSetting(const QString &key, const QString &value, const QString &who)
{
    return command<void>([=](Engine &engine, const Answer<void> &answer) { engine.setSetting(key, value, who, answer); });
}

QFuture<Result<EngineStatus>> LocalEngineClient::status()
{
    return command<EngineStatus>([](Engine &engine, const Answer<EngineStatus> &answer) { engine.status(answer); });
}

QFuture<Result<QList<Finding>>> LocalEngineClient::doctor()
{
    return command<QList<Finding>>([](Engine &engine, const Answer<QList<Finding>> &answer) { engine.doctor(answer); });
}

QFuture<Result<Counts>> LocalEngineClient::counts()
{
    return query<Counts>([](Reader &reader) { return reader.counts(); });
}

} // namespace engine
