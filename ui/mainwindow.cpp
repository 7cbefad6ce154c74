#include "ui/mainwindow.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "ui/agents/agentspage.h"
#include "ui/approvals/approvalspage.h"
#include "ui/queue/queuepage.h"
#include "ui/sandboxes/sandboxespage.h"
#include "ui/sessions/sessionspage.h"
#include "ui/settings/settingspage.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/commandpalette.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/rail.h"
#include "ui/widgets/theme.h"

#include <QAction>
#include <QActionGroup>
#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>

namespace ui {
namespace {

constexpr char geometryKey[] = "window/geometry";
constexpr char pageKey[] = "window/page";

} // namespace

MainWindow::MainWindow(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QMainWindow(parent), m_client(client), m_settings(settings)
{
    createViews();
    createActions();
    createStatusBar();
    connectPages();
    connectEngine();
    setWindowTitle(QStringLiteral("Signalbox"));
    resize(1366, 768);
    restoreGeometry(m_settings.value(QLatin1String(geometryKey)).toByteArray());
    showPage(m_settings.value(QLatin1String(pageKey), QStringLiteral("sessions")).toString());
}

MainWindow::~MainWindow()
{
    m_settings.setValue(QLatin1String(geometryKey), saveGeometry());
    m_settings.setValue(QLatin1String(pageKey), page());
}

void MainWindow::createViews()
{
    auto *central = new QWidget(this);
    m_rail = new Rail(central);
    m_banner = new Banner(central);
    m_stack = new QStackedWidget(central);
    auto *column = new QVBoxLayout;
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_stack, 1);
    auto *row = new QHBoxLayout(central);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_rail);
    row->addLayout(column, 1);
    setCentralWidget(central);
    m_palette = new CommandPalette(this);

    m_sessions = new SessionsPage(m_client, m_settings, m_stack);
    m_queue = new QueuePage(m_client, m_settings, m_stack);
    m_approvals = new ApprovalsPage(m_client, m_settings, m_stack);
    m_agents = new AgentsPage(m_client, m_settings, m_stack);
    m_sandboxes = new SandboxesPage(m_client, m_settings, m_stack);
    m_settingsPage = new SettingsPage(m_client, m_settings, m_stack);
}

QAction *MainWindow::addPage(const QString &name, const QString &label, const QString &icon, Qt::Key key, QWidget *page)
{
    auto *action = new QAction(label, this);
    action->setData(name);
    action->setCheckable(true);
    action->setShortcut(QKeySequence(QKeyCombination(Qt::ControlModifier, key)));
    action->setToolTip(QStringLiteral("%1 (%2)").arg(label, action->shortcut().toString(QKeySequence::NativeText)));
    addAction(action);
    m_stack->addWidget(page);
    m_pages.append(action);
    m_rail->add(action, icon);
    connect(action, &QAction::triggered, this, [this, name] { showPage(name); });
    return action;
}

void MainWindow::createActions()
{
    addPage(QStringLiteral("sessions"), tr("Sessions"), QStringLiteral("sessions"), Qt::Key_1, m_sessions);
    addPage(QStringLiteral("queue"), tr("Queue"), QStringLiteral("queue"), Qt::Key_2, m_queue);
    addPage(QStringLiteral("approvals"), tr("Approvals"), QStringLiteral("approvals"), Qt::Key_3, m_approvals);
    addPage(QStringLiteral("agents"), tr("Agents"), QStringLiteral("agents"), Qt::Key_4, m_agents);
    addPage(QStringLiteral("sandboxes"), tr("Sandboxes"), QStringLiteral("sandboxes"), Qt::Key_6, m_sandboxes);
    m_rail->addStretch();
    addPage(QStringLiteral("settings"), tr("Settings"), QStringLiteral("settings"), Qt::Key_5, m_settingsPage);
    auto *group = new QActionGroup(this);
    for (QAction *action : std::as_const(m_pages))
        group->addAction(action);

    const auto shortcut = [this](const QString &text, const QKeySequence &keys, auto slot) {
        auto *action = new QAction(text, this);
        action->setShortcut(keys);
        addAction(action);
        connect(action, &QAction::triggered, this, slot);
    };
    shortcut(tr("Commands"), QKeySequence(Qt::CTRL | Qt::Key_K), &MainWindow::openPalette);
    shortcut(tr("Find in page"), QKeySequence::Find, &MainWindow::findInPage);
    shortcut(tr("Quit"), QKeySequence::Quit, &QWidget::close);
}

void MainWindow::createStatusBar()
{
    m_store = new QLabel(tr("Opening the store…"), this);
    m_docker = new QToolButton(this);
    m_docker->setObjectName(QStringLiteral("dockerState"));
    m_docker->setAutoRaise(true);
    m_docker->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_docker->setIconSize({4 * grid, 4 * grid});
    m_docker->hide(); // until it is known
    connect(m_docker, &QToolButton::clicked, this, [this] { showPage(QStringLiteral("sandboxes")); });
    m_running = new QLabel(this);
    m_cost = new QLabel(this);
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(2 * grid, 0, 2 * grid, 0);
    statusBar()->addWidget(m_store, 1);
    statusBar()->addPermanentWidget(m_docker);
    statusBar()->addPermanentWidget(m_running);
    statusBar()->addPermanentWidget(m_cost);
    showCounts();
}

void MainWindow::connectPages()
{
    connect(m_sessions, &SessionsPage::approvalActivated, this, &MainWindow::openApproval);
    connect(m_sessions, &SessionsPage::failed, m_banner, &Banner::showError);
    connect(m_queue, &QueuePage::sessionActivated, this, &MainWindow::openSession);
    connect(m_queue, &QueuePage::sessionsAsked, this, [this] { showPage(QStringLiteral("sessions")); });
    connect(m_approvals, &ApprovalsPage::sessionActivated, this, &MainWindow::openSession);
    connect(m_approvals, &ApprovalsPage::sessionsAsked, this, [this] { showPage(QStringLiteral("sessions")); });
    connect(m_sandboxes, &SandboxesPage::sessionActivated, this, &MainWindow::openSession);
    connect(m_sandboxes, &SandboxesPage::sessionsAsked, this, [this] { showPage(QStringLiteral("sessions")); });
    connect(m_sandboxes, &SandboxesPage::failed, m_banner, &Banner::showError);
    connect(m_sandboxes, &SandboxesPage::engineChanged, this, &MainWindow::showSandboxEngine);
    connect(m_banner, &Banner::sessionActivated, this, &MainWindow::openSession);
}

void MainWindow::connectEngine()
{
    connect(&m_client, &engine::EngineClient::fed, this, &MainWindow::takeBatch);
    connect(&m_client, &engine::EngineClient::failed, this, &MainWindow::showFailure);
    connect(&m_client, &engine::EngineClient::started, this, &MainWindow::readStatus);
}

void MainWindow::readStatus()
{
    models::onReply(m_client.status(), this, [this](const engine::Result<engine::EngineStatus> &status) {
        if (!status)
            return showFailure(status.error());
        m_store->setText(tr("%1  ·  %2").arg(status->storeKind, status->instance));
        m_store->setToolTip(tr("%1, schema %2").arg(status->storePath).arg(status->schemaVersion));
    });
    models::onReply(m_client.counts(), this, [this](const engine::Result<engine::Counts> &counts) {
        if (!counts)
            return;
        m_counts = *counts;
        showCounts();
    });
}

void MainWindow::showFailure(const engine::Error &error)
{
    m_store->setText(tr("The store is not open"));
    m_banner->showError(error);
}

void MainWindow::takeBatch(const engine::FeedBatch &batch)
{
    for (const engine::Notice &notice : batch.notices)
        m_banner->show(notice);
    if (batch.counts != m_counts) {
        m_counts = batch.counts;
        showCounts();
    }
}

void MainWindow::showCounts()
{
    m_running->setText(tr("%1 running  ·  %2 need you  ·  %3 queued").arg(m_counts.running).arg(m_counts.paused).arg(m_counts.queued));
    m_cost->setText(tr("  ·  today %1").arg(models::money(m_counts.costTodayMicros)));
    for (QAction *action : std::as_const(m_pages)) {
        if (action->data().toString() == u"approvals")
            m_rail->setCount(action, m_counts.pendingApprovals);
    }
    setWindowTitle(m_counts.pendingApprovals > 0 ? QStringLiteral("(%1) Signalbox").arg(m_counts.pendingApprovals)
                                                 : QStringLiteral("Signalbox"));
}

void MainWindow::showSandboxEngine(const engine::SandboxEngine &engine)
{
    const models::Tone tone = engine.available ? models::Tone::Good : models::Tone::Attention;
    m_docker->setIcon(icon(engine.available ? QStringLiteral("sandboxes") : QStringLiteral("warning"), toneColour(tone, palette())));
    m_docker->setText(models::engineWords(engine));
    m_docker->setAccessibleName(m_docker->text());
    m_docker->setToolTip(engine.available ? tr("%1, API %2\n%3").arg(engine.name, engine.apiVersion, engine.socket) : engine.problem);
    m_docker->show();
}

void MainWindow::showPage(const QString &name)
{
    for (int i = 0; i < m_pages.size(); ++i) {
        if (m_pages.at(i)->data().toString() != name)
            continue;
        m_pages.at(i)->setChecked(true);
        m_stack->setCurrentIndex(i);
        return;
    }
    if (!m_pages.isEmpty())
        showPage(m_pages.first()->data().toString());
}

QString MainWindow::page() const
{
    return m_pages.at(m_stack->currentIndex())->data().toString();
}

void MainWindow::openSession(const engine::SessionId &id)
{
    showPage(QStringLiteral("sessions"));
    m_sessions->openSession(id);
}

void MainWindow::openApproval(const engine::ApprovalId &id)
{
    showPage(QStringLiteral("approvals"));
    m_approvals->openApproval(id);
}

void MainWindow::findInPage()
{
    const QString name = page();
    if (name == u"sessions" && !m_sessions->current().isEmpty())
        m_sessions->find();
    else if (name == u"sessions")
        m_sessions->focusFilter();
    else if (name == u"approvals")
        m_approvals->focusFilter();
    else if (name == u"queue")
        m_queue->focusFilter();
    else if (name == u"sandboxes")
        m_sandboxes->focusFilter();
}

void MainWindow::openPalette()
{
    QList<CommandPalette::Entry> entries;
    for (QAction *action : std::as_const(m_pages))
        entries.append({tr("Go to %1").arg(action->text()), action->shortcut().toString(QKeySequence::NativeText),
                        [action] { action->trigger(); }});
    entries.append({tr("New session"), QKeySequence(QKeySequence::New).toString(QKeySequence::NativeText), [this] {
                        showPage(QStringLiteral("sessions"));
                        m_sessions->newSession();
                    }});
    const QList<std::pair<QString, QString>> sandboxes{{tr("Show computers"), QStringLiteral("computers")},
                                                       {tr("Show leftovers"), QStringLiteral("leftovers")},
                                                       {tr("Build an image"), QStringLiteral("images")}};
    for (const auto &[title, tab] : sandboxes)
        entries.append({title, tr("Sandboxes"), [this, tab = tab] {
                            showPage(QStringLiteral("sandboxes"));
                            m_sandboxes->showTab(tab);
                        }});
    entries.append({tr("Find in page"), QKeySequence(QKeySequence::Find).toString(QKeySequence::NativeText), [this] { findInPage(); }});
    entries.append({tr("Quit"), QKeySequence(QKeySequence::Quit).toString(QKeySequence::NativeText), [this] { close(); }});
    models::onReply(m_client.sessions({}), this, [this, entries](const engine::Result<QList<engine::Session>> &sessions) mutable {
        for (const engine::Session &session : sessions.value_or(QList<engine::Session>{}))
            entries.append({session.title.isEmpty() ? session.id.value : session.title, tr("session of %1").arg(session.agentName),
                            [this, id = session.id] { openSession(id); }});
        m_palette->open(entries);
    });
}

void MainWindow::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::LanguageChange)
        showCounts();
    QMainWindow::changeEvent(event);
}

} // namespace ui
