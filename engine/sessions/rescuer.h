#pragma once

#include "engine/sessions/turnexecutor.h"

namespace engine {

// At start, before the queue opens: every run that an engine before this one left RUNNING or PAUSED is adopted with
// its living process, or settled. Engine thread.
class Rescuer final : public QObject
{
    Q_OBJECT

public:
    Rescuer(SessionParts parts, SessionHost &host, TurnExecutor &executor, ApprovalDesk &desk,
            QList<sandbox::Provider *> providers, QString owner);

    // Answers when no row of a dead engine is left unsettled.
    QCoro::Task<Result<void>> rescue();

private:
    QCoro::Task<> rescueRun(Run run);
    QCoro::Task<> rescueIdle(sandbox::Provider *provider);
    void retryLater(const Run &run);
    QCoro::Task<> rescueAgain(Run run);
    void settleLost(const Run &run, const Error &error);

    SessionParts m_parts;
    SessionHost &m_host;
    QList<sandbox::Provider *> m_providers;
    TurnExecutor &m_executor;
    ApprovalDesk &m_desk;
    QString m_owner;
};

} // namespace engine
