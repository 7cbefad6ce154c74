#include "ui/widgets/receiptstrip.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

namespace ui {
namespace {

constexpr int stalledAfterMs = 5000;
constexpr int dotSize = 12;

} // namespace

ReceiptStrip::ReceiptStrip(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ReceiptStrip::setApproval(const engine::Approval &approval)
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const bool isDelivered = approval.delivery != engine::Delivery::None && approval.delivery != engine::Delivery::Lost;
    const auto isLate = [&](const QDateTime &before, const QDateTime &at) {
        return isDelivered && before.isValid() && !at.isValid() && before.msecsTo(now) > stalledAfterMs;
    };
    m_steps = {{tr("Requested"), approval.requestedAt, {}, false},
               {tr("Seen"), approval.seenAt, approval.seenBy, false},
               {tr("Decided"), approval.decidedAt, approval.decidedBy, false},
               {tr("Written"), approval.writtenAt, {}, isLate(approval.decidedAt, approval.writtenAt)},
               {tr("Acknowledged"), approval.acknowledgedAt, {}, isLate(approval.writtenAt, approval.acknowledgedAt)},
               {tr("Executed"), approval.executedAt, approval.executedStatus, false}};
    QStringList spoken;
    for (const Step &step : m_steps)
        spoken.append(step.word + u' ' +
                      (step.at.isValid() ? models::exactUtc(step.at) : step.stalled ? tr("overdue") : tr("not yet")));
    setAccessibleName(tr("Receipts"));
    setAccessibleDescription(spoken.join(QStringLiteral("; ")));
    update();
}

QSize ReceiptStrip::sizeHint() const
{
    return {6 * 64, dotSize + grid + 2 * QFontMetrics(sizedFont(-1)).lineSpacing()};
}

QRectF ReceiptStrip::cell(qsizetype index) const
{
    const double width = double(this->width()) / double(qMax<qsizetype>(1, m_steps.size()));
    return {double(index) * width, 0, width, double(height())};
}

void ReceiptStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(sizedFont(-1));
    const QFontMetricsF metrics(painter.font());
    const QColor muted = mutedColour(palette());
    for (qsizetype i = 0; i < m_steps.size(); ++i) {
        const Step &step = m_steps.at(i);
        const QRectF area = cell(i);
        const QRectF dot(area.center().x() - dotSize / 2.0, 0, dotSize, dotSize);
        if (i + 1 < m_steps.size()) {
            const bool isReached = m_steps.at(i + 1).at.isValid();
            painter.setPen(QPen(isReached ? toneColour(models::Tone::Good, palette()) : lineColour(palette()), 1.5));
            painter.drawLine(QPointF(dot.right() + 3, dot.center().y()),
                             QPointF(cell(i + 1).center().x() - dotSize / 2.0 - 3, dot.center().y()));
        }
        if (step.stalled) {
            paintIcon(painter, dot.adjusted(-1, -1, 1, 1), QStringLiteral("warning"),
                      toneColour(models::Tone::Attention, palette()));
        } else if (step.at.isValid()) {
            painter.setPen(Qt::NoPen);
            const bool isBad = step.note == u"failed";
            painter.setBrush(toneColour(isBad ? models::Tone::Danger : models::Tone::Good, palette()));
            painter.drawEllipse(dot.adjusted(2, 2, -2, -2));
        } else {
            painter.setPen(QPen(muted, 1.2));
            painter.setBrush(Qt::NoBrush);
            painter.drawEllipse(dot.adjusted(2, 2, -2, -2));
        }
        QRectF line(area.left(), dotSize + grid, area.width(), metrics.lineSpacing());
        painter.setPen(step.at.isValid() ? palette().color(QPalette::WindowText) : muted);
        painter.drawText(line, Qt::AlignHCenter | Qt::AlignVCenter, metrics.elidedText(step.word, Qt::ElideRight, line.width() - 2));
        line.translate(0, metrics.lineSpacing());
        painter.setPen(muted);
        const QString below = step.at.isValid() ? step.at.toLocalTime().toString(QStringLiteral("HH:mm:ss"))
                              : step.stalled    ? tr("overdue")
                                                : QStringLiteral("–");
        painter.drawText(line, Qt::AlignHCenter | Qt::AlignVCenter, below);
    }
}

bool ReceiptStrip::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    for (qsizetype i = 0; i < m_steps.size(); ++i) {
        const Step &step = m_steps.at(i);
        if (!cell(i).contains(help->pos()))
            continue;
        QString text = step.word + QStringLiteral(": ") + (step.at.isValid() ? models::exactUtc(step.at) : tr("not yet"));
        if (!step.note.isEmpty())
            text += QStringLiteral(" · ") + step.note;
        QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return true;
}

} // namespace ui
