#include "models/computerlistmodel.h"

#include "models/displaytext.h"
#include "models/reply.h"

namespace models {

ComputerListModel::ComputerListModel(engine::EngineClient &client, QObject *parent) : MergingTable(parent), m_client(client) {}

void ComputerListModel::load(bool usage)
{
    if (m_isAsking) {
        m_asksAgain = true;
        m_usageAgain = m_usageAgain || usage;
        return;
    }
    m_isAsking = true;
    onReply(m_client.computers(usage), this, [this, usage](const engine::Result<QList<engine::Computer>> &result) {
        m_isAsking = false;
        if (result)
            take(*result, usage);
        else
            emit failed(result.error());
        if (std::exchange(m_asksAgain, false))
            load(std::exchange(m_usageAgain, false));
    });
}

void ComputerListModel::take(QList<engine::Computer> fresh, bool usage)
{
    for (engine::Computer &computer : fresh) {
        const engine::Computer *known = at(rowOf(computer.sessionId.value));
        if (usage || !known || known->id != computer.id || computer.state != known->state)
            continue;
        computer.cpuPercent = known->cpuPercent;
        computer.memoryBytes = known->memoryBytes;
        computer.processes = known->processes;
    }
    merge(fresh);
    emit loaded();
}

void ComputerListModel::tick()
{
    touch(Age);
    touch(Warm);
}

QVariant ComputerListModel::text(const engine::Computer &computer, int column) const
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    switch (column) {
    case Session:
        return computer.sessionTitle.isEmpty() ? computer.sessionId.value : computer.sessionTitle;
    case Agent:
        return computer.agentName;
    case Provider:
        return computer.isolated ? providerName(computer.provider) : tr("No isolation");
    case State:
        return look(computer).word;
    case Image:
        return computer.image;
    case Age:
        return age(computer.startedAt, now);
    case Generation:
        return computer.generation;
    case Cpu:
        return processorText(computer.cpuPercent);
    case Memory:
        return memoryText(computer.memoryBytes, computer.memoryLimit);
    case Warm:
        return warmLeft(computer.warmUntil, now);
    default:
        return {};
    }
}

QVariant ComputerListModel::sortValue(const engine::Computer &computer, int column) const
{
    switch (column) {
    case Age:
        return computer.startedAt;
    case Cpu:
        return computer.cpuPercent;
    case Memory:
        return computer.memoryBytes;
    case Warm:
        return computer.warmUntil;
    default:
        return text(computer, column);
    }
}

QVariant ComputerListModel::toolTip(const engine::Computer &computer, int column) const
{
    switch (column) {
    case Age:
        return exactUtc(computer.startedAt);
    case Warm:
        return computer.warmUntil.isValid() ? tr("Kept ready for the next prompt until %1").arg(exactUtc(computer.warmUntil)) : QString();
    case State:
        return computer.why;
    case Cpu:
        return computer.processes < 0 ? QString() : tr("%1 processes; 100 % is one processor").arg(computer.processes);
    case Provider:
        return computer.isolated ? QString() : providerSentence(computer.provider);
    default:
        return text(computer, column);
    }
}

QVariant ComputerListModel::data(const QModelIndex &index, int role) const
{
    const engine::Computer *computer = index.isValid() ? at(index.row()) : nullptr;
    if (!computer)
        return {};
    const bool isOpen = index.column() == Provider && !computer->isolated;
    switch (role) {
    case Qt::DisplayRole:
        return text(*computer, index.column());
    case Qt::ToolTipRole:
        return toolTip(*computer, index.column());
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (index.column() == Generation || index.column() == Cpu ? Qt::AlignRight : Qt::AlignLeft));
    case KeyRole:
        return computer->sessionId.value;
    case SortRole:
        return sortValue(*computer, index.column());
    case IconRole:
        return index.column() == State ? look(*computer).icon : isOpen ? QStringLiteral("warning") : QString();
    case ToneRole:
        return index.column() == State ? QVariant(int(look(*computer).tone)) : isOpen ? QVariant(int(Tone::Attention)) : QVariant();
    default:
        return {};
    }
}

QVariant ComputerListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignVCenter | (section == Generation || section == Cpu ? Qt::AlignRight : Qt::AlignLeft));
    if (role == Qt::ToolTipRole && section == Generation)
        return tr("Generation: how many computers this session has had");
    if (role != Qt::DisplayRole)
        return {};
    const QStringList names{tr("Session"), tr("Agent"), tr("Provider"), tr("State"), tr("Warm"),
                            tr("Processor"), tr("Memory"), tr("Age"), tr("Gen."), tr("Image")};
    return names.value(section);
}

} // namespace models
