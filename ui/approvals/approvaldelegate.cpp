#include "ui/approvals/approvaldelegate.h"

#include "models/approvallistmodel.h"
#include "models/displaytext.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

namespace ui {

void ApprovalDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideRight;
    const auto tone = models::Tone(index.data(models::ApprovalListModel::ToneRole).toInt());
    const bool isSelected = option->state & QStyle::State_Selected;
    const QColor colour = isSelected ? option->palette.color(QPalette::HighlightedText) : toneColour(tone, option->palette);
    if (index.column() == models::ApprovalListModel::What) {
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->icon = icon(index.data(models::ApprovalListModel::IconRole).toString(), colour);
        option->decorationSize = QSize(option->fontMetrics.ascent() + 2, option->fontMetrics.ascent() + 2);
    }
    if (index.column() == models::ApprovalListModel::Left && index.data(models::ApprovalListModel::UrgentRole).toBool()) {
        option->font.setBold(true);
        option->palette.setColor(QPalette::Text, colour);
    }
}

} // namespace ui
