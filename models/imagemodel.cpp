#include "models/imagemodel.h"

#include "models/displaytext.h"
#include "models/reply.h"

namespace models {

ImageModel::ImageModel(engine::EngineClient &client, QObject *parent) : MergingTable(parent), m_client(client) {}

void ImageModel::load()
{
    const int epoch = ++m_epoch;
    onReply(m_client.images(), this, [this, epoch](const engine::Result<QList<engine::AgentImage>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        merge(*result);
        emit loaded();
    });
}

QVariant ImageModel::text(const engine::AgentImage &image, int column) const
{
    switch (column) {
    case Tag:
        return image.tag.isEmpty() ? shortId(image.id) : image.tag;
    case Claude:
        return image.claudeVersion.isEmpty() ? QStringLiteral("–") : image.claudeVersion;
    case Codex:
        return image.codexVersion.isEmpty() ? QStringLiteral("–") : image.codexVersion;
    case Prepared:
        return image.prepared ? tr("Prepared") : tr("Foreign");
    case Size:
        return byteSize(image.bytes);
    case Age:
        return age(image.createdAt, QDateTime::currentDateTimeUtc());
    case UsedBy:
        return image.usedBy.isEmpty() ? tr("no agent") : image.usedBy.join(QStringLiteral(", "));
    default:
        return {};
    }
}

QVariant ImageModel::data(const QModelIndex &index, int role) const
{
    const engine::AgentImage *image = index.isValid() ? at(index.row()) : nullptr;
    if (!image)
        return {};
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(*image, column);
    case Qt::ToolTipRole:
        if (column == Prepared)
            return image->prepared ? tr("Made for Signalbox: sessions start in it at once.")
                                   : tr("Not made by Signalbox. It works as well; its first start is a little slower.");
        return column == Age ? QVariant(exactUtc(image->createdAt)) : column == Tag ? QVariant(image->id) : text(*image, column);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (column == Size ? Qt::AlignRight : Qt::AlignLeft));
    case KeyRole:
        return keyOf(*image);
    case SortRole:
        return column == Age ? QVariant(image->createdAt) : column == Size ? QVariant(image->bytes) : text(*image, column);
    case IconRole:
        return column == Tag ? QStringLiteral("image") : column == Prepared && image->prepared ? QStringLiteral("done") : QString();
    case ToneRole:
        if (column == Prepared && image->prepared)
            return int(Tone::Good);
        return column == UsedBy && image->usedBy.isEmpty() ? QVariant(int(Tone::Muted)) : QVariant();
    default:
        return {};
    }
}

QVariant ImageModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignVCenter | (section == Size ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    const QStringList names{tr("Image"), tr("Claude Code"), tr("Codex"), tr("Made"), tr("Size"), tr("Age"), tr("Used by")};
    return names.value(section);
}

} // namespace models
