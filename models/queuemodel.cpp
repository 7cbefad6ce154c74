#include "models/queuemodel.h"

#include "models/reply.h"
#include "models/visibletext.h"

#include <algorithm>

namespace models {
namespace {

constexpr int queueLimit = 2000;
constexpr int failedSessionsAsked = 20;
constexpr int lastRunsAsked = 1;

bool belongsToQueue(const engine::Run &run)
{
    return !engine::isTerminal(run.state) || run.state == engine::RunState::Error;
}

int rank(engine::RunState state)
{
    return state == engine::RunState::Error ? 0 : state == engine::RunState::Pending ? 2 : 1;
}

} // namespace

QueueModel::QueueModel(engine::EngineClient &client, QObject *parent) : QAbstractListModel(parent), m_client(client)
{
    connect(&m_client, &engine::EngineClient::fed, this, &QueueModel::apply);
}

void QueueModel::load()
{
    const int epoch = ++m_epoch;
    models::onReply(m_client.sessions({}), this, [this, epoch](const engine::Result<QList<engine::Session>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result)
            return void(emit failed(result.error()));
        int asked = 0;
        for (const engine::Session &session : *result) {
            mergeSession(session);
            const bool isFailedAndIdle = session.lastOutcome == engine::RunState::Error && session.activeRun.isEmpty();
            if (isFailedAndIdle && asked++ < failedSessionsAsked)
                askForFailed(session.id);
        }
        emit changed();
    });
    models::onReply(m_client.runs({}, queueLimit), this, [this, epoch](const engine::Result<QList<engine::Run>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result)
            return void(emit failed(result.error()));
        for (const engine::Run &run : *result)
            mergeRun(run);
        emit loaded();
        emit changed();
    });
}

void QueueModel::askForFailed(const engine::SessionId &id)
{
    models::onReply(m_client.runs(id, lastRunsAsked), this, [this](const engine::Result<QList<engine::Run>> &result) {
        if (!result)
            return void(emit failed(result.error()));
        for (const engine::Run &run : *result)
            mergeRun(run);
        emit changed();
    });
}

void QueueModel::apply(const engine::FeedBatch &batch)
{
    for (const engine::Session &session : batch.sessions)
        mergeSession(session);
    for (const engine::Run &run : batch.runs)
        mergeRun(run);
    for (const engine::SessionId &id : batch.removedSessions) {
        for (int row = int(m_rows.size()) - 1; row >= 0; --row) {
            if (m_rows.at(row).sessionId == id)
                remove(row);
        }
        m_sessions.remove(id);
        m_order.removeAll(id);
    }
    if (!batch.sessions.isEmpty() || !batch.runs.isEmpty() || !batch.removedSessions.isEmpty())
        emit changed();
}

void QueueModel::mergeSession(const engine::Session &session)
{
    m_sessions.insert(session.id, session);
    for (int row = 0; row < m_rows.size(); ++row) {
        if (m_rows.at(row).sessionId == session.id)
            emit dataChanged(index(row), index(row), {SessionTitleRole, AgentRole});
    }
}

bool QueueModel::before(const engine::Run &a, const engine::Run &b) const
{
    const qsizetype first = m_order.indexOf(a.sessionId);
    const qsizetype second = m_order.indexOf(b.sessionId);
    if (first != second)
        return first < second;
    if (rank(a.state) != rank(b.state))
        return rank(a.state) < rank(b.state);
    return a.sequence < b.sequence;
}

void QueueModel::mergeRun(const engine::Run &run)
{
    int row = rowOf(run.id);
    if (row >= 0 && !belongsToQueue(run)) {
        remove(row);
        return;
    }
    if (!belongsToQueue(run))
        return;
    if (!m_order.contains(run.sessionId))
        m_order.append(run.sessionId);
    if (row >= 0 && rank(m_rows.at(row).state) == rank(run.state) && m_rows.at(row).sequence == run.sequence) {
        if (m_rows.at(row) != run) {
            m_rows[row] = run;
            emit dataChanged(index(row), index(row));
        }
        return;
    }
    const auto less = [this](const engine::Run &a, const engine::Run &b) { return before(a, b); };
    if (row >= 0) {
        QList<engine::Run> others = m_rows;
        others.removeAt(row);
        const int to = int(std::upper_bound(others.begin(), others.end(), run, less) - others.begin());
        if (to != row) {
            beginMoveRows({}, row, row, {}, to > row ? to + 1 : to);
            m_rows.move(row, to);
            endMoveRows();
        }
        m_rows[to] = run;
        emit dataChanged(index(to), index(to));
        return;
    }
    const int to = int(std::upper_bound(m_rows.begin(), m_rows.end(), run, less) - m_rows.begin());
    beginInsertRows({}, to, to);
    m_rows.insert(to, run);
    endInsertRows();
}

void QueueModel::remove(int row)
{
    const engine::SessionId session = m_rows.at(row).sessionId;
    beginRemoveRows({}, row, row);
    m_rows.removeAt(row);
    endRemoveRows();
    const bool isLast =
        std::none_of(m_rows.begin(), m_rows.end(), [&](const engine::Run &run) { return run.sessionId == session; });
    if (isLast)
        m_order.removeAll(session);
}

int QueueModel::rowOf(const engine::RunId &id) const
{
    const auto found = std::find_if(m_rows.begin(), m_rows.end(), [&](const engine::Run &run) { return run.id == id; });
    return found == m_rows.end() ? -1 : int(found - m_rows.begin());
}

const engine::Run *QueueModel::at(int row) const
{
    return row >= 0 && row < m_rows.size() ? &m_rows.at(row) : nullptr;
}

QString QueueModel::sessionTitle(const engine::SessionId &id) const
{
    const QString title = m_sessions.value(id).title;
    return title.isEmpty() ? tr("Untitled session") : visibleLine(title);
}

QString QueueModel::agentName(const engine::SessionId &id) const
{
    return visibleLine(m_sessions.value(id).agentName);
}

QueueStats QueueModel::stats() const
{
    QueueStats stats;
    for (const engine::Run &run : m_rows) {
        stats.running += run.state == engine::RunState::Running;
        stats.paused += run.state == engine::RunState::Paused;
        if (run.state != engine::RunState::Pending)
            continue;
        ++stats.waiting;
        if (!stats.oldestWait.isValid() || run.createdAt < stats.oldestWait)
            stats.oldestWait = run.createdAt;
    }
    return stats;
}

int QueueModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant QueueModel::data(const QModelIndex &index, int role) const
{
    const engine::Run *run = at(index.row());
    if (!run || !index.isValid())
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return visibleLine(oneLine(run->prompt, 200));
    case Qt::AccessibleTextRole:
        return tr("%1, %2: %3").arg(sessionTitle(run->sessionId), look(run->state).word, visibleLine(oneLine(run->prompt, 200)));
    case IdRole:
        return run->id.value;
    case SessionIdRole:
        return run->sessionId.value;
    case SessionTitleRole:
        return sessionTitle(run->sessionId);
    case AgentRole:
        return agentName(run->sessionId);
    case StateRole:
        return int(run->state);
    case PositionRole:
        return run->position;
    case ReasonRole:
        return run->waitingFor;
    default:
        return {};
    }
}

} // namespace models
