#pragma once

#include "engine/types/approval.h"

#include <QWidget>

namespace ui {

// The six moments of an approval as dots on a line: requested, seen, decided, written, acknowledged, executed.
// Reached ones are filled and carry their time; one that should have come and has not is a warning.
class ReceiptStrip final : public QWidget
{
    Q_OBJECT

public:
    explicit ReceiptStrip(QWidget *parent = nullptr);

    void setApproval(const engine::Approval &approval);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    struct Step
    {
        QString word;
        QDateTime at;
        QString note;
        bool stalled = false;
    };
    QRectF cell(qsizetype index) const;

    QList<Step> m_steps;
};

} // namespace ui
