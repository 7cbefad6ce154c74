#include "ui/sessions/transcriptview.h"
#include "ui/widgets/theme.h"

#include <QAbstractTextDocumentLayout>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDesktopServices>
#include <QKeyEvent>
#include <QMenu>
#include <QScrollBar>
#include <QTextCursor>
#include <QTextDocumentFragment>
#include <QToolTip>
#include <QUrl>

namespace ui {

qint64 TranscriptView::rowAtPoint(int y) const
{
    for (const Placed &placed : m_visible) {
        if (y >= placed.y && y < placed.y + m_heights.at(placed.row))
            return placed.row;
    }
    return -1;
}

TranscriptView::Spot TranscriptView::spotAt(const QPoint &point)
{
    qint64 row = rowAtPoint(point.y());
    if (row < 0 && !m_visible.isEmpty())
        row = point.y() < m_visible.first().y ? m_visible.first().row : m_visible.last().row;
    const RowLayout *layout = layoutOf(row);
    if (!layout)
        return {};
    if (!layout->document)
        return {row, 0};
    const QPoint inside = point - rowRect(row).topLeft() - layout->documentAt;
    return {row, qMax(0, layout->document->documentLayout()->hitTest(inside, Qt::FuzzyHit))};
}

QString TranscriptView::linkAt(const QPoint &point)
{
    const qint64 row = rowAtPoint(point.y());
    const RowLayout *layout = row < 0 ? nullptr : layoutOf(row);
    if (!layout || !layout->document)
        return {};
    return layout->document->documentLayout()->anchorAt(point - rowRect(row).topLeft() - layout->documentAt);
}

bool TranscriptView::selectionOf(qint64 row, QPair<int, int> &range) const
{
    if (m_from.row < 0 || m_from == m_to)
        return false;
    const Spot first = qMin(m_from, m_to), last = qMax(m_from, m_to);
    if (row < first.row || row > last.row)
        return false;
    range = {row == first.row ? first.position : 0, row == last.row ? last.position : std::numeric_limits<int>::max()};
    return range.first != range.second;
}

void TranscriptView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_pressed = event->pos();
    const qint64 row = rowAtPoint(event->pos().y());
    if (row >= 0)
        m_current = row;
    const Spot spot = spotAt(event->pos());
    if (!(event->modifiers() & Qt::ShiftModifier) || m_from.row < 0)
        m_from = spot;
    m_to = spot;
    m_selecting = spot.row >= 0;
    viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_selecting || !(event->buttons() & Qt::LeftButton)) {
        updateCursor(event->pos());
        return;
    }
    if ((event->pos() - m_pressed).manhattanLength() < QApplication::startDragDistance() && m_from == m_to)
        return;
    if (event->pos().y() < 0 || event->pos().y() > viewport()->height())
        scrollBy(event->pos().y() < 0 ? -6 * grid : 6 * grid);
    const Spot spot = spotAt(event->pos());
    if (spot.row >= 0)
        m_to = spot;
    viewport()->update();
}

void TranscriptView::mouseReleaseEvent(QMouseEvent *event)
{
    const bool clicked = std::exchange(m_selecting, false) && m_from == m_to && event->button() == Qt::LeftButton;
    const qint64 row = rowAtPoint(event->pos().y());
    const RowLayout *layout = clicked && row >= 0 ? layoutOf(row) : nullptr;
    if (!layout)
        return;
    const QPoint inside = event->pos() - rowRect(row).topLeft();
    const QString link = linkAt(event->pos());
    if (!layout->moreText.isEmpty() && layout->more.contains(inside))
        setWhole(row);
    else if ((layout->expandable || !layout->approval.isEmpty()) && layout->header.contains(inside))
        activate(row);
    else if (link.startsWith(u"https://") || link.startsWith(u"http://"))
        QDesktopServices::openUrl(QUrl(link));
}

void TranscriptView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const Spot spot = spotAt(event->pos());
    const RowLayout *layout = layoutOf(spot.row);
    if (!layout || !layout->document)
        return;
    const QPoint inside = event->pos() - rowRect(spot.row).topLeft();
    if (layout->header.contains(inside))
        return;
    QTextCursor cursor(layout->document.get());
    cursor.setPosition(qMin(spot.position, layout->document->characterCount() - 1));
    cursor.select(QTextCursor::WordUnderCursor);
    m_from = {spot.row, cursor.selectionStart()};
    m_to = {spot.row, cursor.selectionEnd()};
    viewport()->update();
}

void TranscriptView::updateCursor(const QPoint &point)
{
    const qint64 row = rowAtPoint(point.y());
    const RowLayout *layout = row < 0 ? nullptr : m_layouts.object(row);
    if (!layout) {
        viewport()->setCursor(Qt::ArrowCursor);
        return;
    }
    const QPoint inside = point - rowRect(row).topLeft();
    const bool opens = (layout->expandable || !layout->approval.isEmpty()) && layout->header.contains(inside);
    if (opens || layout->more.contains(inside) || !linkAt(point).isEmpty())
        viewport()->setCursor(Qt::PointingHandCursor);
    else
        viewport()->setCursor(layout->document && inside.y() >= layout->documentAt.y() ? Qt::IBeamCursor : Qt::ArrowCursor);
}

bool TranscriptView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const QString link = linkAt(help->pos());
        const qint64 row = rowAtPoint(help->pos().y());
        const RowLayout *layout = row < 0 ? nullptr : layoutOf(row);
        QToolTip::showText(help->globalPos(), !link.isEmpty() ? link : layout ? layout->time : QString(), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TranscriptView::step(int rows)
{
    if (m_heights.count() == 0)
        return;
    if (m_current < 0) {
        setCurrentRow(rows > 0 ? firstVisibleRow() : lastVisibleRow());
        return;
    }
    // A row taller than the window is read through before the next one becomes current.
    const QRect shown = rowRect(m_current);
    const int height = viewport()->height();
    if (!shown.isEmpty() && rows > 0 && shown.bottom() > height && m_current + 1 < m_heights.count()) {
        scrollBy(qMin(estimate, shown.bottom() - height + 1));
        return;
    }
    if (!shown.isEmpty() && rows < 0 && shown.top() < 0) {
        scrollBy(-qMin(estimate, -shown.top()));
        return;
    }
    setCurrentRow(m_current + rows);
}

void TranscriptView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        copy();
        return;
    }
    const int page = viewport()->height() - estimate;
    switch (event->key()) {
    case Qt::Key_Up:
        step(-1);
        break;
    case Qt::Key_Down:
        step(1);
        break;
    case Qt::Key_PageUp:
        scrollBy(-page);
        m_current = firstVisibleRow();
        break;
    case Qt::Key_PageDown:
    case Qt::Key_Space:
        scrollBy(page);
        m_current = lastVisibleRow();
        break;
    case Qt::Key_Home:
        setFollow(false);
        setCurrentRow(0);
        break;
    case Qt::Key_End:
        followTail();
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const RowLayout *layout = layoutOf(m_current); layout && layout->expanded && !layout->moreText.isEmpty())
            setWhole(m_current);
        else
            activate(m_current);
        break;
    default:
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    viewport()->update();
}

void TranscriptView::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    if (m_current < 0 && event->reason() != Qt::MouseFocusReason)
        m_current = lastVisibleRow();
    viewport()->update();
}

void TranscriptView::focusOutEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void TranscriptView::contextMenuEvent(QContextMenuEvent *event)
{
    if (event->reason() == QContextMenuEvent::Mouse)
        m_current = rowAtPoint(event->pos().y());
    const RowLayout *layout = layoutOf(m_current);
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction *plain = menu->addAction(tr("Copy"), this, &TranscriptView::copy);
    plain->setShortcut(QKeySequence::Copy);
    plain->setEnabled(layout || m_from != m_to);
    menu->addAction(tr("Copy as Markdown"), this, &TranscriptView::copyMarkdown)->setEnabled(plain->isEnabled());
    if (layout && layout->expandable) {
        menu->addSeparator();
        menu->addAction(layout->expanded ? tr("Close") : tr("Open"), this, [this, row = m_current] { activate(row); });
    }
    if (layout && !layout->moreText.isEmpty())
        menu->addAction(layout->moreText, this, [this, row = m_current] { setWhole(row); });
    menu->popup(event->reason() == QContextMenuEvent::Mouse ? event->globalPos()
                                                           : viewport()->mapToGlobal(rowRect(m_current).center()));
}

QString TranscriptView::textOf(qint64 row, bool markdown)
{
    if (row < 0 || row >= m_heights.count())
        return {};
    if (row >= m_stored)
        return m_model.live().at(row - m_stored).text;
    const engine::Block *block = m_model.blockAt(row);
    if (!block)
        return tr("[block %1 is not loaded]").arg(row + 1);
    if (block->kind != engine::BlockKind::Tool)
        return block->text;
    if (markdown)
        return QStringLiteral("**%1**\n\n```json\n%2\n```\n\n```\n%3\n```").arg(block->toolName, block->input, block->output);
    return QString(block->toolName + u"\n" + block->input + u"\n" + block->output);
}

QString TranscriptView::selection(bool markdown)
{
    if (m_from.row < 0 || m_from == m_to)
        return {};
    const Spot first = qMin(m_from, m_to), last = qMax(m_from, m_to);
    QStringList parts;
    for (qint64 row = first.row; row <= last.row && parts.size() < copyLimit; ++row) {
        QPair<int, int> range;
        const bool edge = row == first.row || row == last.row;
        const RowLayout *layout = edge && selectionOf(row, range) ? layoutOf(row) : nullptr;
        if (edge && layout && layout->document) {
            QTextCursor cursor(layout->document.get());
            const int end = layout->document->characterCount() - 1;
            cursor.setPosition(qBound(0, range.first, end));
            cursor.setPosition(qBound(0, range.second, end), QTextCursor::KeepAnchor);
            const QTextDocumentFragment fragment(cursor);
            parts.append(markdown ? fragment.toMarkdown().trimmed() : fragment.toPlainText());
        } else if (!edge) {
            parts.append(textOf(row, markdown));
        }
    }
    return parts.join(markdown ? QStringLiteral("\n\n") : QStringLiteral("\n"));
}

QString TranscriptView::selectedText() const
{
    return const_cast<TranscriptView *>(this)->selection(false); // laying out for it changes nothing one can see
}

void TranscriptView::copy()
{
    const QString chosen = selection(false);
    QApplication::clipboard()->setText(chosen.isEmpty() ? textOf(m_current, false) : chosen);
}

void TranscriptView::copyMarkdown()
{
    const QString chosen = selection(true);
    QApplication::clipboard()->setText(chosen.isEmpty() ? textOf(m_current, true) : chosen);
}

QString TranscriptView::visibleText()
{
    QStringList parts;
    const QList<Placed> shown = m_visible;
    for (const Placed &placed : shown) {
        if (const RowLayout *layout = layoutOf(placed.row))
            parts.append(layout->plainText());
    }
    return parts.join(u'\n');
}

} // namespace ui
