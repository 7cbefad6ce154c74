#pragma once

#include "models/displaytext.h"

#include <QWidget>

namespace ui {

// A state as icon + word + colour; optionally on a quiet fill of its colour.
class StateLabel final : public QWidget
{
    Q_OBJECT

public:
    explicit StateLabel(QWidget *parent = nullptr);

    void setLook(const models::Look &look);
    const models::Look &look() const { return m_look; }
    void setFilled(bool filled);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    models::Look m_look;
    bool m_filled = false;
};

} // namespace ui
