#include "ui/approvals/contextpane.h"

#include "models/reply.h"
#include "models/displaytext.h"
#include "models/toolsummary.h"
#include "models/visibletext.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace ui {
namespace {

constexpr int blocksShown = 8;
constexpr int blockCharacters = 280;

QString iconOf(const engine::Block &block)
{
    switch (block.kind) {
    case engine::BlockKind::Prompt:
        return QStringLiteral("send");
    case engine::BlockKind::Answer:
    case engine::BlockKind::Thinking:
        return QStringLiteral("sessions");
    case engine::BlockKind::Tool:
        return models::look(block.tool).icon;
    case engine::BlockKind::Approval:
        return QStringLiteral("approvals");
    case engine::BlockKind::Note:
        return QStringLiteral("info");
    case engine::BlockKind::Warning:
        return QStringLiteral("warning");
    case engine::BlockKind::Failure:
        return QStringLiteral("failed");
    case engine::BlockKind::Unknown:
        return QStringLiteral("question");
    }
    return {};
}

QString textOf(const engine::Block &block)
{
    if (block.kind != engine::BlockKind::Tool)
        return block.text;
    const QString line = models::toolSummary(block.toolName, block.input).line;
    return line.isEmpty() ? block.toolName : QString(block.toolName + QStringLiteral(": ") + line);
}

} // namespace

ContextPane::ContextPane(engine::EngineClient &client, QWidget *parent) : QWidget(parent), m_client(client)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid * 3, grid * 3, grid * 3, grid * 3);
    layout->setSpacing(grid * 2);
    m_title = new QLabel(this);
    m_title->setFont(sizedFont(0, true));
    m_title->setWordWrap(true);
    m_title->setTextFormat(Qt::PlainText);
    layout->addWidget(m_title);
    m_asked = new QLabel(this);
    m_asked->setWordWrap(true);
    m_asked->setTextFormat(Qt::PlainText);
    m_asked->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(m_asked);
    m_open = new QPushButton(tr("Open session"), this);
    m_open->setObjectName(QStringLiteral("openSession"));
    layout->addWidget(m_open, 0, Qt::AlignLeft);
    connect(m_open, &QPushButton::clicked, this, [this] { emit sessionActivated(m_session); });
    auto *caption = new QLabel(tr("Last in the session"), this);
    caption->setForegroundRole(QPalette::PlaceholderText);
    layout->addSpacing(grid);
    layout->addWidget(caption);
    m_blocks = new QVBoxLayout;
    m_blocks->setSpacing(grid * 2);
    layout->addLayout(m_blocks);
    layout->addStretch(1);
    clear();
}

void ContextPane::clear()
{
    m_session = {};
    m_approval = {};
    m_title->clear();
    m_asked->clear();
    m_open->setEnabled(false);
    clearBlocks();
}

void ContextPane::clearBlocks()
{
    while (QLayoutItem *item = m_blocks->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
}

void ContextPane::setApproval(const engine::Approval &approval)
{
    if (approval.id == m_approval)
        return;
    clear();
    m_session = approval.sessionId;
    m_approval = approval.id;
    m_title->setText(approval.sessionTitle.isEmpty() ? tr("Untitled session") : models::visibleLine(approval.sessionTitle));
    m_asked->setText(approval.requestedBy.isEmpty()
                         ? models::visibleLine(approval.agentName)
                         : tr("%1, asked for by %2").arg(models::visibleLine(approval.agentName), models::visibleLine(approval.requestedBy)));
    m_open->setEnabled(true);
    models::onReply(m_client.session(m_session), this, [this, id = m_session](const engine::Result<engine::Session> &session) {
        if (id != m_session)
            return;
        if (session)
            readBlocks(session->blocks);
        else
            m_asked->setText(session.error().message);
    });
}

void ContextPane::readBlocks(qint64 total)
{
    models::onReply(m_client.blocks(m_session, qMax<qint64>(0, total - blocksShown), blocksShown), this, [this, id = m_approval](const engine::Result<engine::BlockPage> &page) {
            if (id != m_approval)
                return;
            if (page)
                showBlocks(page->blocks);
            else
                m_asked->setText(page.error().message);
        });
}

void ContextPane::showBlocks(const QList<engine::Block> &blocks)
{
    clearBlocks();
    for (const engine::Block &block : blocks) {
        auto *line = new QWidget(this);
        auto *layout = new QHBoxLayout(line);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(grid * 2);
        auto *mark = new QLabel(line);
        mark->setPixmap(iconPixmap(iconOf(block), mutedColour(palette()), 14, devicePixelRatioF()));
        layout->addWidget(mark, 0, Qt::AlignTop);
        auto *text = new QLabel(models::visibleLine(models::oneLine(textOf(block), blockCharacters)), line);
        text->setTextFormat(Qt::PlainText);
        text->setWordWrap(true);
        text->setToolTip(models::exactUtc(block.at));
        text->setMinimumWidth(1);
        layout->addWidget(text, 1);
        m_blocks->addWidget(line);
    }
}

} // namespace ui
