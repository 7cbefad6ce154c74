#pragma once

#include <QHash>
#include <QWidget>

class QAction;
class QToolButton;
class QVBoxLayout;

namespace ui {

// The pages at the left edge: icon and label, a count where there is one, the last one at the foot.
class Rail final : public QWidget
{
    Q_OBJECT

public:
    explicit Rail(QWidget *parent = nullptr);

    void add(QAction *action, const QString &icon);
    void addStretch();
    void setCount(QAction *action, int count);

protected:
    void changeEvent(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void drawIcons();

    struct Place
    {
        QToolButton *button = nullptr;
        QString icon;
        QString label;
    };
    QHash<QAction *, Place> m_places;
    QVBoxLayout *m_layout = nullptr;
};

} // namespace ui
