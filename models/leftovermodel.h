#pragma once

#include "engine/engineclient.h"
#include "models/mergingtable.h"

namespace models {

// Everything of ours in the container engine and the runtime folder. Merged by kind and id. GUI thread.
class LeftoverModel final : public MergingTable<engine::Leftover>
{
    Q_OBJECT

public:
    enum Column { Name, Kind, Owner, Use, State, Generation, Age, Size, ColumnCount };

    explicit LeftoverModel(engine::EngineClient &client, QObject *parent = nullptr);

    void load();
    void tick() { touch(Age); }
    // Of those whose size is known.
    qint64 totalBytes() const;
    int inUseCount() const;

    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void loaded();
    void failed(const engine::Error &error);

protected:
    QString keyOf(const engine::Leftover &leftover) const override;

private:
    QVariant text(const engine::Leftover &leftover, int column) const;

    engine::EngineClient &m_client;
    int m_epoch = 0;
};

} // namespace models
