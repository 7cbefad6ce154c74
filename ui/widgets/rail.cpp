#include "ui/widgets/rail.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QAction>
#include <QBoxLayout>
#include <QEvent>
#include <QPainter>
#include <QToolButton>

namespace ui {
namespace {

constexpr int iconSize = 24;
constexpr int railWidth = 108;

} // namespace

Rail::Rail(QWidget *parent) : QWidget(parent)
{
    m_layout = new QVBoxLayout(this);
    m_layout->setContentsMargins(grid, 2 * grid, grid, 2 * grid);
    m_layout->setSpacing(grid);
    setFixedWidth(railWidth);
    setAccessibleName(tr("Pages"));
}

void Rail::add(QAction *action, const QString &icon)
{
    auto *button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    button->setAutoRaise(true);
    button->setIconSize({iconSize, iconSize});
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setAccessibleName(action->text());
    m_layout->addWidget(button);
    m_places.insert(action, {button, icon, action->text()});
    connect(action, &QAction::toggled, this, &Rail::drawIcons);
    drawIcons();
}

void Rail::addStretch()
{
    m_layout->addStretch(1);
}

void Rail::setCount(QAction *action, int count)
{
    const Place place = m_places.value(action);
    if (!place.button)
        return;
    action->setIconText(count > 0 ? QStringLiteral("%1 (%2)").arg(place.label).arg(count) : place.label);
    place.button->setAccessibleDescription(count > 0 ? tr("%1 need you").arg(count) : QString());
    QFont font = place.button->font();
    font.setBold(count > 0);
    place.button->setFont(font);
}

void Rail::drawIcons()
{
    for (auto it = m_places.begin(); it != m_places.end(); ++it)
        it.key()->setIcon(icon(it->icon, it.key()->isChecked() ? accentColour(palette()) : palette().color(QPalette::WindowText)));
}

void Rail::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        drawIcons();
    QWidget::changeEvent(event);
}

void Rail::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), cardColour(palette()));
    painter.setPen(lineColour(palette()));
    painter.drawLine(width() - 1, 0, width() - 1, height());
}

} // namespace ui
