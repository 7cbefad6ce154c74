#pragma once

#include "engine/engineclient.h"
#include "models/mergingtable.h"

namespace models {

// The computers of all sessions, one row each. Merged by session. GUI thread.
class ComputerListModel final : public MergingTable<engine::Computer>
{
    Q_OBJECT

public:
    enum Column { Session, Agent, Provider, State, Warm, Cpu, Memory, Age, Generation, Image, ColumnCount };

    explicit ComputerListModel(engine::EngineClient &client, QObject *parent = nullptr);

    // With `usage` also processor and memory; without, what is known of them stays. One question at a time: another one
    // while an answer is awaited is asked after it.
    void load(bool usage);
    // Moves ages and countdowns on.
    void tick();

    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void loaded();
    void failed(const engine::Error &error);

protected:
    QString keyOf(const engine::Computer &computer) const override { return computer.sessionId.value; }

private:
    void take(QList<engine::Computer> fresh, bool usage);
    QVariant text(const engine::Computer &computer, int column) const;
    QVariant sortValue(const engine::Computer &computer, int column) const;
    QVariant toolTip(const engine::Computer &computer, int column) const;

    engine::EngineClient &m_client;
    bool m_isAsking = false;
    bool m_asksAgain = false;
    bool m_usageAgain = false;
};

} // namespace models
