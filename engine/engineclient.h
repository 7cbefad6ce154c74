#pragma once

#include "engine/types/feed.h"

#include <QFuture>
#include <QObject>

namespace engine {

// The only way from the GUI (and every other door) to the engine: commands and queries take values and answer
// futures of values; changes arrive as batches. GUI thread. Nothing here blocks. Two implementations exist:
// LocalEngineClient (engine and reader threads) and the tests' FakeEngineClient.
class EngineClient : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    // Agents
    virtual QFuture<Result<QList<Agent>>> agents() = 0;
    // An empty id makes a new agent. Invalid names the field and what is allowed.
    virtual QFuture<Result<Agent>> saveAgent(const Agent &agent, const QString &who) = 0;
    virtual QFuture<Result<Agent>> archiveAgent(const AgentId &id, const QString &who) = 0;

    // Sessions
    virtual QFuture<Result<Session>> createSession(const NewSession &request, const QString &who) = 0;
    virtual QFuture<Result<Session>> renameSession(const SessionId &id, const QString &title) = 0;
    // Conflict while a run is active.
    virtual QFuture<Result<void>> deleteSession(const SessionId &id, const QString &who) = 0;
    // Empty text: back to the agent's. Takes effect in a living process at once, else at the next start.
    virtual QFuture<Result<Session>> setSessionModel(const SessionId &id, const QString &model) = 0;
    virtual QFuture<Result<Session>> setSessionMode(const SessionId &id, const QString &mode) = 0;
    // The native conversation cannot be resumed and the person chose to begin a new one.
    virtual QFuture<Result<Session>> startFresh(const SessionId &id, const QString &who) = 0;
    // Makes the harness process ready before the first prompt (called when a composer is typed in).
    virtual void prewarm(const SessionId &id) = 0;
    virtual QFuture<Result<QList<Session>>> sessions(const SessionQuery &query) = 0;
    virtual QFuture<Result<Session>> session(const SessionId &id) = 0;
    virtual QFuture<Result<BlockPage>> blocks(const SessionId &id, qint64 first, int count) = 0;
    virtual QFuture<Result<QList<RawLine>>> rawLines(const SessionId &id, const RunId &run, int limit) = 0;
    virtual QFuture<Result<QList<RunEvent>>> runEvents(const RunId &id, int limit) = 0;

    // Runs
    virtual QFuture<Result<Submitted>> submit(const NewRun &request) = 0;
    virtual QFuture<Result<Run>> cancelRun(const RunId &id, const QString &who) = 0;
    // A failed run once more, at the end of its session's line.
    virtual QFuture<Result<Run>> requeueRun(const RunId &id, const QString &who) = 0;
    virtual QFuture<Result<Run>> run(const RunId &id) = 0;
    // The session's runs, newest last; empty id: every session's active and waiting runs.
    virtual QFuture<Result<QList<Run>>> runs(const SessionId &id, int limit) = 0;

    // Approvals
    virtual QFuture<Result<QList<Approval>>> approvals(const ApprovalQuery &query) = 0;
    virtual QFuture<Result<Approval>> approval(const ApprovalId &id) = 0;
    virtual QFuture<Result<Resolved>> resolve(const Decision &decision) = 0;
    // Forbidden while one of the run's approvals is pending. With `wait` the answer comes at the next pause or the
    // end, else at once.
    virtual QFuture<Result<Continued>> continueRun(const RunId &id, const QString &who, bool wait) = 0;
    virtual QFuture<Result<Approval>> extendApproval(const ApprovalId &id, int seconds, const QString &who) = 0;
    virtual void markSeen(const QList<ApprovalId> &ids, const QString &who) = 0;
    virtual QFuture<Result<QList<AuditEntry>>> audit(int limit) = 0;

    // Sandboxes. The session's computer is meant wherever only a session is named.
    virtual QFuture<Result<SandboxEngine>> sandboxEngine() = 0;
    // With `usage` also processor and memory, which costs the container engine about a second.
    virtual QFuture<Result<QList<Computer>>> computers(bool usage) = 0;
    // Read back from the engine and from inside, now.
    virtual QFuture<Result<QList<Protection>>> checklist(const SessionId &id) = 0;
    // NotSupported where the provider cannot.
    virtual QFuture<Result<void>> pauseComputer(const SessionId &id, const QString &who) = 0;
    virtual QFuture<Result<void>> resumeComputer(const SessionId &id, const QString &who) = 0;
    // Conflict while a run is active. Workspace and conversation stay; the next prompt makes a new computer.
    virtual QFuture<Result<void>> stopComputer(const SessionId &id, const QString &who) = 0;
    virtual QFuture<Result<QList<Leftover>>> leftovers() = 0;
    // Conflict for one that is in use.
    virtual QFuture<Result<void>> removeLeftover(const Leftover &leftover, const QString &who) = 0;
    virtual QFuture<Result<QList<AgentImage>>> images() = 0;
    // Answers when the build has begun; its progress and end arrive with the feed. Conflict while another one runs.
    virtual QFuture<Result<void>> buildImage(const ImageRequest &request, const QString &who) = 0;
    virtual void cancelImageBuild() = 0;

    // Settings of the engine: "queue.max_concurrency", "queue.per_session", "approvals.continue_after_resolving".
    virtual QFuture<Result<QMap<QString, QString>>> settings() = 0;
    virtual QFuture<Result<void>> setSetting(const QString &key, const QString &value, const QString &who) = 0;

    virtual QFuture<Result<EngineStatus>> status() = 0;
    virtual QFuture<Result<QList<Finding>>> doctor() = 0;
    virtual QFuture<Result<Counts>> counts() = 0;

signals:
    void fed(const engine::FeedBatch &batch);
    // The engine came up (or failed to, with the reason); queries before it wait for it.
    void started();
    void failed(const engine::Error &error);
};

} // namespace engine
