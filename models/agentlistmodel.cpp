#include "models/agentlistmodel.h"

#include "models/reply.h"
#include "models/displaytext.h"

#include <algorithm>

namespace models {

AgentListModel::AgentListModel(engine::EngineClient &client, QObject *parent) : QAbstractListModel(parent), m_client(client)
{
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        for (const engine::Agent &agent : batch.agents)
            merge(agent);
    });
}

void AgentListModel::load()
{
    const int epoch = ++m_epoch;
    models::onReply(m_client.agents(), this, [this, epoch](const engine::Result<QList<engine::Agent>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        for (const engine::Agent &agent : *result)
            merge(agent);
        emit loaded();
    });
}

void AgentListModel::setShowArchived(bool show)
{
    if (m_showArchived == show)
        return;
    m_showArchived = show;
    const QList<engine::Agent> all = m_all;
    for (const engine::Agent &agent : all)
        merge(agent);
}

void AgentListModel::merge(const engine::Agent &agent)
{
    const auto sameId = [&](const engine::Agent &other) { return other.id == agent.id; };
    const auto known = std::find_if(m_all.begin(), m_all.end(), sameId);
    if (known == m_all.end())
        m_all.append(agent);
    else
        *known = agent;
    const int row = rowOf(agent.id);
    const bool belongs = m_showArchived || !agent.archived;
    const bool stays = row >= 0 && belongs && m_rows.at(row).name == agent.name;
    if (stays) {
        if (m_rows.at(row) == agent)
            return;
        m_rows[row] = agent;
        emit dataChanged(index(row), index(row));
        return;
    }
    const auto byName = [](const engine::Agent &a, const engine::Agent &b) {
        const int order = QString::localeAwareCompare(a.name, b.name);
        return order != 0 ? order < 0 : a.id < b.id;
    };
    if (row >= 0 && belongs) { // renamed: moved, so that the selection stays on it
        QList<engine::Agent> others = m_rows;
        others.removeAt(row);
        const int to = int(std::upper_bound(others.begin(), others.end(), agent, byName) - others.begin());
        if (to != row) {
            beginMoveRows({}, row, row, {}, to > row ? to + 1 : to);
            m_rows.move(row, to);
            endMoveRows();
        }
        m_rows[to] = agent;
        emit dataChanged(index(to), index(to));
    } else if (row >= 0) {
        beginRemoveRows({}, row, row);
        m_rows.removeAt(row);
        endRemoveRows();
    } else if (belongs) {
        const int to = int(std::upper_bound(m_rows.begin(), m_rows.end(), agent, byName) - m_rows.begin());
        beginInsertRows({}, to, to);
        m_rows.insert(to, agent);
        endInsertRows();
    }
}

int AgentListModel::rowOf(const engine::AgentId &id) const
{
    const auto found = std::find_if(m_rows.begin(), m_rows.end(), [&](const engine::Agent &agent) { return agent.id == id; });
    return found == m_rows.end() ? -1 : int(found - m_rows.begin());
}

const engine::Agent *AgentListModel::at(int row) const
{
    return row >= 0 && row < m_rows.size() ? &m_rows.at(row) : nullptr;
}

int AgentListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant AgentListModel::data(const QModelIndex &index, int role) const
{
    const engine::Agent *agent = at(index.row());
    if (!agent || !index.isValid())
        return {};
    const bool isReplay = agent->harness == engine::HarnessKind::Replay;
    switch (role) {
    case Qt::DisplayRole:
        return agent->archived ? tr("%1 (archived)").arg(agent->name) : agent->name;
    case Qt::ToolTipRole:
    case DetailRole:
        return isReplay ? harnessWords(agent->harness)
                        : QString(harnessWords(agent->harness) + QStringLiteral(" · ") + agentMode(*agent));
    case IdRole:
        return agent->id.value;
    case IconRole:
        return isReplay ? QStringLiteral("play") : QStringLiteral("agents");
    default:
        return {};
    }
}

} // namespace models
