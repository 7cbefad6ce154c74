#include "ui/widgets/banner.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>

namespace ui {

Banner::Banner(QWidget *parent) : QFrame(parent)
{
    m_icon = new QLabel(this);
    m_title = new QLabel(this);
    m_title->setWordWrap(true);
    m_title->setTextFormat(Qt::PlainText);
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_detail = new QLabel(this);
    m_detail->setWordWrap(true);
    m_detail->setTextFormat(Qt::PlainText);
    m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_detail->hide();
    m_details = new QPushButton(tr("Details"), this);
    m_details->setCheckable(true);
    m_open = new QPushButton(tr("Open session"), this);
    auto *copy = new QPushButton(tr("Copy"), this);
    auto *dismiss = new QPushButton(tr("Dismiss"), this);
    connect(m_details, &QPushButton::toggled, m_detail, &QLabel::setVisible);
    connect(m_open, &QPushButton::clicked, this, [this] { emit sessionActivated(m_notice.sessionId); });
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text()); });
    connect(dismiss, &QPushButton::clicked, this, &Banner::dismiss);

    auto *words = new QVBoxLayout;
    words->setSpacing(grid);
    words->addWidget(m_title);
    words->addWidget(m_detail);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(3 * grid, 2 * grid, 3 * grid, 2 * grid);
    layout->addWidget(m_icon, 0, Qt::AlignTop);
    layout->addLayout(words, 1);
    for (QPushButton *button : {m_open, m_details, copy, dismiss})
        layout->addWidget(button, 0, Qt::AlignTop);
    setAutoFillBackground(true);
    setAccessibleName(tr("News"));
    QFrame::hide();
}

void Banner::show(const engine::Notice &notice)
{
    if (isVisible() && m_notice.level == engine::Notice::Level::Error && notice.level != engine::Notice::Level::Error)
        return;
    m_notice = notice;
    m_title->setText(notice.title);
    m_detail->setText(notice.detail);
    m_details->setVisible(!notice.detail.isEmpty());
    m_details->setChecked(false);
    m_open->setVisible(!notice.sessionId.isEmpty());
    setAccessibleDescription(notice.title);
    drawLevel();
    QFrame::show();
}

void Banner::showError(const engine::Error &error)
{
    show(engine::Notice{engine::Notice::Level::Error, error.message, error.detail, {}});
}

void Banner::dismiss()
{
    m_notice = {};
    hide();
}

QString Banner::text() const
{
    return m_notice.detail.isEmpty() ? m_notice.title : m_notice.title + u'\n' + m_notice.detail;
}

void Banner::drawLevel()
{
    const models::Tone tone = m_notice.level == engine::Notice::Level::Error     ? models::Tone::Danger
                              : m_notice.level == engine::Notice::Level::Warning ? models::Tone::Attention
                                                                                 : models::Tone::Info;
    m_icon->setPixmap(iconPixmap(QStringLiteral("warning"), toneColour(tone, palette()), 5 * grid, devicePixelRatioF()));
    QPalette colours = palette();
    colours.setColor(QPalette::Window, toneFill(tone, palette()));
    setPalette(colours);
}

void Banner::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::ApplicationPaletteChange) {
        setPalette({});
        drawLevel();
    }
    QFrame::changeEvent(event);
}

} // namespace ui
