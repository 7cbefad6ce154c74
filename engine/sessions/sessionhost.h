#pragma once

#include "engine/approvals/approvaldesk.h"
#include "engine/sessions/livesession.h"

#include <memory>
#include <unordered_map>

namespace engine {

// All live sessions of this engine: finds them, carries decisions to them, ends idle ones. Engine thread.
class SessionHost final : public QObject
{
    Q_OBJECT

public:
    SessionHost(SessionParts parts, ApprovalDesk &desk);
    ~SessionHost() override;

    // Made on demand; lives until the engine ends or forget().
    LiveSession &session(const SessionId &id);
    LiveSession *find(const SessionId &id);
    bool isWarm(const SessionId &id) const;
    // Ends the process (if any) and drops the session.
    QCoro::Task<> forget(SessionId id);
    // Every decided, not delivered decision of the run. False: at least one found no open request.
    bool deliver(const RunId &run);
    void detachAll();
    // The session's run is over: its process may be idle now.
    void runSettled(const SessionId &id);

signals:
    // Continue was pressed, yet the process that asked is gone: the run must be resumed natively.
    void resumeNeeded(const engine::RunId &run);

private:
    void connectSession(LiveSession &live);
    void pause(LiveSession &live, const PermissionRequested &asked);
    void idle(LiveSession &live);
    QCoro::Task<> endWhenIdle(SessionId id, QDateTime since);

    SessionParts m_parts;
    ApprovalDesk &m_desk;
    std::unordered_map<std::string, std::unique_ptr<LiveSession>> m_sessions;
};

} // namespace engine
