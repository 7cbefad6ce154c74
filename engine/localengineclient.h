#pragma once

#include "engine/engineclient.h"
#include "engine/engineoptions.h"

#include <QPromise>
#include <QThread>

namespace engine {

class Engine;
class Reader;

// Owns the engine thread and the reader thread and carries values between them and its own (GUI) thread.
class LocalEngineClient final : public EngineClient
{
    Q_OBJECT

public:
    explicit LocalEngineClient(EngineOptions options, QObject *parent = nullptr);
    // Ends the threads if shutdown() was not awaited; harness processes go on.
    ~LocalEngineClient() override;

    // Answered by started() or failed(). Commands sent before wait for it.
    void start();
    // Detaches from the living harnesses and closes the store; answered by stopped().
    void shutdown();

    QFuture<Result<QList<Agent>>> agents() override;
    QFuture<Result<Agent>> saveAgent(const Agent &agent, const QString &who) override;
    QFuture<Result<Agent>> archiveAgent(const AgentId &id, const QString &who) override;
    QFuture<Result<Session>> createSession(const NewSession &request, const QString &who) override;
    QFuture<Result<Session>> renameSession(const SessionId &id, const QString &title) override;
    QFuture<Result<void>> deleteSession(const SessionId &id, const QString &who) override;
    QFuture<Result<Session>> setSessionModel(const SessionId &id, const QString &model) override;
    QFuture<Result<Session>> setSessionMode(const SessionId &id, const QString &mode) override;
    QFuture<Result<Session>> startFresh(const SessionId &id, const QString &who) override;
    void prewarm(const SessionId &id) override;
    QFuture<Result<QList<Session>>> sessions(const SessionQuery &query) override;
    QFuture<Result<Session>> session(const SessionId &id) override;
    QFuture<Result<BlockPage>> blocks(const SessionId &id, qint64 first, int count) override;
    QFuture<Result<QList<RawLine>>> rawLines(const SessionId &id, const RunId &run, int limit) override;
    QFuture<Result<QList<RunEvent>>> runEvents(const RunId &id, int limit) override;
    QFuture<Result<Submitted>> submit(const NewRun &request) override;
    QFuture<Result<Run>> cancelRun(const RunId &id, const QString &who) override;
    QFuture<Result<Run>> requeueRun(const RunId &id, const QString &who) override;
    QFuture<Result<Run>> run(const RunId &id) override;
    QFuture<Result<QList<Run>>> runs(const SessionId &id, int limit) override;
    QFuture<Result<QList<Approval>>> approvals(const ApprovalQuery &query) override;
    QFuture<Result<Approval>> approval(const ApprovalId &id) override;
    QFuture<Result<Resolved>> resolve(const Decision &decision) override;
    QFuture<Result<Continued>> continueRun(const RunId &id, const QString &who, bool wait) override;
    QFuture<Result<Approval>> extendApproval(const ApprovalId &id, int seconds, const QString &who) override;
    void markSeen(const QList<ApprovalId> &ids, const QString &who) override;
    QFuture<Result<QList<AuditEntry>>> audit(int limit) override;
    QFuture<Result<SandboxEngine>> sandboxEngine() override;
    QFuture<Result<QList<Computer>>> computers(bool usage) override;
    QFuture<Result<QList<Protection>>> checklist(const SessionId &id) override;
    QFuture<Result<void>> pauseComputer(const SessionId &id, const QString &who) override;
    QFuture<Result<void>> resumeComputer(const SessionId &id, const QString &who) override;
    QFuture<Result<void>> stopComputer(const SessionId &id, const QString &who) override;
    QFuture<Result<QList<Leftover>>> leftovers() override;
    QFuture<Result<void>> removeLeftover(const Leftover &leftover, const QString &who) override;
    QFuture<Result<QList<AgentImage>>> images() override;
    QFuture<Result<void>> buildImage(const ImageRequest &request, const QString &who) override;
    void cancelImageBuild() override;
    QFuture<Result<QMap<QString, QString>>> settings() override;
    QFuture<Result<void>> setSetting(const QString &key, const QString &value, const QString &who) override;
    QFuture<Result<EngineStatus>> status() override;
    QFuture<Result<QList<Finding>>> doctor() override;
    QFuture<Result<Counts>> counts() override;

signals:
    void stopped();

private:
    template <class T, class F> QFuture<Result<T>> command(F work);
    template <class T, class F> QFuture<Result<T>> query(F work);

    QThread m_engineThread;
    QThread m_readerThread;
    Engine *m_engine = nullptr; // lives in and is deleted by m_engineThread
    Reader *m_reader = nullptr; // lives in and is deleted by m_readerThread
    bool m_startAsked = false;
    QList<std::function<void()>> m_early; // commands from before the start
    bool m_shutDown = false;
};

} // namespace engine
