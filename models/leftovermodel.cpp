#include "models/leftovermodel.h"

#include "models/displaytext.h"
#include "models/reply.h"

#include <algorithm>

namespace models {

LeftoverModel::LeftoverModel(engine::EngineClient &client, QObject *parent) : MergingTable(parent), m_client(client) {}

void LeftoverModel::load()
{
    const int epoch = ++m_epoch;
    onReply(m_client.leftovers(), this, [this, epoch](const engine::Result<QList<engine::Leftover>> &result) {
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

QString LeftoverModel::keyOf(const engine::Leftover &leftover) const
{
    return QString::number(int(leftover.kind)) + u'/' + leftover.id;
}

qint64 LeftoverModel::totalBytes() const
{
    qint64 total = 0;
    for (const engine::Leftover &leftover : m_rows)
        total += qMax<qint64>(0, leftover.bytes);
    return total;
}

int LeftoverModel::inUseCount() const
{
    return int(std::count_if(m_rows.begin(), m_rows.end(), [](const engine::Leftover &leftover) { return leftover.inUse; }));
}

QVariant LeftoverModel::text(const engine::Leftover &leftover, int column) const
{
    switch (column) {
    case Name:
        return leftover.name.isEmpty() ? leftover.id : leftover.name;
    case Kind:
        return leftoverWords(leftover.kind);
    case Owner:
        return leftover.sessionTitle.isEmpty() ? tr("the session is gone") : leftover.sessionTitle;
    case Use:
        return leftover.inUse ? tr("in use") : QString();
    case State:
        return leftover.state;
    case Generation:
        return leftover.generation;
    case Age:
        return age(leftover.madeAt, QDateTime::currentDateTimeUtc());
    case Size:
        return leftover.bytes < 0 ? QStringLiteral("–") : byteSize(leftover.bytes);
    default:
        return {};
    }
}

QVariant LeftoverModel::data(const QModelIndex &index, int role) const
{
    const engine::Leftover *leftover = index.isValid() ? at(index.row()) : nullptr;
    if (!leftover)
        return {};
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(*leftover, column);
    case Qt::ToolTipRole:
        return column == Age    ? QVariant(exactUtc(leftover->madeAt))
               : column == Name ? QVariant(leftover->id)
                                : text(*leftover, column);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (column == Generation || column == Size ? Qt::AlignRight : Qt::AlignLeft));
    case KeyRole:
        return keyOf(*leftover);
    case SortRole:
        return column == Age ? QVariant(leftover->madeAt) : column == Size ? QVariant(leftover->bytes) : text(*leftover, column);
    case IconRole:
        return column == Name ? leftoverIcon(leftover->kind) : column == Use && leftover->inUse ? QStringLiteral("play") : QString();
    case ToneRole:
        if (column == Use && leftover->inUse)
            return int(Tone::Good);
        return column == Owner && leftover->sessionTitle.isEmpty() ? QVariant(int(Tone::Muted)) : QVariant();
    default:
        return {};
    }
}

QVariant LeftoverModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignVCenter | (section == Generation || section == Size ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    const QStringList names{tr("Name"), tr("Kind"), tr("Owner"), tr("Use"), tr("State"), tr("Gen."), tr("Age"), tr("Size")};
    return names.value(section);
}

} // namespace models
