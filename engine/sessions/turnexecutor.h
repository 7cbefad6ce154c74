#pragma once

#include "engine/sessions/sessionhost.h"

namespace engine {

// Carries one claimed run from "ready the harness" to its settled row. One coroutine per run. Engine thread.
class TurnExecutor final : public QObject
{
    Q_OBJECT

public:
    TurnExecutor(SessionParts parts, SessionHost &host);

    QCoro::Task<> execute(Run run);    // freshly claimed
    QCoro::Task<> follow(Run run);     // its turn goes on in an adopted process
    QCoro::Task<> resumeLost(Run run); // continued after its native process was lost
    // Cancel of a run that is RUNNING or PAUSED: stored first, then the harness is interrupted.
    Result<Run> cancel(const Run &run, const QString &who);

signals:
    void settled(const engine::Run &run);

private:
    QCoro::Task<> await(Run run, QFuture<TurnOutcome> future);
    QCoro::Task<> settle(Run run, TurnOutcome outcome);
    QCoro::Task<> settleEnded(Run run, TurnEnded ended);
    QCoro::Task<> storeIdentity(SessionId id);
    void settleError(const Run &run, const Error &error);
    void step(const Run &run, const QString &name);
    void watch(LiveSession &live, const Run &run, QObject *context);
    bool moveTo(const Run &run, RunState to, RunPatch patch);
    bool retryLater(const Run &run, const Error &error);

    SessionParts m_parts;
    SessionHost &m_host;
    // Moments inside a turn; stored with its outcome, since each commit of its own would delay the first text.
    QHash<RunId, QList<RunStep>> m_steps;
};

} // namespace engine
