#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace ui {

// What an empty page shows: what it is for, and the one next step.
class EmptyState final : public QWidget
{
    Q_OBJECT

public:
    EmptyState(const QString &icon, const QString &title, const QString &text, const QString &action,
               QWidget *parent = nullptr);

    QPushButton *button() const { return m_button; }

signals:
    void actionPressed();

protected:
    void changeEvent(QEvent *event) override;

private:
    void drawIcon();

    QString m_icon;
    QLabel *m_picture = nullptr;
    QPushButton *m_button = nullptr;
};

} // namespace ui
