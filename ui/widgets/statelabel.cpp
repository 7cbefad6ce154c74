#include "ui/widgets/statelabel.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QPainter>

namespace ui {
namespace {

constexpr int sidePadding = grid * 2;

} // namespace

StateLabel::StateLabel(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void StateLabel::setLook(const models::Look &look)
{
    if (m_look == look)
        return;
    m_look = look;
    setAccessibleName(look.word);
    updateGeometry();
    update();
}

void StateLabel::setFilled(bool filled)
{
    m_filled = filled;
    updateGeometry();
    update();
}

QSize StateLabel::sizeHint() const
{
    const QFontMetrics metrics(font());
    const int padding = m_filled ? 2 * sidePadding : 0;
    return {metrics.height() + grid + metrics.horizontalAdvance(m_look.word) + padding + 2,
            metrics.height() + (m_filled ? grid : 2)};
}

void StateLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor colour = toneColour(m_look.tone, palette());
    if (m_filled) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(toneFill(m_look.tone, palette()));
        painter.drawRoundedRect(rect(), height() / 2.0, height() / 2.0);
    }
    const int side = fontMetrics().ascent() + 1;
    const int left = m_filled ? sidePadding : 0;
    paintIcon(painter, QRectF(left, (height() - side) / 2.0, side, side), m_look.icon, colour);
    painter.setPen(colour);
    painter.drawText(QRect(left + side + grid + 1, 0, width() - left - side - grid, height()),
                     Qt::AlignVCenter | Qt::AlignLeft, m_look.word);
}

} // namespace ui
