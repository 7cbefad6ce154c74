#pragma once

#include "engine/engineclient.h"
#include "models/mergingtable.h"

namespace models {

// The images that agents can run in. Merged by id and tag. GUI thread.
class ImageModel final : public MergingTable<engine::AgentImage>
{
    Q_OBJECT

public:
    enum Column { Tag, Claude, Codex, Prepared, Size, Age, UsedBy, ColumnCount };

    explicit ImageModel(engine::EngineClient &client, QObject *parent = nullptr);

    void load();
    void tick() { touch(Age); }

    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void loaded();
    void failed(const engine::Error &error);

protected:
    QString keyOf(const engine::AgentImage &image) const override { return image.id + u'/' + image.tag; }

private:
    QVariant text(const engine::AgentImage &image, int column) const;

    engine::EngineClient &m_client;
    int m_epoch = 0;
};

} // namespace models
