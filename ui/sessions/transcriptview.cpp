#include "ui/sessions/transcriptview.h"
#include "ui/sessions/transcriptaccessible.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextLayout>
#include <QToolButton>

namespace ui {

TranscriptView::TranscriptView(models::TranscriptModel &model, QWidget *parent)
    : QAbstractScrollArea(parent), m_model(model), m_layouts(layoutCacheSize)
{
    installTranscriptAccessibility();
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Transcript"));
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    viewport()->setMouseTracking(true);
    viewport()->setBackgroundRole(QPalette::Base);
    verticalScrollBar()->setSingleStep(3 * estimate / 2);
    m_frameTimer.setSingleShot(true);
    m_jump = new QToolButton(viewport());
    m_jump->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_jump->setIcon(icon(QStringLiteral("chevron-down"), accentColour(palette())));
    m_jump->setCursor(Qt::ArrowCursor);
    m_jump->setFocusPolicy(Qt::NoFocus); // End does the same by keyboard
    m_jump->setToolTip(tr("Go to the end and follow it (End)"));
    m_jump->hide();
    connectModel();
    restart();
}

void TranscriptView::connectModel()
{
    connect(m_jump, &QToolButton::clicked, this, &TranscriptView::followTail);
    connect(&m_frameTimer, &QTimer::timeout, this, &TranscriptView::frame);
    connect(&m_model, &models::TranscriptModel::wasReset, this, &TranscriptView::restart);
    connect(&m_model, &models::TranscriptModel::appended, this, [this](qint64, qint64 count) {
        syncRows();
        if (!m_follow)
            setUnseen(m_unseen + count);
        scheduleFrame();
    });
    connect(&m_model, &models::TranscriptModel::changed, this, [this](qint64 first, qint64 count) {
        forget(first, count);
        scheduleFrame();
    });
    connect(&m_model, &models::TranscriptModel::liveChanged, this, [this] {
        syncRows();
        m_liveStale = true;
        scheduleFrame();
    });
}

void TranscriptView::setEmptyText(const QString &title, const QString &hint)
{
    m_emptyTitle = title;
    m_emptyHint = hint;
    viewport()->update();
}

void TranscriptView::setAuthors(const QHash<engine::RunId, QString> &authors)
{
    if (m_authors == authors)
        return;
    m_authors = authors;
    forgetAll();
}

void TranscriptView::setApprovals(const QHash<engine::ApprovalId, engine::Approval> &approvals)
{
    if (m_approvals == approvals)
        return;
    m_approvals = approvals;
    forgetAll();
}

void TranscriptView::restart()
{
    m_layouts.clear();
    m_expanded.clear();
    m_whole.clear();
    m_stored = m_model.total();
    m_heights.reset(m_model.rows(), estimate);
    m_anchor = 0;
    m_anchorOffset = 0;
    m_current = -1;
    m_from = m_to = {};
    m_pendingFind.clear();
    setUnseen(0);
    setFollow(true);
    arrange();
    viewport()->update();
}

// The live rows stand behind the stored ones: a stored block takes the row, and the height, of the text it replaces.
void TranscriptView::syncRows()
{
    QList<int> freed;
    forget(m_stored, m_heights.count() - m_stored);
    while (m_heights.count() > m_stored) {
        freed.prepend(m_heights.at(m_heights.count() - 1));
        m_heights.pop();
    }
    while (m_heights.count() < m_model.rows())
        m_heights.push(freed.isEmpty() ? estimate : freed.takeFirst());
    m_stored = m_model.total();
    m_anchor = qMax<qint64>(0, qMin(m_anchor, m_heights.count() - 1));
    m_current = qMin(m_current, m_heights.count() - 1);
}

void TranscriptView::forget(qint64 first, qint64 count)
{
    for (qint64 row = first; row < first + count; ++row)
        m_layouts.remove(row);
}

void TranscriptView::forgetAll()
{
    m_layouts.clear();
    scheduleFrame();
}

// At most a frame every 16 ms, and streaming text never takes more than a quarter of the time.
void TranscriptView::scheduleFrame()
{
    if (!m_frameTimer.isActive())
        m_frameTimer.start(frameMs);
}

void TranscriptView::frame()
{
    const bool due = !m_sinceLive.isValid() || m_sinceLive.elapsed() >= 3 * m_liveCostMs;
    const bool live = m_liveStale && due;
    if (live) {
        forget(m_stored, m_heights.count() - m_stored);
        m_liveStale = false;
        m_sinceLive.start();
    }
    arrange();
    if (live) {
        m_liveCostMs = m_sinceLive.elapsed();
        m_sinceLive.start();
    }
    viewport()->update();
    if (m_liveStale)
        scheduleFrame();
}

RowContext TranscriptView::context(qint64 row) const
{
    RowContext context;
    context.palette = palette();
    context.font = font();
    context.width = viewport()->width();
    context.expanded = m_expanded.contains(row);
    context.whole = m_whole.contains(row);
    return context;
}

RowLayout *TranscriptView::layoutOf(qint64 row)
{
    if (row < 0 || row >= m_heights.count())
        return nullptr;
    if (RowLayout *known = m_layouts.object(row))
        return known;
    std::unique_ptr<RowLayout> made;
    RowContext how = context(row);
    if (row >= m_stored) {
        made = layoutLive(m_model.live().at(row - m_stored), how);
    } else {
        const engine::Block *block = m_model.blockAt(row);
        if (!block)
            return nullptr;
        how.author = m_authors.value(block->runId);
        const auto approval = m_approvals.constFind(block->approvalId);
        how.approval = approval == m_approvals.cend() ? nullptr : &*approval;
        made = layoutBlock(*block, how);
    }
    m_heights.set(row, made->height);
    RowLayout *layout = made.release();
    m_layouts.insert(row, layout);
    return layout;
}

int TranscriptView::measure(qint64 row)
{
    layoutOf(row);
    return m_heights.at(row);
}

void TranscriptView::arrange()
{
    if (m_arranging)
        return;
    m_arranging = true;
    m_visible.clear();
    if (m_heights.count() > 0) {
        if (m_follow)
            anchorAtTail();
        place();
        if (!m_pendingFind.isEmpty() && m_model.cached(m_current)) {
            const QString text = std::exchange(m_pendingFind, {});
            m_arranging = false;
            reveal(m_current, text);
            return;
        }
    }
    updateScrollBar();
    m_arranging = false;
    placeJumpButton();
}

void TranscriptView::anchorAtTail()
{
    qint64 row = m_heights.count();
    int y = viewport()->height() - 2 * grid;
    while (row > 0 && y > 0)
        y -= measure(--row);
    m_anchor = row;
    m_anchorOffset = qMax(0, -y);
}

// Walks the anchor until it lies within its row, with exact heights all the way.
void TranscriptView::normaliseAnchor()
{
    while (m_anchorOffset < 0 && m_anchor > 0)
        m_anchorOffset += measure(--m_anchor);
    m_anchorOffset = qMax(0, m_anchorOffset);
    while (m_anchor + 1 < m_heights.count() && m_anchorOffset >= measure(m_anchor))
        m_anchorOffset -= m_heights.at(m_anchor++);
}

void TranscriptView::place()
{
    const int height = viewport()->height();
    for (int pass = 0; pass < 2; ++pass) {
        m_visible.clear();
        int y = -m_anchorOffset;
        qint64 row = m_anchor;
        for (; row < m_heights.count() && y < height; ++row) {
            const int rowHeight = measure(row);
            m_visible.append({row, y});
            y += rowHeight;
        }
        const int missing = height - 2 * grid - y;
        if (missing <= 0 || row < m_heights.count() || (m_anchor == 0 && m_anchorOffset == 0))
            return;
        // The end would float above the lower edge.
        m_anchorOffset -= missing;
        normaliseAnchor();
    }
}

void TranscriptView::updateScrollBar()
{
    const int page = viewport()->height();
    const qint64 total = m_heights.total() + 2 * grid;
    QScrollBar *bar = verticalScrollBar();
    bar->setPageStep(page);
    bar->setRange(0, int(qBound(qint64(0), total - page, qint64(std::numeric_limits<int>::max()))));
    bar->setValue(m_follow ? bar->maximum() : int(m_heights.top(m_anchor) + m_anchorOffset));
    m_lastValue = bar->value();
}

void TranscriptView::scrollContentsBy(int, int)
{
    if (m_arranging)
        return;
    const QScrollBar *bar = verticalScrollBar();
    const int value = bar->value();
    const int moved = value - m_lastValue;
    setFollow(value >= bar->maximum());
    if (!m_follow && qAbs(moved) < 2 * viewport()->height()) {
        m_arranging = true; // measuring moves the scroll bar
        m_anchorOffset += moved;
        normaliseAnchor();
        m_arranging = false;
    } else if (!m_follow) {
        m_anchor = m_heights.rowAt(value);
        m_anchorOffset = int(value - m_heights.top(m_anchor));
    }
    arrange();
    if (!m_follow && bar->value() >= bar->maximum())
        setFollow(true);
    viewport()->update();
}

void TranscriptView::scrollBy(int pixels)
{
    verticalScrollBar()->setValue(verticalScrollBar()->value() + pixels);
}

void TranscriptView::setFollow(bool follow)
{
    if (follow)
        setUnseen(0);
    if (m_follow == follow)
        return;
    m_follow = follow;
    emit followChanged(follow);
    placeJumpButton();
}

void TranscriptView::setUnseen(qint64 count)
{
    if (m_unseen == count)
        return;
    m_unseen = count;
    emit unseenChanged(count);
    placeJumpButton();
}

void TranscriptView::placeJumpButton()
{
    const bool streaming = !m_model.live().isEmpty();
    if (m_follow || m_heights.count() == 0 || (m_unseen == 0 && !streaming)) {
        m_jump->hide();
        return;
    }
    m_jump->setText(m_unseen > 0 ? tr("%n new", nullptr, int(m_unseen)) : tr("Writing now"));
    m_jump->setAccessibleName(tr("%1: go to the end").arg(m_jump->text()));
    m_jump->adjustSize();
    m_jump->move((viewport()->width() - m_jump->width()) / 2, viewport()->height() - m_jump->height() - 3 * grid);
    m_jump->show();
}

void TranscriptView::followTail()
{
    setFollow(true);
    m_current = m_heights.count() - 1;
    arrange();
    viewport()->update();
}

QRect TranscriptView::rowRect(qint64 row) const
{
    for (const Placed &placed : m_visible) {
        if (placed.row == row)
            return {0, placed.y, viewport()->width(), m_heights.at(row)};
    }
    return {};
}

void TranscriptView::setCurrentRow(qint64 row)
{
    if (m_heights.count() == 0)
        return;
    m_current = qBound<qint64>(0, row, m_heights.count() - 1);
    const QRect shown = rowRect(m_current);
    const int height = viewport()->height();
    if (shown.isEmpty() || shown.top() < 0 || (shown.bottom() >= height && shown.height() >= height)) {
        setFollow(false);
        m_anchor = m_current;
        m_anchorOffset = 0;
    } else if (shown.bottom() >= height) {
        setFollow(m_current == m_heights.count() - 1);
        m_anchorOffset += shown.bottom() - height + 2 * grid;
        normaliseAnchor();
    }
    arrange();
    viewport()->update();
}

void TranscriptView::activate(qint64 row)
{
    const RowLayout *layout = layoutOf(row);
    if (!layout)
        return;
    if (!layout->approval.isEmpty()) {
        emit approvalActivated(layout->approval);
        return;
    }
    if (!layout->expandable)
        return;
    // What was clicked stays where it is: the row grows downwards.
    const QRect shown = rowRect(row);
    if (!m_expanded.remove(row))
        m_expanded.insert(row);
    m_layouts.remove(row);
    m_current = row;
    if (!shown.isEmpty()) {
        setFollow(false);
        m_anchor = row;
        m_anchorOffset = -shown.top();
        normaliseAnchor();
    }
    arrange();
    viewport()->update();
}

void TranscriptView::setWhole(qint64 row)
{
    m_whole.insert(row);
    m_layouts.remove(row);
    setFollow(false);
    arrange();
    viewport()->update();
}

void TranscriptView::reveal(qint64 row, const QString &text)
{
    setFollow(false);
    setCurrentRow(row);
    if (text.isEmpty())
        return;
    RowLayout *layout = layoutOf(m_current);
    if (!layout) {
        m_pendingFind = text;
        return;
    }
    if (layout->expandable && !layout->expanded) {
        activate(m_current);
        layout = layoutOf(m_current);
    }
    if (!layout->document)
        return;
    QTextCursor found = layout->document->find(text);
    if (found.isNull() && !layout->moreText.isEmpty()) {
        setWhole(m_current);
        layout = layoutOf(m_current);
        found = layout->document->find(text);
    }
    if (found.isNull())
        return;
    m_from = {m_current, found.selectionStart()};
    m_to = {m_current, found.selectionEnd()};
    const QTextBlock block = found.block();
    const int inRow = layout->documentAt.y() + qRound(block.layout()->position().y());
    const int y = rowRect(m_current).top() + inRow;
    if (y < 0 || y > viewport()->height() - 2 * estimate) {
        m_anchor = m_current;
        m_anchorOffset = qMax(0, inRow - estimate);
        normaliseAnchor();
        arrange();
    }
    viewport()->update();
}

void TranscriptView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    if (m_width != viewport()->width()) {
        m_width = viewport()->width();
        m_layouts.clear();
        const int rowPixels = m_anchor < m_heights.count() ? m_heights.at(m_anchor) : 0;
        const double share = rowPixels > 0 ? double(m_anchorOffset) / rowPixels : 0;
        m_heights.reset(m_heights.count(), estimate);
        if (m_heights.count() > 0)
            m_anchorOffset = int(share * measure(m_anchor));
    }
    arrange();
}

void TranscriptView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange ||
        event->type() == QEvent::LanguageChange) {
        if (m_jump)
            m_jump->setIcon(icon(QStringLiteral("chevron-down"), accentColour(palette())));
        forgetAll();
    }
}

void TranscriptView::paintEmpty(QPainter &painter)
{
    const QRect area = viewport()->rect().adjusted(rowMargin, 0, -rowMargin, 0);
    QFont bold = sizedFont(2, true);
    painter.setFont(bold);
    painter.setPen(palette().color(QPalette::Text));
    const int middle = area.center().y();
    painter.drawText(QRect(area.left(), middle - 60, area.width(), 56), Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap,
                     m_emptyTitle);
    painter.setFont(font());
    painter.setPen(mutedColour(palette()));
    painter.drawText(QRect(area.left(), middle + grid, area.width(), 96), Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap,
                     m_emptyHint);
}

void TranscriptView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    if (m_heights.count() == 0) {
        paintEmpty(painter);
        return;
    }
    for (const Placed &placed : std::as_const(m_visible)) {
        painter.save();
        painter.translate(0, placed.y);
        const RowLayout *layout = layoutOf(placed.row);
        if (layout) {
            QPair<int, int> range;
            const bool selected = selectionOf(placed.row, range);
            paintRow(painter, *layout, context(placed.row), selected ? &range : nullptr);
        } else {
            painter.setPen(mutedColour(palette()));
            painter.drawText(QRect(rowMargin, 0, viewport()->width(), m_heights.at(placed.row)), Qt::AlignVCenter,
                             tr("Loading…"));
        }
        if (placed.row == m_current && hasFocus()) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(accentColour(palette()), 1.5));
            const int width = qMin(viewport()->width() - rowMargin, rowWidthLimit + rowMargin);
            painter.drawRoundedRect(QRectF(rowMargin / 2, 1, width, m_heights.at(placed.row) - 2), 6, 6);
        }
        painter.restore();
    }
}

} // namespace ui
