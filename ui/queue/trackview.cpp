#include "ui/queue/trackview.h"

#include "models/visibletext.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

namespace ui {
namespace {

constexpr int headWidth = 220;
constexpr int blockWidth = 208;
constexpr int blockGap = grid * 4;
constexpr int margin = grid * 3;
constexpr int trackGap = grid * 3;

} // namespace

TrackView::TrackView(models::QueueModel &model, QWidget *parent) : QAbstractScrollArea(parent), m_model(model)
{
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Tracks"));
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    connect(&m_model, &models::QueueModel::changed, this, &TrackView::rebuild);
    rebuild();
}

int TrackView::rowHeight() const
{
    return 3 * fontMetrics().lineSpacing() + grid * 4;
}

void TrackView::rebuild()
{
    m_tracks.clear();
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const engine::SessionId session = m_model.at(row)->sessionId;
        if (m_tracks.isEmpty() || m_tracks.last().session != session)
            m_tracks.append({session, {}});
        m_tracks.last().rows.append(row);
    }
    if (!m_current.isEmpty() && m_model.rowOf(m_current) < 0)
        setCurrent({});
    layOut();
    viewport()->update();
}

void TrackView::layOut()
{
    qsizetype longest = 0;
    for (const Track &track : m_tracks)
        longest = qMax(longest, track.rows.size());
    const int width = headWidth + margin * 2 + int(longest) * (blockWidth + blockGap);
    const int height = margin + int(m_tracks.size()) * (rowHeight() + trackGap);
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(blockWidth / 2);
    horizontalScrollBar()->setRange(0, qMax(0, width - viewport()->width()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(rowHeight() / 2);
    verticalScrollBar()->setRange(0, qMax(0, height - viewport()->height()));
}

QRect TrackView::cell(int track, int place) const
{
    return {headWidth + margin + place * (blockWidth + blockGap) - horizontalScrollBar()->value(),
            margin + track * (rowHeight() + trackGap) - verticalScrollBar()->value(), blockWidth, rowHeight()};
}

std::pair<int, int> TrackView::placeOf(const engine::RunId &id) const
{
    const int row = m_model.rowOf(id);
    for (int track = 0; row >= 0 && track < m_tracks.size(); ++track) {
        const qsizetype place = m_tracks.at(track).rows.indexOf(row);
        if (place >= 0)
            return {track, int(place)};
    }
    return {-1, -1};
}

QRect TrackView::blockRect(const engine::RunId &id) const
{
    const auto [track, place] = placeOf(id);
    return track < 0 ? QRect() : cell(track, place);
}

engine::RunId TrackView::runAt(const QPoint &point) const
{
    if (point.x() < headWidth)
        return {};
    for (int track = 0; track < m_tracks.size(); ++track) {
        const Track &line = m_tracks.at(track);
        for (int place = 0; place < line.rows.size(); ++place) {
            if (cell(track, place).contains(point))
                return m_model.at(line.rows.at(place))->id;
        }
    }
    return {};
}

void TrackView::setCurrent(const engine::RunId &id)
{
    if (id == m_current)
        return;
    m_current = id;
    if (!id.isEmpty())
        reveal(id);
    viewport()->update();
    emit currentChanged(id);
}

void TrackView::reveal(const engine::RunId &id)
{
    const QRect area = blockRect(id);
    if (area.isEmpty())
        return;
    QScrollBar *across = horizontalScrollBar();
    QScrollBar *down = verticalScrollBar();
    if (area.left() < headWidth + margin)
        across->setValue(across->value() + area.left() - headWidth - margin);
    else if (area.right() > viewport()->width() - margin)
        across->setValue(across->value() + area.right() - viewport()->width() + margin);
    if (area.top() < margin)
        down->setValue(down->value() + area.top() - margin);
    else if (area.bottom() > viewport()->height() - margin)
        down->setValue(down->value() + area.bottom() - viewport()->height() + margin);
}

void TrackView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    for (int track = 0; track < m_tracks.size(); ++track) {
        const QRect first = cell(track, 0);
        if (first.bottom() >= 0 && first.top() <= viewport()->height())
            drawTrack(painter, track);
    }
}

void TrackView::drawTrack(QPainter &painter, int track) const
{
    const Track &line = m_tracks.at(track);
    const QRect first = cell(track, 0);
    const int middle = first.center().y();
    painter.setPen(QPen(lineColour(palette()), 2));
    painter.drawLine(headWidth, middle, qMax(viewport()->width(), cell(track, int(line.rows.size())).left()), middle);
    for (int place = 0; place < line.rows.size(); ++place) {
        const QRect area = cell(track, place);
        if (area.right() >= headWidth && area.left() <= viewport()->width())
            drawBlock(painter, area, *m_model.at(line.rows.at(place)));
    }
    // The head covers blocks that are scrolled under it.
    const QRect head(0, first.top() - trackGap / 2, headWidth, first.height() + trackGap);
    painter.fillRect(head, palette().color(QPalette::Base));
    painter.setPen(lineColour(palette()));
    painter.drawLine(margin, head.bottom(), viewport()->width(), head.bottom());
    const QRect text = head.adjusted(margin, 0, -margin, 0);
    const int height = fontMetrics().lineSpacing();
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRect(text.left(), middle - height, text.width(), height), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(bold).elidedText(m_model.sessionTitle(line.session), Qt::ElideRight, text.width()));
    painter.setFont(font());
    painter.setPen(mutedColour(palette()));
    painter.drawText(QRect(text.left(), middle, text.width(), height), Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(m_model.agentName(line.session), Qt::ElideRight, text.width()));
}

void TrackView::drawBlock(QPainter &painter, const QRect &area, const engine::Run &run) const
{
    const models::Look look = models::look(run.state);
    const QColor colour = toneColour(look.tone, palette());
    const bool isCurrent = run.id == m_current;
    painter.setPen(QPen(isCurrent ? accentColour(palette()) : lineColour(palette()), isCurrent ? 2 : 1));
    painter.setBrush(run.state == engine::RunState::Pending ? palette().color(QPalette::Base)
                                                            : toneFill(look.tone, palette()));
    painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), grid, grid);
    const QRect inner = area.adjusted(grid * 2, grid * 2, -grid * 2, -grid * 2);
    const int height = fontMetrics().lineSpacing();
    const int side = fontMetrics().ascent();
    paintIcon(painter, QRectF(inner.left(), inner.top() + (height - side) / 2.0, side, side), look.icon, colour);
    painter.setPen(colour);
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const QRect top(inner.left() + side + grid * 2, inner.top(), inner.width() - side - grid * 2, height);
    const QString word = run.position > 0 ? tr("%1 · no. %2").arg(look.word).arg(run.position) : look.word;
    painter.drawText(top, Qt::AlignLeft | Qt::AlignVCenter, word);
    painter.setPen(mutedColour(palette()));
    const QDateTime since = run.state == engine::RunState::Pending ? run.createdAt
                            : run.endedAt.isValid()                ? run.endedAt
                                                                   : run.startedAt;
    painter.drawText(top, Qt::AlignRight | Qt::AlignVCenter, models::age(since, now));
    painter.setPen(palette().color(QPalette::Text));
    const QRect second = QRect(inner.left(), inner.top() + height, inner.width(), height);
    painter.drawText(second, Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(models::visibleLine(run.prompt.left(300)), Qt::ElideRight, second.width()));
    painter.setPen(mutedColour(palette()));
    const QString reason = run.state == engine::RunState::Error ? run.errorMessage : run.waitingFor;
    painter.drawText(second.translated(0, height), Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(models::visibleLine(reason), Qt::ElideRight, second.width()));
}

void TrackView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

void TrackView::mousePressEvent(QMouseEvent *event)
{
    setCurrent(runAt(event->pos()));
}

void TrackView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const int row = m_model.rowOf(runAt(event->pos()));
    if (row >= 0)
        emit opened(m_model.at(row)->sessionId);
}

void TrackView::move(int byTrack, int byPlace)
{
    if (m_tracks.isEmpty())
        return;
    auto [track, place] = placeOf(m_current);
    if (track < 0)
        track = place = 0;
    else
        track = qBound(0, track + byTrack, int(m_tracks.size()) - 1);
    const Track &line = m_tracks.at(track);
    place = qBound(0, m_current.isEmpty() ? 0 : place + byPlace, int(line.rows.size()) - 1);
    setCurrent(m_model.at(line.rows.at(place))->id);
}

void TrackView::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        return move(0, -1);
    case Qt::Key_Right:
        return move(0, 1);
    case Qt::Key_Up:
    case Qt::Key_K:
        return move(-1, 0);
    case Qt::Key_Down:
    case Qt::Key_J:
        return move(1, 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const engine::Run *run = m_model.at(m_model.rowOf(m_current)))
            emit opened(run->sessionId);
        return;
    case Qt::Key_Delete:
        if (!m_current.isEmpty())
            emit cancelAsked(m_current);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

bool TrackView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const engine::Run *run = m_model.at(m_model.rowOf(runAt(help->pos())));
        QToolTip::showText(help->globalPos(),
                           run ? QString(models::visibleText(run->prompt.left(600)).text + u'\n' +
                                         models::exactUtc(run->createdAt) +
                                         (run->waitingFor.isEmpty() ? QString() : QString(u'\n' + run->waitingFor)))
                               : QString(),
                           this);
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TrackView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        layOut();
}

} // namespace ui
