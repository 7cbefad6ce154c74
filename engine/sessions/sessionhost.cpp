#include "engine/sessions/sessionhost.h"

#include <QCoroFuture>

namespace engine {

SessionHost::SessionHost(SessionParts parts, ApprovalDesk &desk) : m_parts(std::move(parts)), m_desk(desk)
{
    connect(&m_desk, &ApprovalDesk::deliverable, this, [this](const RunId &run) {
        if (!deliver(run))
            emit resumeNeeded(run);
    });
}

void SessionHost::runSettled(const SessionId &id)
{
    LiveSession *live = find(id);
    if (live && live->state() == LiveSession::State::Ready)
        idle(*live);
}

SessionHost::~SessionHost() = default;

LiveSession &SessionHost::session(const SessionId &id)
{
    std::unique_ptr<LiveSession> &slot = m_sessions[id.value.toStdString()];
    if (!slot) {
        slot = std::make_unique<LiveSession>(m_parts, id);
        connectSession(*slot);
    }
    return *slot;
}

LiveSession *SessionHost::find(const SessionId &id)
{
    const auto found = m_sessions.find(id.value.toStdString());
    return found == m_sessions.end() ? nullptr : found->second.get();
}

bool SessionHost::isWarm(const SessionId &id) const
{
    const auto found = m_sessions.find(id.value.toStdString());
    return found != m_sessions.end() && found->second->isWarm();
}

QCoro::Task<> SessionHost::forget(SessionId id)
{
    const RunningTask task(m_parts.tasks);
    LiveSession *live = find(id);
    if (!live)
        co_return;
    do {
        while (live->isPreparing()) {
            const QFuture<Result<void>> prepared = live->ready();
            co_await prepared;
        }
        co_await live->end();
    } while (live->isPreparing());
    const auto found = m_sessions.find(id.value.toStdString());
    if (found != m_sessions.end()) {
        found->second.release()->deleteLater();
        m_sessions.erase(found);
    }
}

void SessionHost::connectSession(LiveSession &live)
{
    LiveSession *session = &live;
    connect(session, &LiveSession::permissionRequested, this,
            [this, session](const PermissionRequested &asked) { pause(*session, asked); });
    connect(session, &LiveSession::permissionWithdrawn, this, [this, session](const QString &nativeRequestId) {
        if (!session->recorder().run().isEmpty())
            m_desk.withdraw(session->recorder(), session->recorder().run(), nativeRequestId);
    });
    connect(session, &LiveSession::decisionWritten, this, [this](const ApprovalId &id) { m_desk.written(id); });
    connect(session, &LiveSession::toolEnded, this, [this, session](const ToolEnded &tool) {
        if (!session->recorder().run().isEmpty())
            m_desk.toolEnded(session->recorder().run(), tool);
    });
    connect(session, &LiveSession::nativeLost, this,
            [this, session] { m_desk.markNativeLost(session->recorder(), session->recorder().run()); });
    connect(session, &LiveSession::reconnected, this, [this, session] {
        const RunId id = session->recorder().run();
        const Result<Run> run = id.isEmpty() ? Result<Run>(fail(ErrorCode::NotFound, {})) : m_parts.stores.runs.get(id);
        if (run && run->state == RunState::Running && !deliver(id))
            emit resumeNeeded(id);
    });
    connect(session, &LiveSession::stateChanged, this, [this, session] {
        m_parts.feed.noteComputers();
        if (session->state() == LiveSession::State::Ready)
            idle(*session);
    });
}

void SessionHost::pause(LiveSession &live, const PermissionRequested &asked)
{
    const Result<Run> run = m_parts.stores.runs.get(live.recorder().run());
    const Result<Session> session = m_parts.stores.sessions.get(live.id());
    Result<Agent> agent = session ? m_parts.stores.agents.get(session->agentId) : fail(ErrorCode::NotFound, {});
    Result<Approval> approval =
        !run       ? tl::unexpected<Error>(run.error())
        : !session ? tl::unexpected<Error>(session.error())
        : !agent   ? tl::unexpected<Error>(agent.error())
        : live.recorder().redactor().finds(asked.raw)
            ? Result<Approval>(fail(ErrorCode::Conflict, tr("Its arguments hold the model's key, which is neither stored nor "
                                                            "shown.")))
        : isTerminal(run->state)
            ? Result<Approval>(fail(ErrorCode::Conflict, tr("The run was %1 already.").arg(toString(run->state))))
            : m_desk.request(live.recorder(), *run, *session, *agent, asked);
    if (!approval) {
        // No unseen request is left waiting: what could not be stored is denied, and the turn ends as a failure.
        live.denyUnstored(asked.requestId, approval.error());
        return;
    }
    if (approval->state != ApprovalState::Pending)
        live.deliver(*approval);
}

bool SessionHost::deliver(const RunId &run)
{
    const Result<QList<Approval>> approvals = m_parts.stores.approvals.byRun(run);
    if (!approvals) {
        m_parts.clock.callAt(m_parts.clock.now().addMSecs(500), this, [this, run] {
            if (!deliver(run))
                emit resumeNeeded(run);
        });
        return true;
    }
    bool all = true;
    for (const Approval &approval : *approvals) {
        if (approval.nativeLost) {
            all = false;
            continue;
        }
        if (approval.delivery != Delivery::NotDelivered)
            continue;
        LiveSession *live = find(approval.sessionId);
        if (live && live->deliver(approval))
            continue;
        // In a turn that goes on, a request that is not open any more was withdrawn: there is nothing to resume.
        all = all && live && live->state() == LiveSession::State::Turn;
    }
    return all;
}

void SessionHost::idle(LiveSession &live)
{
    const Result<Session> session = m_parts.stores.sessions.get(live.id());
    if (!session)
        return;
    const Result<Agent> agent = m_parts.stores.agents.get(session->agentId);
    if (!agent)
        return;
    const QDateTime since = live.idleSince();
    m_parts.clock.callAt(since.addSecs(agent->warmSeconds), this, [this, id = live.id(), since] { endWhenIdle(id, since); });
}

QCoro::Task<> SessionHost::endWhenIdle(SessionId id, QDateTime since)
{
    const RunningTask task(m_parts.tasks);
    LiveSession *live = find(id);
    if (!live || live->state() != LiveSession::State::Ready || live->idleSince() != since)
        co_return;
    const Result<Session> session = m_parts.stores.sessions.get(id);
    if (!session || !session->activeRun.isEmpty())
        co_return; // looked at again when that run has settled
    co_await live->end();
}

void SessionHost::detachAll()
{
    for (const auto &[id, live] : m_sessions)
        live->detach();
}

} // namespace engine
