#include "models/sessionlistmodel.h"

#include "models/reply.h"
namespace models {

engine::SessionGroup sessionGroup(const engine::Session &session)
{
    const bool active = !session.activeRun.isEmpty();
    if (session.pendingApprovals > 0 || (active && session.activeState == engine::RunState::Paused))
        return engine::SessionGroup::NeedsYou;
    if (active)
        return engine::SessionGroup::Running;
    return session.queued > 0 ? engine::SessionGroup::Queued : engine::SessionGroup::Idle;
}

SessionListModel::SessionListModel(engine::EngineClient &client, QObject *parent)
    : QAbstractListModel(parent), m_client(client)
{
    connect(&m_client, &engine::EngineClient::fed, this, &SessionListModel::apply);
}

void SessionListModel::load()
{
    ++m_epoch;
    ask(0);
}

void SessionListModel::setFilter(const QString &text)
{
    if (text == m_filter)
        return;
    m_filter = text;
    load();
}

void SessionListModel::setAgent(const engine::AgentId &agent)
{
    if (agent == m_agent)
        return;
    m_agent = agent;
    load();
}

void SessionListModel::ask(int offset)
{
    m_asking = true;
    engine::SessionQuery query;
    query.text = m_filter;
    query.agentId = m_agent;
    query.limit = pageSize;
    query.offset = offset;
    const int epoch = m_epoch;
    models::onReply(m_client.sessions(query), this, [this, epoch, offset](const engine::Result<QList<engine::Session>> &result) {
        if (epoch != m_epoch)
            return;
        m_asking = false;
        if (result)
            receive(offset, *result);
        else
            emit failed(result.error());
    });
}

void SessionListModel::receive(int offset, const QList<engine::Session> &sessions)
{
    m_asked = offset + int(sessions.size());
    m_more = sessions.size() == pageSize;
    if (offset == 0) {
        // What the new question does not answer with goes; what stays keeps its row and selection.
        QSet<engine::SessionId> kept;
        for (const engine::Session &session : sessions)
            kept.insert(session.id);
        for (const QList<engine::Session> &group : std::as_const(m_sessions)) {
            const QList<engine::Session> copy = group;
            for (const engine::Session &session : copy) {
                if (!kept.contains(session.id))
                    remove(session.id);
            }
        }
    }
    for (const engine::Session &session : sessions)
        merge(session, false);
    m_loaded = true;
    emit loaded();
}

void SessionListModel::apply(const engine::FeedBatch &batch)
{
    if (!m_loaded)
        return;
    for (const engine::SessionId &id : batch.removedSessions)
        remove(id);
    for (const engine::Session &session : batch.sessions)
        merge(session, true);
}

bool SessionListModel::matches(const engine::Session &session) const
{
    if (!m_agent.isEmpty() && session.agentId != m_agent)
        return false;
    return m_filter.isEmpty() || session.title.contains(m_filter, Qt::CaseInsensitive) ||
           session.agentName.contains(m_filter, Qt::CaseInsensitive);
}

void SessionListModel::merge(const engine::Session &session, bool onTop)
{
    const Place place = find(session.id);
    if (place.group < 0) {
        if (matches(session))
            insert(session, onTop);
        return;
    }
    if (!matches(session)) {
        remove(session.id);
        return;
    }
    engine::Session &stored = m_sessions[size_t(place.group)][place.index];
    const int group = int(sessionGroup(session));
    if (group == place.group) {
        if (stored == session)
            return;
        stored = session;
        emit dataChanged(index(rowOf(place)), index(rowOf(place)));
        return;
    }
    showHeading(group);
    const int from = rowOf(place);
    const int to = headingRow(group) + 1;
    beginMoveRows({}, from, from, {}, to);
    m_sessions[size_t(place.group)].removeAt(place.index);
    m_sessions[size_t(group)].prepend(session);
    endMoveRows();
    hideHeadingIfEmpty(place.group);
    const QModelIndex moved = indexOf(session.id);
    emit dataChanged(moved, moved);
    for (const int touched : {group, place.group}) {
        if (m_heading[size_t(touched)])
            emit dataChanged(index(headingRow(touched)), index(headingRow(touched)));
    }
}

void SessionListModel::insert(const engine::Session &session, bool onTop)
{
    const int group = int(sessionGroup(session));
    showHeading(group);
    QList<engine::Session> &list = m_sessions[size_t(group)];
    const int at = onTop ? 0 : int(list.size());
    const int row = headingRow(group) + 1 + at;
    beginInsertRows({}, row, row);
    list.insert(at, session);
    endInsertRows();
    emit dataChanged(index(headingRow(group)), index(headingRow(group)));
}

void SessionListModel::remove(const engine::SessionId &id)
{
    const Place place = find(id);
    if (place.group < 0)
        return;
    const int row = rowOf(place);
    beginRemoveRows({}, row, row);
    m_sessions[size_t(place.group)].removeAt(place.index);
    endRemoveRows();
    hideHeadingIfEmpty(place.group);
    if (m_heading[size_t(place.group)])
        emit dataChanged(index(headingRow(place.group)), index(headingRow(place.group)));
}

void SessionListModel::showHeading(int group)
{
    if (m_heading[size_t(group)])
        return;
    const int row = headingRow(group);
    beginInsertRows({}, row, row);
    m_heading[size_t(group)] = true;
    endInsertRows();
}

void SessionListModel::hideHeadingIfEmpty(int group)
{
    if (!m_heading[size_t(group)] || !m_sessions[size_t(group)].isEmpty())
        return;
    const int row = headingRow(group);
    beginRemoveRows({}, row, row);
    m_heading[size_t(group)] = false;
    endRemoveRows();
}

int SessionListModel::headingRow(int group) const
{
    int row = 0;
    for (int g = 0; g < group; ++g)
        row += (m_heading[size_t(g)] ? 1 : 0) + int(m_sessions[size_t(g)].size());
    return row;
}

SessionListModel::Place SessionListModel::find(const engine::SessionId &id) const
{
    for (int g = 0; g < groups; ++g) {
        const QList<engine::Session> &list = m_sessions[size_t(g)];
        for (int i = 0; i < list.size(); ++i) {
            if (list.at(i).id == id)
                return {g, i};
        }
    }
    return {};
}

SessionListModel::Place SessionListModel::placeOf(int row) const
{
    for (int g = 0; g < groups; ++g) {
        if (!m_heading[size_t(g)])
            continue;
        if (row == 0)
            return {g, -1};
        if (row <= m_sessions[size_t(g)].size())
            return {g, row - 1};
        row -= 1 + int(m_sessions[size_t(g)].size());
    }
    return {};
}

int SessionListModel::sessionCount() const
{
    qsizetype count = 0;
    for (const QList<engine::Session> &list : m_sessions)
        count += list.size();
    return int(count);
}

QModelIndex SessionListModel::indexOf(const engine::SessionId &id) const
{
    const Place place = find(id);
    return place.group < 0 ? QModelIndex() : index(rowOf(place));
}

const engine::Session *SessionListModel::sessionAt(const QModelIndex &index) const
{
    if (!index.isValid())
        return nullptr;
    const Place place = placeOf(index.row());
    return place.index < 0 ? nullptr : &m_sessions[size_t(place.group)].at(place.index);
}

engine::SessionId SessionListModel::idAt(const QModelIndex &index) const
{
    const engine::Session *session = sessionAt(index);
    return session ? session->id : engine::SessionId();
}

int SessionListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : headingRow(groups);
}

Qt::ItemFlags SessionListModel::flags(const QModelIndex &index) const
{
    if (!index.isValid())
        return Qt::NoItemFlags;
    return sessionAt(index) ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren
                            : Qt::ItemNeverHasChildren;
}

bool SessionListModel::canFetchMore(const QModelIndex &parent) const
{
    return !parent.isValid() && m_more && !m_asking;
}

void SessionListModel::fetchMore(const QModelIndex &parent)
{
    if (canFetchMore(parent))
        ask(m_asked);
}

QVariant SessionListModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Place place = placeOf(index.row());
    if (place.index >= 0)
        return sessionData(m_sessions[size_t(place.group)].at(place.index), role);
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: {
        const std::array<QString, groups> words = {tr("Needs you"), tr("Running"), tr("Queued"), tr("Idle")};
        return words[size_t(place.group)];
    }
    case HeadingRole:
        return true;
    case GroupRole:
        return place.group;
    case CountRole:
        return int(m_sessions[size_t(place.group)].size());
    default:
        return {};
    }
}

QVariant SessionListModel::sessionData(const engine::Session &session, int role) const
{
    const bool active = !session.activeRun.isEmpty();
    const engine::RunState state = active               ? session.activeState
                                   : session.queued > 0 ? engine::RunState::Pending
                                                        : session.lastOutcome;
    switch (role) {
    case Qt::DisplayRole:
        return session.title.isEmpty() ? tr("New session") : session.title;
    case Qt::ToolTipRole:
        return QString(session.title + u"\n" + session.workspace);
    case IdRole:
        return session.id.value;
    case HeadingRole:
        return false;
    case GroupRole:
        return int(sessionGroup(session));
    case AgentRole:
        return session.agentName;
    case StateRole:
        return int(state);
    case ActiveRole:
        return active;
    case QueuedRole:
        return session.queued;
    case ApprovalsRole:
        return session.pendingApprovals;
    case WarmRole:
        return session.warm;
    case UpdatedRole:
        return session.updatedAt;
    case BlocksRole:
        return session.blocks;
    default:
        return {};
    }
}

} // namespace models
