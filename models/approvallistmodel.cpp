#include "models/approvallistmodel.h"

#include "models/reply.h"
#include "models/displaytext.h"
#include "models/visibletext.h"

#include <algorithm>

namespace models {

ApprovalListModel::ApprovalListModel(engine::EngineClient &client, Mode mode, QObject *parent)
    : QAbstractTableModel(parent), m_client(client), m_mode(mode)
{
    connect(&m_client, &engine::EngineClient::fed, this, &ApprovalListModel::apply);
}

void ApprovalListModel::load()
{
    engine::ApprovalQuery query;
    query.pendingOnly = m_mode == Mode::Pending;
    query.text = m_filter;
    const int epoch = ++m_epoch;
    models::onReply(m_client.approvals(query), this, [this, epoch](const engine::Result<QList<engine::Approval>> &result) {
        if (epoch != m_epoch)
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        QSet<engine::ApprovalId> kept;
        for (const engine::Approval &approval : *result)
            kept.insert(approval.id);
        for (int row = int(m_rows.size()) - 1; row >= 0; --row) {
            if (!kept.contains(m_rows.at(row).id))
                remove(row);
        }
        for (const engine::Approval &approval : *result)
            merge(approval);
        m_loaded = true;
        emit loaded();
    });
}

void ApprovalListModel::setFilter(const QString &text)
{
    if (text == m_filter)
        return;
    m_filter = text;
    load();
}

void ApprovalListModel::apply(const engine::FeedBatch &batch)
{
    for (const engine::Approval &approval : batch.approvals)
        merge(approval);
    for (const engine::SessionId &id : batch.removedSessions) {
        for (int row = int(m_rows.size()) - 1; row >= 0; --row) {
            if (m_rows.at(row).sessionId == id)
                remove(row);
        }
    }
}

bool ApprovalListModel::belongs(const engine::Approval &approval) const
{
    if ((m_mode == Mode::Pending) != (approval.state == engine::ApprovalState::Pending))
        return false;
    for (const QString &text : {approval.title, approval.toolName, approval.agentName, approval.sessionTitle}) {
        if (text.contains(m_filter, Qt::CaseInsensitive))
            return true;
    }
    return false;
}

bool ApprovalListModel::before(const engine::Approval &a, const engine::Approval &b) const
{
    const QDateTime first = m_mode == Mode::Pending ? a.requestedAt : b.decidedAt;
    const QDateTime second = m_mode == Mode::Pending ? b.requestedAt : a.decidedAt;
    return first != second ? first < second : a.id < b.id;
}

void ApprovalListModel::merge(const engine::Approval &approval)
{
    const int row = rowOf(approval.id);
    if (row < 0) {
        if (!belongs(approval))
            return;
        const auto place = std::upper_bound(m_rows.begin(), m_rows.end(), approval,
                                            [this](const auto &a, const auto &b) { return before(a, b); });
        const int to = int(place - m_rows.begin());
        beginInsertRows({}, to, to);
        m_rows.insert(to, approval);
        endInsertRows();
        return;
    }
    if (!belongs(approval)) {
        remove(row);
        return;
    }
    if (m_rows.at(row) == approval)
        return;
    m_rows[row] = approval;
    emit dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

void ApprovalListModel::remove(int row)
{
    beginRemoveRows({}, row, row);
    const bool wasChosen = m_chosen.remove(m_rows.takeAt(row).id);
    endRemoveRows();
    if (wasChosen)
        emit chosenChanged();
}

int ApprovalListModel::rowOf(const engine::ApprovalId &id) const
{
    const auto found =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const engine::Approval &approval) { return approval.id == id; });
    return found == m_rows.end() ? -1 : int(found - m_rows.begin());
}

const engine::Approval *ApprovalListModel::at(int row) const
{
    return row >= 0 && row < m_rows.size() ? &m_rows.at(row) : nullptr;
}

void ApprovalListModel::setChosen(int row, bool chosen)
{
    if (!at(row) || m_mode != Mode::Pending || isChosen(row) == chosen)
        return;
    if (chosen)
        m_chosen.insert(m_rows.at(row).id);
    else
        m_chosen.remove(m_rows.at(row).id);
    emit dataChanged(index(row, Chosen), index(row, Chosen), {Qt::CheckStateRole});
    emit chosenChanged();
}

bool ApprovalListModel::isChosen(int row) const
{
    return at(row) && m_chosen.contains(m_rows.at(row).id);
}

QList<engine::Approval> ApprovalListModel::chosen() const
{
    QList<engine::Approval> approvals;
    for (const engine::Approval &approval : m_rows) {
        if (m_chosen.contains(approval.id))
            approvals.append(approval);
    }
    return approvals;
}

void ApprovalListModel::clearChosen()
{
    for (int row = 0; row < m_rows.size(); ++row)
        setChosen(row, false);
}

void ApprovalListModel::tick()
{
    if (!m_rows.isEmpty())
        emit dataChanged(index(0, Age), index(int(m_rows.size()) - 1, Left));
}

int ApprovalListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int ApprovalListModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ApprovalListModel::text(const engine::Approval &approval, int column) const
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const bool isPending = m_mode == Mode::Pending;
    switch (column) {
    case Age:
        return age(isPending ? approval.requestedAt : approval.decidedAt, now);
    case Left:
        return isPending ? countdown(now.secsTo(approval.expiresAt)) : look(approval).word;
    case Agent:
        return visibleLine(approval.agentName);
    case What:
        return visibleLine(approval.title);
    case Session:
        return visibleLine(approval.sessionTitle);
    default:
        return {};
    }
}

QVariant ApprovalListModel::tip(const engine::Approval &approval, int column) const
{
    switch (column) {
    case Age:
        return exactUtc(m_mode == Mode::Pending ? approval.requestedAt : approval.decidedAt);
    case Left:
        return m_mode == Mode::Pending ? exactUtc(approval.expiresAt) : deliveryWords(approval.delivery);
    default:
        return text(approval, column);
    }
}

QVariant ApprovalListModel::data(const QModelIndex &index, int role) const
{
    const engine::Approval *approval = at(index.row());
    if (!approval || !index.isValid())
        return {};
    const Look shown = look(*approval, QDateTime::currentDateTimeUtc());
    switch (role) {
    case Qt::DisplayRole:
        return text(*approval, index.column());
    case Qt::ToolTipRole:
        return tip(*approval, index.column());
    case Qt::CheckStateRole:
        return index.column() == Chosen && m_mode == Mode::Pending
                   ? QVariant(isChosen(index.row()) ? Qt::Checked : Qt::Unchecked)
                   : QVariant();
    case Qt::AccessibleTextRole:
        return QString(shown.word + QStringLiteral(", ") + text(*approval, index.column()).toString());
    case IdRole:
        return approval->id.value;
    case IconRole:
        return shown.icon;
    case ToneRole:
        return int(shown.tone);
    case UrgentRole:
        return shown.tone == Tone::Danger;
    default:
        return {};
    }
}

bool ApprovalListModel::setData(const QModelIndex &index, const QVariant &value, int role)
{
    if (role != Qt::CheckStateRole || index.column() != Chosen || m_mode != Mode::Pending || !at(index.row()))
        return false;
    setChosen(index.row(), value.toInt() == Qt::Checked);
    return true;
}

QVariant ApprovalListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Age:
        return m_mode == Mode::Pending ? tr("Age") : tr("Decided");
    case Left:
        return m_mode == Mode::Pending ? tr("Left") : tr("State");
    case Agent:
        return tr("Agent");
    case What:
        return tr("What");
    case Session:
        return tr("Session");
    default:
        return QString();
    }
}

Qt::ItemFlags ApprovalListModel::flags(const QModelIndex &index) const
{
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == Chosen && m_mode == Mode::Pending)
        flags |= Qt::ItemIsUserCheckable;
    return flags;
}

} // namespace models
