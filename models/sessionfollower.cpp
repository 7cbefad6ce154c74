#include "models/sessionfollower.h"

#include "models/reply.h"
#include <algorithm>

namespace models {

SessionFollower::SessionFollower(engine::EngineClient &client, QObject *parent) : QObject(parent), m_client(client)
{
    connect(&m_client, &engine::EngineClient::fed, this, &SessionFollower::apply);
}

void SessionFollower::follow(const engine::SessionId &id)
{
    const int epoch = ++m_epoch;
    m_id = id;
    m_session = {};
    m_runs.clear();
    m_approvals.clear();
    emit sessionChanged();
    emit runsChanged();
    emit approvalsChanged();
    if (id.isEmpty())
        return;
    models::onReply(m_client.session(id), this, [this, epoch](const engine::Result<engine::Session> &result) {
        if (epoch != m_epoch)
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        // The feed may have been quicker.
        if (m_session.id.isEmpty()) {
            m_session = *result;
            emit sessionChanged();
        }
    });
    models::onReply(m_client.runs(id, runLimit), this, [this, epoch](const engine::Result<QList<engine::Run>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        const QList<engine::Run> fed = m_runs;
        m_runs = *result;
        for (const engine::Run &run : fed)
            mergeRun(run);
        emit runsChanged();
    });
    engine::ApprovalQuery query;
    query.pendingOnly = false;
    query.sessionId = id;
    models::onReply(m_client.approvals(query), this, [this, epoch](const engine::Result<QList<engine::Approval>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        for (const engine::Approval &approval : *result) {
            if (!m_approvals.contains(approval.id))
                m_approvals.insert(approval.id, approval);
        }
        emit approvalsChanged();
    });
}

void SessionFollower::apply(const engine::FeedBatch &batch)
{
    if (m_id.isEmpty())
        return;
    if (batch.removedSessions.contains(m_id)) {
        emit removed();
        return;
    }
    bool session = false, runs = false, approvals = false;
    for (const engine::Session &fed : batch.sessions) {
        if (fed.id == m_id && m_session != fed) {
            m_session = fed;
            session = true;
        }
    }
    for (const engine::Run &run : batch.runs)
        runs |= run.sessionId == m_id && mergeRun(run);
    for (const engine::Approval &approval : batch.approvals) {
        if (approval.sessionId == m_id) {
            m_approvals.insert(approval.id, approval);
            approvals = true;
        }
    }
    if (session)
        emit sessionChanged();
    if (runs)
        emit runsChanged();
    if (approvals)
        emit approvalsChanged();
}

bool SessionFollower::mergeRun(const engine::Run &run)
{
    for (engine::Run &known : m_runs) {
        if (known.id != run.id)
            continue;
        if (known == run)
            return false;
        const bool moved = known.sequence != run.sequence;
        known = run;
        if (moved)
            std::ranges::stable_sort(m_runs, {}, &engine::Run::sequence);
        return true;
    }
    const auto at = std::ranges::upper_bound(m_runs, run.sequence, {}, &engine::Run::sequence);
    m_runs.insert(at, run);
    if (m_runs.size() > 2 * runLimit)
        m_runs.removeIf([oldest = m_runs.at(runLimit).sequence](const engine::Run &old) {
            return old.sequence < oldest && engine::isTerminal(old.state);
        });
    return true;
}

QList<engine::Run> SessionFollower::waiting() const
{
    QList<engine::Run> waiting;
    std::ranges::copy_if(m_runs, std::back_inserter(waiting),
                         [](const engine::Run &run) { return run.state == engine::RunState::Pending; });
    return waiting;
}

const engine::Run *SessionFollower::activeRun() const
{
    const auto found = std::ranges::find_if(m_runs, [](const engine::Run &run) {
        return run.state == engine::RunState::Running || run.state == engine::RunState::Paused;
    });
    return found == m_runs.end() ? nullptr : &*found;
}

const engine::Run *SessionFollower::run(const engine::RunId &id) const
{
    const auto found = std::ranges::find(m_runs, id, &engine::Run::id);
    return found == m_runs.end() ? nullptr : &*found;
}

int SessionFollower::ahead() const
{
    return int(std::ranges::count_if(m_runs, [](const engine::Run &run) { return !engine::isTerminal(run.state); }));
}

QList<engine::Approval> SessionFollower::pendingApprovals() const
{
    QList<engine::Approval> pending;
    for (const engine::Approval &approval : m_approvals) {
        if (approval.state == engine::ApprovalState::Pending)
            pending.append(approval);
    }
    std::ranges::sort(pending, {}, &engine::Approval::requestedAt);
    return pending;
}

} // namespace models
