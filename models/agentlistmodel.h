#pragma once

#include "engine/engineclient.h"

#include <QAbstractListModel>

namespace models {

// Agents by name; archived ones only when asked for. Merged by id. GUI thread.
class AgentListModel final : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { IdRole = Qt::UserRole, DetailRole, IconRole };

    explicit AgentListModel(engine::EngineClient &client, QObject *parent = nullptr);

    void load();
    void setShowArchived(bool show);
    int rowOf(const engine::AgentId &id) const;
    const engine::Agent *at(int row) const;
    const QList<engine::Agent> &rows() const { return m_rows; }

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;

signals:
    void loaded();
    void failed(const engine::Error &error);

private:
    void merge(const engine::Agent &agent);

    engine::EngineClient &m_client;
    QList<engine::Agent> m_all;
    QList<engine::Agent> m_rows;
    bool m_showArchived = false;
    int m_epoch = 0;
};

} // namespace models
