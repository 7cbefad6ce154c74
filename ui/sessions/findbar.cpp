#include "ui/sessions/findbar.h"
#include "models/reply.h"
#include "models/transcriptmodel.h"
#include "ui/sessions/transcriptview.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace ui {

FindBar::FindBar(engine::EngineClient &client, models::TranscriptModel &model, TranscriptView &view, QWidget *parent)
    : QWidget(parent), m_client(client), m_model(model), m_view(view)
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(4 * grid, grid, 2 * grid, grid);
    layout->setSpacing(grid);
    m_text = new QLineEdit(this);
    m_text->setPlaceholderText(tr("Find in this session"));
    m_text->setAccessibleName(m_text->placeholderText());
    m_text->setClearButtonEnabled(true);
    m_status = new QLabel(this);
    m_previous = new QToolButton(this);
    m_previous->setText(tr("Earlier"));
    m_previous->setToolTip(tr("Earlier match (Enter)"));
    m_next = new QToolButton(this);
    m_next->setText(tr("Later"));
    m_next->setToolTip(tr("Later match (Shift+Enter)"));
    auto *close = new QToolButton(this);
    close->setIcon(icon(QStringLiteral("close"), mutedColour(palette())));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close the search"));
    layout->addWidget(m_text, 1);
    layout->addWidget(m_previous);
    layout->addWidget(m_next);
    layout->addWidget(m_status);
    layout->addWidget(close);
    connect(m_previous, &QToolButton::clicked, this, [this] { findNext(true); });
    connect(m_next, &QToolButton::clicked, this, [this] { findNext(false); });
    connect(close, &QToolButton::clicked, this, &FindBar::closeBar);
    connect(m_text, &QLineEdit::textChanged, this, [this] {
        ++m_search;
        m_status->clear();
    });
    connect(&m_model, &models::TranscriptModel::wasReset, this, [this] { ++m_search; });
    hide();
}

void FindBar::open()
{
    show();
    m_text->setFocus();
    m_text->selectAll();
}

void FindBar::closeBar()
{
    ++m_search;
    hide();
    emit closed();
}

void FindBar::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        closeBar();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        findNext(!(event->modifiers() & Qt::ShiftModifier));
    else
        QWidget::keyPressEvent(event);
}

void FindBar::findNext(bool backward)
{
    ++m_search;
    if (m_text->text().isEmpty() || m_model.total() == 0) {
        finish(m_text->text().isEmpty() ? QString() : tr("Nothing to search"));
        return;
    }
    m_backward = backward;
    m_wrapped = false;
    const qint64 from = m_view.currentRow() >= 0 ? m_view.currentRow() + (backward ? -1 : 1)
                                                 : (backward ? m_model.total() - 1 : 0);
    m_start = qBound<qint64>(0, from, m_model.total() - 1);
    m_row = from;
    readChunk();
}

void FindBar::readChunk()
{
    const qint64 total = m_model.total();
    if (m_row < 0 || m_row >= total) {
        if (m_wrapped) {
            finish(tr("Not found"));
            return;
        }
        m_wrapped = true;
        m_row = m_backward ? total - 1 : 0;
    }
    if (m_wrapped && (m_backward ? m_row < m_start : m_row > m_start)) {
        finish(tr("Not found"));
        return;
    }
    const qint64 first = m_backward ? qMax<qint64>(0, m_row - chunk + 1) : m_row;
    const int count = int(m_backward ? m_row - first + 1 : qMin<qint64>(chunk, total - m_row));
    m_status->setText(tr("Searching %L1 of %L2…").arg(m_row + 1).arg(total));
    const int search = m_search;
    models::onReply(m_client.blocks(m_model.session(), first, count), this, [this, search, first, count](const engine::Result<engine::BlockPage> &page) {
            if (search != m_search)
                return;
            if (!page) {
                finish(page.error().message);
                return;
            }
            if (searchIn(page->blocks))
                return;
            m_row = m_backward ? first - 1 : first + count;
            readChunk();
        });
}

bool FindBar::searchIn(const QList<engine::Block> &blocks)
{
    const QString text = m_text->text();
    for (qsizetype i = 0; i < blocks.size(); ++i) {
        const engine::Block &block = blocks.at(m_backward ? blocks.size() - 1 - i : i);
        if (!block.text.contains(text, Qt::CaseInsensitive) && !block.input.contains(text, Qt::CaseInsensitive) &&
            !block.output.contains(text, Qt::CaseInsensitive))
            continue;
        finish(m_wrapped ? tr("Block %L1 (from the other end)").arg(block.position + 1)
                         : tr("Block %L1").arg(block.position + 1));
        m_view.reveal(block.position, text);
        return true;
    }
    return false;
}

void FindBar::finish(const QString &words)
{
    ++m_search;
    m_status->setText(words);
}

} // namespace ui
