#include "ui/sessions/sessiondelegate.h"
#include "models/displaytext.h"
#include "models/sessionlistmodel.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QPainter>

namespace ui {
namespace {

using Role = models::SessionListModel::Role;

models::Look sessionLook(const QModelIndex &index)
{
    const bool active = index.data(Role::ActiveRole).toBool();
    const auto group = engine::SessionGroup(index.data(Role::GroupRole).toInt());
    if (group == engine::SessionGroup::NeedsYou)
        return models::look(engine::RunState::Paused);
    const auto state = engine::RunState(index.data(Role::StateRole).toInt());
    if (!active && group == engine::SessionGroup::Idle && index.data(Role::BlocksRole).toLongLong() == 0)
        return models::look(engine::SessionGroup::Idle);
    return models::look(state);
}

} // namespace

QString SessionDelegate::stateWord(const QModelIndex &index)
{
    return sessionLook(index).word;
}

QSize SessionDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const int line = QFontMetrics(option.font).height();
    return {120, index.data(Role::HeadingRole).toBool() ? line + 3 * grid : 2 * line + 5 * grid};
}

void SessionDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (index.data(Role::HeadingRole).toBool())
        paintHeading(*painter, option, index);
    else
        paintSession(*painter, option, index);
    painter->restore();
}

void SessionDelegate::paintHeading(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const models::Look look = models::look(engine::SessionGroup(index.data(Role::GroupRole).toInt()));
    QFont bold = option.font;
    bold.setWeight(QFont::DemiBold);
    painter.setFont(bold);
    painter.setPen(toneColour(look.tone, option.palette));
    const QRect line = option.rect.adjusted(3 * grid, grid, -2 * grid, 0);
    painter.drawText(line, Qt::AlignVCenter, index.data().toString());
    painter.setPen(mutedColour(option.palette));
    painter.setFont(option.font);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, QString::number(index.data(Role::CountRole).toInt()));
}

void SessionDelegate::paintSession(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const bool selected = option.state & QStyle::State_Selected;
    const bool focused = option.state & QStyle::State_HasFocus;
    const QRectF back = QRectF(option.rect).adjusted(grid + 0.5, 1.5, -grid - 0.5, -1.5);
    if (selected || option.state & QStyle::State_MouseOver) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(selected ? toneFill(models::Tone::Info, option.palette) : cardColour(option.palette));
        painter.drawRoundedRect(back, 6, 6);
    }
    if (selected) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(accentColour(option.palette));
        painter.drawRoundedRect(QRectF(back.left(), back.top() + 2 * grid, 3, back.height() - 4 * grid), 1.5, 1.5);
    }
    if (focused && selected) {
        painter.setPen(accentColour(option.palette));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(back, 6, 6);
    }
    const models::Look look = sessionLook(index);
    const QFontMetrics metrics(option.font);
    const int line = metrics.height();
    const QRect inner = option.rect.adjusted(3 * grid, 2 * grid, -3 * grid, -2 * grid);
    const QRect first(inner.left(), inner.top(), inner.width(), line);
    const QRect second(inner.left(), inner.bottom() + 1 - line, inner.width(), line);

    const QString age = models::age(index.data(Role::UpdatedRole).toDateTime(), QDateTime::currentDateTimeUtc());
    painter.setPen(mutedColour(option.palette));
    painter.drawText(first, Qt::AlignVCenter | Qt::AlignRight, age);
    int right = metrics.horizontalAdvance(age) + 2 * grid;
    if (index.data(Role::WarmRole).toBool()) {
        const int size = metrics.ascent();
        paintIcon(painter, QRectF(first.right() - right - size + 1, first.center().y() - size / 2.0, size, size),
                  QStringLiteral("warm"), mutedColour(option.palette));
        right += size + grid;
    }
    QFont titleFont = option.font;
    titleFont.setWeight(look.tone == models::Tone::Attention ? QFont::DemiBold : QFont::Normal);
    painter.setFont(titleFont);
    painter.setPen(option.palette.color(QPalette::Text));
    painter.drawText(first, Qt::AlignVCenter,
                     QFontMetrics(titleFont).elidedText(index.data().toString(), Qt::ElideRight, first.width() - right));
    painter.setFont(option.font);

    const QColor colour = toneColour(look.tone, option.palette);
    const int size = metrics.ascent();
    paintIcon(painter, QRectF(second.left(), second.center().y() - size / 2.0 + 0.5, size, size), look.icon, colour);
    painter.setPen(colour);
    int left = second.left() + size + grid;
    painter.drawText(QRect(left, second.top(), second.right() - left, line), Qt::AlignVCenter, look.word);
    left += metrics.horizontalAdvance(look.word) + 2 * grid;
    QString rest = index.data(Role::AgentRole).toString();
    const int queued = index.data(Role::QueuedRole).toInt();
    if (queued > 0)
        rest += QStringLiteral(" · ") + tr("%n queued", nullptr, queued);
    painter.setPen(mutedColour(option.palette));
    painter.drawText(QRect(left, second.top(), second.right() - left + 1, line), Qt::AlignVCenter,
                     metrics.elidedText(rest, Qt::ElideRight, second.right() - left));
}

} // namespace ui
