#pragma once

#include "engine/engineclient.h"

#include <QAbstractTableModel>

namespace models {

// Approvals of the inbox (pending, the shortest time first) or of history (newest first), merged by id so that
// selection and scroll survive. The filter goes to the query. GUI thread.
class ApprovalListModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Chosen, Age, Left, Agent, What, Session, ColumnCount };
    enum Role { IdRole = Qt::UserRole, IconRole, ToneRole, UrgentRole };
    enum class Mode { Pending, History };

    ApprovalListModel(engine::EngineClient &client, Mode mode, QObject *parent = nullptr);

    void load();
    void setFilter(const QString &text);
    bool isLoaded() const { return m_loaded; }
    int rowOf(const engine::ApprovalId &id) const;
    const engine::Approval *at(int row) const;
    const QList<engine::Approval> &rows() const { return m_rows; }
    // For a joint decision; only pending ones can be chosen.
    void setChosen(int row, bool chosen);
    bool isChosen(int row) const;
    QList<engine::Approval> chosen() const;
    void clearChosen();
    // Ages and countdowns are told anew.
    void tick();

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

signals:
    void loaded();
    void chosenChanged();
    void failed(const engine::Error &error);

private:
    void apply(const engine::FeedBatch &batch);
    void merge(const engine::Approval &approval);
    void remove(int row);
    bool belongs(const engine::Approval &approval) const;
    bool before(const engine::Approval &a, const engine::Approval &b) const;
    QVariant text(const engine::Approval &approval, int column) const;
    QVariant tip(const engine::Approval &approval, int column) const;

    engine::EngineClient &m_client;
    Mode m_mode;
    QString m_filter;
    QList<engine::Approval> m_rows;
    QSet<engine::ApprovalId> m_chosen;
    int m_epoch = 0;
    bool m_loaded = false;
};

} // namespace models
