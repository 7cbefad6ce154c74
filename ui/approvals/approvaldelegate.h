#pragma once

#include <QStyledItemDelegate>

namespace ui {

// Rows of the inbox: the state's icon before the sentence, a short countdown in red.
class ApprovalDelegate final : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;
};

} // namespace ui
