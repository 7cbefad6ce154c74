#include "ui/sandboxes/sandboxespage.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "ui/sandboxes/buildpanel.h"
#include "ui/sandboxes/computerstab.h"
#include "ui/sandboxes/imagestab.h"
#include "ui/sandboxes/leftoverstab.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QEvent>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>

namespace ui {

SandboxesPage::SandboxesPage(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    createProblem();
    layout->addWidget(m_problem);
    m_tabs = new QTabWidget(this);
    m_tabs->setDocumentMode(true);
    m_computers = new ComputersTab(client, settings, m_tabs);
    m_leftovers = new LeftoversTab(client, settings, m_tabs);
    m_images = new ImagesTab(client, settings, m_tabs);
    m_computers->setObjectName(QStringLiteral("computersTab"));
    m_leftovers->setObjectName(QStringLiteral("leftoversTab"));
    m_images->setObjectName(QStringLiteral("imagesTab"));
    m_tabs->addTab(m_computers, tr("Computers"));
    m_tabs->addTab(m_leftovers, tr("Leftovers"));
    m_tabs->addTab(m_images, tr("Images"));
    layout->addWidget(m_tabs, 1);
    m_tabs->setCurrentIndex(m_settings.value(QStringLiteral("sandboxes/tab"), 0).toInt());
    connectTabs();
    readEngine();
}

SandboxesPage::~SandboxesPage()
{
    m_settings.setValue(QStringLiteral("sandboxes/tab"), m_tabs->currentIndex());
}

void SandboxesPage::createProblem()
{
    m_problem = new QFrame(this);
    m_problem->setObjectName(QStringLiteral("engineProblem"));
    m_problem->setAutoFillBackground(true);
    m_problem->setAccessibleName(tr("The container engine"));
    m_problemIcon = new QLabel(m_problem);
    m_problemTitle = new QLabel(m_problem);
    m_problemTitle->setFont(sizedFont(0, true));
    m_problemText = new QLabel(m_problem);
    m_problemText->setWordWrap(true);
    m_problemText->setTextFormat(Qt::PlainText);
    m_problemText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_retry = new QPushButton(tr("Try again"), m_problem);
    m_retry->setObjectName(QStringLiteral("retryEngine"));
    auto *copy = new QPushButton(tr("Copy"), m_problem);
    connect(m_retry, &QPushButton::clicked, this, &SandboxesPage::readEngine);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_engine.problem); });
    auto *words = new QVBoxLayout;
    words->setSpacing(grid);
    words->addWidget(m_problemTitle);
    words->addWidget(m_problemText);
    auto *layout = new QHBoxLayout(m_problem);
    layout->setContentsMargins(3 * grid, 2 * grid, 3 * grid, 2 * grid);
    layout->setSpacing(2 * grid);
    layout->addWidget(m_problemIcon, 0, Qt::AlignTop);
    layout->addLayout(words, 1);
    layout->addWidget(m_retry, 0, Qt::AlignTop);
    layout->addWidget(copy, 0, Qt::AlignTop);
    m_problem->hide();
    drawProblem();
}

void SandboxesPage::connectTabs()
{
    connect(m_computers, &ComputersTab::sessionActivated, this, &SandboxesPage::sessionActivated);
    connect(m_computers, &ComputersTab::sessionsAsked, this, &SandboxesPage::sessionsAsked);
    connect(m_computers, &ComputersTab::failed, this, &SandboxesPage::failed);
    connect(m_leftovers, &LeftoversTab::sessionActivated, this, &SandboxesPage::sessionActivated);
    connect(m_leftovers, &LeftoversTab::failed, this, &SandboxesPage::failed);
    connect(m_images, &ImagesTab::failed, this, &SandboxesPage::failed);
    connect(&m_client, &engine::EngineClient::started, this, &SandboxesPage::readEngine);
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        if (!batch.computersChanged)
            return;
        readEngine();
        if (!isVisible())
            return;
        m_computers->load();
        if (m_leftovers->isVisible())
            m_leftovers->load();
    });
}

void SandboxesPage::readEngine()
{
    m_retry->setEnabled(false);
    models::onReply(m_client.sandboxEngine(), this, [this](const engine::Result<engine::SandboxEngine> &result) {
        m_retry->setEnabled(true);
        if (!result) {
            emit failed(result.error());
            return;
        }
        const bool isBack = m_isEngineKnown && result->available && !m_engine.available;
        m_engine = *result;
        m_isEngineKnown = true;
        showEngine();
        if (isBack && isVisible()) {
            m_computers->load();
            m_leftovers->load();
            m_images->load();
        }
    });
}

void SandboxesPage::showEngine()
{
    m_problemTitle->setText(models::engineWords(m_engine));
    m_problemText->setText(m_engine.problem);
    m_problem->setVisible(!m_engine.available);
    m_images->build()->setEngineProblem(m_engine.available ? QString() : m_engine.problem + u' ');
    emit engineChanged(m_engine);
}

void SandboxesPage::drawProblem()
{
    const QPalette base = QApplication::palette();
    m_problemIcon->setPixmap(
        iconPixmap(QStringLiteral("warning"), toneColour(models::Tone::Attention, base), 5 * grid, devicePixelRatioF()));
    QPalette colours = base;
    colours.setColor(QPalette::Window, toneFill(models::Tone::Attention, base));
    m_problem->setPalette(colours);
}

void SandboxesPage::showTab(const QString &name)
{
    QWidget *tabs[] = {m_computers, m_leftovers, m_images};
    const qsizetype place = QStringList{QStringLiteral("computers"), QStringLiteral("leftovers"), QStringLiteral("images")}.indexOf(name);
    if (place >= 0)
        m_tabs->setCurrentWidget(tabs[place]);
}

void SandboxesPage::focusFilter()
{
    if (m_tabs->currentWidget() == m_computers)
        m_computers->focusFilter();
    else if (m_tabs->currentWidget() == m_leftovers)
        m_leftovers->focusFilter();
    else
        m_images->focusFilter();
}

void SandboxesPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_isEngineKnown)
        readEngine();
}

void SandboxesPage::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    // The application's own change is told to windows only.
    if (event->type() == QEvent::PaletteChange && m_problem)
        drawProblem();
}

} // namespace ui
