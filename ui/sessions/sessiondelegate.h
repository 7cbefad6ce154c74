#pragma once

#include <QStyledItemDelegate>

namespace ui {

// Draws the rows of a models::SessionListModel: headings, and sessions in two lines.
class SessionDelegate final : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    // The words of a row's state, also for its accessible text.
    static QString stateWord(const QModelIndex &index);

private:
    void paintHeading(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index) const;
    void paintSession(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index) const;
};

} // namespace ui
