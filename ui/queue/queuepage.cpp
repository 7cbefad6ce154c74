#include "ui/queue/queuepage.h"

#include "models/reply.h"
#include "ui/queue/trackview.h"
#include "ui/widgets/emptystate.h"
#include "ui/widgets/person.h"
#include "ui/widgets/rundetails.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QStackedLayout>

namespace ui {
namespace {

constexpr int inspectorWidth = 320;
constexpr int queueTickMs = 5000;

} // namespace

QueuePage::QueuePage(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings), m_model(client)
{
    createViews();
    connectModel();
    m_splitter->restoreState(m_settings.value(QStringLiteral("queue/splitter")).toByteArray());
    m_model.load();
}

QueuePage::~QueuePage()
{
    m_settings.setValue(QStringLiteral("queue/splitter"), m_splitter->saveState());
}

void QueuePage::createViews()
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_stats = new QLabel(this);
    m_stats->setObjectName(QStringLiteral("queueStats"));
    m_stats->setContentsMargins(grid * 3, grid * 2, grid * 3, grid * 2);
    layout->addWidget(m_stats);
    auto *body = new QWidget(this);
    m_stack = new QStackedLayout(body);
    auto *empty = new EmptyState(QStringLiteral("queue"), tr("Nothing runs and nothing waits"),
                                 tr("Each session is a track that takes one run at a time. What runs, what needs you and what "
                                    "waits behind it stands here."),
                                 tr("Go to Sessions"), body);
    connect(empty, &EmptyState::actionPressed, this, &QueuePage::sessionsAsked);
    m_stack->addWidget(empty);
    m_splitter = new QSplitter(body);
    m_splitter->setChildrenCollapsible(false);
    m_tracks = new TrackView(m_model, m_splitter);
    createInspector(m_splitter);
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setSizes({1000, inspectorWidth});
    m_stack->addWidget(m_splitter);
    layout->addWidget(body, 1);
}

void QueuePage::createInspector(QWidget *parent)
{
    auto *inspector = new QWidget(parent);
    inspector->setMinimumWidth(inspectorWidth - 60);
    auto *layout = new QVBoxLayout(inspector);
    layout->setContentsMargins(0, 0, 0, grid * 3);
    layout->setSpacing(grid * 2);
    auto *scroll = new QScrollArea(inspector);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    m_details = new RunDetails(scroll);
    scroll->setWidget(m_details);
    layout->addWidget(scroll, 1);
    m_problem = new QLabel(inspector);
    m_problem->setObjectName(QStringLiteral("queueProblem"));
    m_problem->setWordWrap(true);
    m_problem->setContentsMargins(grid * 3, 0, grid * 3, 0);
    m_problem->hide();
    layout->addWidget(m_problem);
    auto *buttons = new QHBoxLayout;
    buttons->setContentsMargins(grid * 3, 0, grid * 3, 0);
    buttons->setSpacing(grid * 2);
    m_open = new QPushButton(tr("Open session"), inspector);
    m_requeue = new QPushButton(tr("Queue again"), inspector);
    m_cancel = new QPushButton(tr("Cancel run"), inspector);
    m_open->setObjectName(QStringLiteral("openSession"));
    m_requeue->setObjectName(QStringLiteral("requeue"));
    m_cancel->setObjectName(QStringLiteral("cancel"));
    for (QPushButton *button : {m_open, m_requeue, m_cancel})
        buttons->addWidget(button);
    layout->addLayout(buttons);
}

void QueuePage::connectModel()
{
    connect(&m_model, &models::QueueModel::changed, this, [this] {
        showStats();
        showCurrent();
    });
    connect(&m_model, &models::QueueModel::failed, this, [this](const engine::Error &error) { showProblem(error.message); });
    connect(m_tracks, &TrackView::currentChanged, this, [this] {
        m_asked = false;
        m_problem->hide();
        showCurrent();
    });
    connect(m_tracks, &TrackView::opened, this, &QueuePage::sessionActivated);
    connect(m_tracks, &TrackView::cancelAsked, this, &QueuePage::cancel);
    connect(m_open, &QPushButton::clicked, this, [this] {
        if (const engine::Run *run = m_model.at(m_model.rowOf(m_tracks->current())))
            emit sessionActivated(run->sessionId);
    });
    connect(m_requeue, &QPushButton::clicked, this, &QueuePage::requeue);
    connect(m_cancel, &QPushButton::clicked, this, &QueuePage::cancel);
    m_tick.setInterval(queueTickMs);
    connect(&m_tick, &QTimer::timeout, this, [this] {
        showStats();
        m_tracks->viewport()->update();
    });
    m_tick.start();
    showStats();
    showCurrent();
}

void QueuePage::showStats()
{
    const models::QueueStats stats = m_model.stats();
    QStringList words{tr("%1 running").arg(stats.running), tr("%1 need you").arg(stats.paused),
                      tr("%1 waiting").arg(stats.waiting)};
    if (stats.oldestWait.isValid())
        words.append(tr("oldest waits %1").arg(models::age(stats.oldestWait, QDateTime::currentDateTimeUtc())));
    m_stats->setText(words.join(QStringLiteral("   ·   ")));
    m_stats->setToolTip(models::exactUtc(stats.oldestWait));
    m_stack->setCurrentIndex(m_model.rowCount() == 0 ? 0 : 1);
}

void QueuePage::showCurrent()
{
    const engine::Run *run = m_model.at(m_model.rowOf(m_tracks->current()));
    if (run)
        m_details->setRun(*run);
    else
        m_details->clear();
    const bool isActive = run && (run->state == engine::RunState::Running || run->state == engine::RunState::Paused);
    const bool isFailed = run && run->state == engine::RunState::Error;
    m_open->setEnabled(run);
    m_requeue->setVisible(isFailed);
    m_cancel->setVisible(!isFailed);
    m_cancel->setEnabled(run && !isFailed && !run->cancelRequested);
    m_cancel->setText(m_asked && isActive ? tr("Really cancel") : tr("Cancel run"));
    m_cancel->setToolTip(!run                 ? tr("Choose a run first")
                         : run->cancelRequested ? tr("It is being cancelled")
                                                : tr("Ends this run (Delete)"));
}

void QueuePage::cancel()
{
    const engine::Run *run = m_model.at(m_model.rowOf(m_tracks->current()));
    if (!run || engine::isTerminal(run->state))
        return;
    if (run->state != engine::RunState::Pending && !m_asked) {
        m_asked = true;
        showCurrent();
        showProblem(tr("The run is under way: what it did so far stays, the rest does not happen. Press once more to cancel it."));
        return;
    }
    m_asked = false;
    m_problem->hide();
    m_cancel->setEnabled(false);
    models::onReply(m_client.cancelRun(run->id, personName()), this, [this](const engine::Result<engine::Run> &result) {
        if (!result)
            showProblem(result.error().message);
        showCurrent();
    });
}

void QueuePage::requeue()
{
    m_requeue->setEnabled(false);
    models::onReply(m_client.requeueRun(m_tracks->current(), personName()), this, [this](const engine::Result<engine::Run> &result) {
        m_requeue->setEnabled(true);
        if (!result)
            showProblem(result.error().message);
        showCurrent();
    });
}

void QueuePage::showProblem(const QString &text)
{
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, toneColour(models::Tone::Danger, colours));
    m_problem->setPalette(colours);
    m_problem->setText(text);
    m_problem->show();
}

void QueuePage::focusFilter()
{
    m_tracks->setFocus(Qt::ShortcutFocusReason);
}

} // namespace ui
