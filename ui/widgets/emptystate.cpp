#include "ui/widgets/emptystate.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QPushButton>

namespace ui {
namespace {

constexpr int pictureSize = 48;
constexpr int textWidth = 420;

} // namespace

EmptyState::EmptyState(const QString &icon, const QString &title, const QString &text, const QString &action, QWidget *parent)
    : QWidget(parent), m_icon(icon)
{
    auto *layout = new QVBoxLayout(this);
    layout->setSpacing(grid * 2);
    layout->addStretch(2);
    m_picture = new QLabel(this);
    m_picture->setAlignment(Qt::AlignCenter);
    layout->addWidget(m_picture);
    auto *heading = new QLabel(title, this);
    heading->setFont(sizedFont(3, true));
    heading->setAlignment(Qt::AlignCenter);
    layout->addWidget(heading);
    auto *explanation = new QLabel(text, this);
    explanation->setWordWrap(true);
    explanation->setAlignment(Qt::AlignCenter);
    explanation->setForegroundRole(QPalette::PlaceholderText);
    explanation->setFixedWidth(textWidth);
    explanation->setMinimumHeight(explanation->heightForWidth(textWidth));
    layout->addWidget(explanation, 0, Qt::AlignHCenter);
    if (!action.isEmpty()) {
        m_button = new QPushButton(action, this);
        layout->addSpacing(grid);
        layout->addWidget(m_button, 0, Qt::AlignHCenter);
        connect(m_button, &QPushButton::clicked, this, &EmptyState::actionPressed);
    }
    layout->addStretch(3);
    drawIcon();
}

void EmptyState::drawIcon()
{
    m_picture->setPixmap(iconPixmap(m_icon, mutedColour(palette()), pictureSize, devicePixelRatioF()));
}

void EmptyState::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        drawIcon();
}

} // namespace ui
