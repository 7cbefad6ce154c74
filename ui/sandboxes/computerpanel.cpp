#include "ui/sandboxes/computerpanel.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "ui/sandboxes/checklistview.h"
#include "ui/widgets/person.h"
#include "ui/widgets/statelabel.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QFormLayout>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>

namespace ui {

ComputerPanel::ComputerPanel(engine::EngineClient &client, Place place, QWidget *parent)
    : QWidget(parent), m_client(client), m_place(place)
{
    m_none = new QLabel(this);
    m_none->setWordWrap(true);
    m_none->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_none->setForegroundRole(QPalette::PlaceholderText);
    m_none->setContentsMargins(3 * grid, 3 * grid, 3 * grid, 3 * grid);
    auto *scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *content = new QWidget(scroll);
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(3 * grid, 3 * grid, 3 * grid, 3 * grid);
    column->setSpacing(3 * grid);
    m_title = new QLabel(content);
    m_title->setFont(sizedFont(2, true));
    m_title->setWordWrap(true);
    m_title->setTextFormat(Qt::PlainText);
    m_title->setVisible(place == Place::Sandboxes);
    m_state = new StateLabel(content);
    m_form = new QFormLayout;
    m_form->setHorizontalSpacing(3 * grid);
    m_form->setVerticalSpacing(grid + 2);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    auto *caption = new QLabel(tr("State"), content);
    caption->setForegroundRole(QPalette::PlaceholderText);
    m_form->addRow(caption, m_state);
    m_checklist = new ChecklistView(content);
    column->addWidget(m_title);
    column->addLayout(m_form);
    column->addWidget(m_checklist);
    column->addStretch(1);
    scroll->setWidget(content);
    m_body = scroll;
    add(tr("Why"), m_why);
    add(tr("Agent"), m_agent);
    add(tr("Provider"), m_provider);
    add(tr("Image"), m_image);
    add(tr("Generation"), m_generation);
    add(tr("Started"), m_started);
    add(tr("Processor"), m_processor);
    add(tr("Memory"), m_memory);
    add(tr("Processes"), m_processes);
    add(tr("Warm"), m_warm);
    add(tr("Name"), m_name);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_none, 1);
    layout->addWidget(m_body, 1);
    createButtons();
    layout->addWidget(m_bar);
    connect(m_checklist, &ChecklistView::checkAsked, this, &ComputerPanel::check);
    m_tick.setInterval(1000);
    connect(&m_tick, &QTimer::timeout, this, [this] {
        if (isVisible() && !m_computer.sessionId.isEmpty())
            showFacts();
    });
    m_tick.start();
    clear(QString());
}

void ComputerPanel::createButtons()
{
    m_bar = new QWidget(this);
    m_message = new QLabel(m_bar);
    m_message->setObjectName(QStringLiteral("computerMessage"));
    m_message->setWordWrap(true);
    m_message->setForegroundRole(QPalette::PlaceholderText);
    m_message->hide();
    const auto button = [this](const QString &text, const char *name) {
        auto *made = new QPushButton(text, m_bar);
        made->setObjectName(QLatin1String(name));
        return made;
    };
    m_pause = button(tr("Pause"), "pauseComputer");
    m_resume = button(tr("Resume"), "resumeComputer");
    m_stop = button(tr("Stop"), "stopComputer");
    m_open = button(tr("Open session"), "openComputerSession");
    m_copy = button(tr("Copy id"), "copyComputerId");
    auto *buttons = new QGridLayout(m_bar);
    buttons->setContentsMargins(3 * grid, 2 * grid, 3 * grid, 3 * grid);
    buttons->setSpacing(2 * grid);
    buttons->addWidget(m_message, 0, 0, 1, 6);
    buttons->addWidget(m_pause, 1, 0, 1, 2);
    buttons->addWidget(m_resume, 1, 2, 1, 2);
    buttons->addWidget(m_stop, 1, 4, 1, 2);
    buttons->addWidget(m_open, 2, 0, 1, 3);
    buttons->addWidget(m_copy, 2, 3, 1, 3);
    m_open->setVisible(m_place == Place::Sandboxes);
    m_copy->setVisible(m_place == Place::Sandboxes);
    connect(m_pause, &QPushButton::clicked, this,
            [this] { act(m_client.pauseComputer(m_computer.sessionId, personName()), tr("Pausing…")); });
    connect(m_resume, &QPushButton::clicked, this,
            [this] { act(m_client.resumeComputer(m_computer.sessionId, personName()), tr("Resuming…")); });
    connect(m_stop, &QPushButton::clicked, this, &ComputerPanel::stop);
    connect(m_open, &QPushButton::clicked, this, [this] { emit sessionActivated(m_computer.sessionId); });
    connect(m_copy, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(m_computer.id);
        m_message->setText(tr("Copied %1.").arg(models::shortId(m_computer.id)));
        m_message->show();
    });
}

void ComputerPanel::add(const QString &label, QLabel *&value)
{
    auto *caption = new QLabel(label, m_state->parentWidget());
    caption->setForegroundRole(QPalette::PlaceholderText);
    value = new QLabel(m_state->parentWidget());
    value->setTextFormat(Qt::PlainText);
    value->setWordWrap(true);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    value->setAccessibleName(label);
    m_form->addRow(caption, value);
}

void ComputerPanel::fill(QLabel *value, const QString &text, const QString &tip)
{
    value->setText(text);
    value->setToolTip(tip);
    value->setVisible(!text.isEmpty());
    m_form->labelForField(value)->setVisible(!text.isEmpty());
}

void ComputerPanel::setComputer(const engine::Computer &computer)
{
    const bool isOther = computer.sessionId != m_computer.sessionId;
    const bool isNew = isOther || computer.id != m_computer.id || computer.generation != m_computer.generation ||
                       computer.state != m_computer.state;
    m_computer = computer;
    if (isOther) {
        m_doing.clear();
        m_message->hide();
    }
    if (isNew)
        m_asked = false;
    m_none->hide();
    m_body->show();
    m_bar->show();
    showFacts();
    showButtons();
    if (isNew)
        showProof();
}

void ComputerPanel::clear(const QString &why)
{
    m_computer = {};
    ++m_epoch;
    m_doing.clear();
    m_asked = false;
    m_none->setText(why);
    m_none->show();
    m_body->hide();
    m_bar->hide();
}

void ComputerPanel::showFacts()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const engine::Computer &one = m_computer;
    const bool isStopped = one.state == engine::ComputerState::Stopped;
    m_title->setText(one.sessionTitle.isEmpty() ? one.sessionId.value : one.sessionTitle);
    m_state->setLook(models::look(one));
    fill(m_why, one.why);
    fill(m_agent, one.agentName);
    fill(m_provider, models::providerName(one.provider));
    fill(m_image, one.image);
    fill(m_generation, one.generation > 0 ? QString::number(one.generation) : QString(),
         tr("How many computers this session has had"));
    fill(m_started, one.startedAt.isValid() ? models::relativeTime(one.startedAt, now) : QString(), models::exactUtc(one.startedAt));
    fill(m_processor, isStopped || one.cpuPercent < 0 ? QString() : models::processorText(one.cpuPercent), tr("100 % is one processor"));
    fill(m_memory, isStopped || (one.memoryBytes < 0 && one.memoryLimit <= 0) ? QString()
                                                                            : models::memoryText(one.memoryBytes, one.memoryLimit));
    fill(m_processes, isStopped || one.processes < 0 ? QString() : QString::number(one.processes));
    fill(m_warm, models::warmText(one.warmUntil, now), models::exactUtc(one.warmUntil));
    fill(m_name, one.name, one.id);
}

// What stands below "Protections": read back now, or why there is nothing to read.
void ComputerPanel::showProof()
{
    ++m_epoch;
    m_hasToCheck = false;
    m_checklist->setChecking(false);
    const QString nothing = tr("There is nothing to check.");
    if (!m_computer.isolated) {
        m_checklist->showSentence(QStringLiteral("warning"), models::Tone::Attention,
                                  tr("No isolation. The harness runs as you on this computer and can do what you can."));
        m_checklist->setCheckProblem(nothing);
    } else if (m_computer.state == engine::ComputerState::Stopped) {
        m_checklist->showSentence(QStringLiteral("info"), models::Tone::Muted,
                                  tr("It is stopped. The next prompt makes a new computer, which is checked when it starts."));
        m_checklist->setCheckProblem(nothing);
    } else if (m_computer.state == engine::ComputerState::Paused) {
        m_checklist->showSentence(QStringLiteral("pause"), models::Tone::Attention,
                                  tr("It is frozen: nothing can look inside. Resume it to check its protections."));
        m_checklist->setCheckProblem(tr("Resume it first."));
    } else {
        m_checklist->setCheckProblem({});
        m_checklist->showProtections({}, {});
        check();
    }
}

void ComputerPanel::check()
{
    if (!isVisible()) { // costs the container engine something; asked when it is looked at
        m_hasToCheck = true;
        return;
    }
    const int epoch = ++m_epoch;
    m_checklist->setChecking(true);
    models::onReply(m_client.checklist(m_computer.sessionId), this,
                    [this, epoch](const engine::Result<QList<engine::Protection>> &result) {
                        if (epoch != m_epoch)
                            return;
                        m_checklist->setChecking(false);
                        if (result) {
                            m_checklist->showProtections(*result, QDateTime::currentDateTimeUtc());
                            return;
                        }
                        m_checklist->showSentence(QStringLiteral("warning"), models::Tone::Danger,
                                                  tr("Not proved: %1").arg(result.error().message));
                        emit failed(result.error());
                    });
}

void ComputerPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (std::exchange(m_hasToCheck, false))
        QMetaObject::invokeMethod(this, &ComputerPanel::check, Qt::QueuedConnection);
}

QString ComputerPanel::stopProblem() const
{
    if (m_computer.state == engine::ComputerState::Stopped)
        return tr("It is stopped.");
    return m_computer.inTurn ? tr("A run is active in it. Cancel the run first.") : QString();
}

void ComputerPanel::showButtons()
{
    const auto set = [this](QPushButton *button, const QString &problem, const QString &effect) {
        const QString why = m_doing.isEmpty() ? problem : m_doing;
        button->setEnabled(why.isEmpty());
        button->setToolTip(why.isEmpty() ? effect : why);
    };
    const bool isStopped = m_computer.state == engine::ComputerState::Stopped;
    const bool isPaused = m_computer.state == engine::ComputerState::Paused;
    const QString unable = m_computer.canPause ? QString()
                                               : tr("Not supported: %1 cannot be paused.").arg(models::providerName(m_computer.provider));
    set(m_pause, !unable.isEmpty() ? unable : isStopped ? tr("It is stopped.") : isPaused ? tr("It is frozen already.") : QString(),
        tr("Freezes every process in it; nothing is lost."));
    set(m_resume, !unable.isEmpty() ? unable : isStopped ? tr("It is stopped.") : !isPaused ? tr("It is not frozen.") : QString(),
        tr("Goes on where it was frozen."));
    set(m_stop, stopProblem(), tr("Workspace and conversation stay; the next prompt makes a new computer (Delete)."));
    if (!stopProblem().isEmpty())
        m_asked = false;
    m_stop->setText(m_asked ? tr("Really stop") : tr("Stop"));
    m_copy->setEnabled(!m_computer.id.isEmpty());
    m_copy->setToolTip(m_computer.id.isEmpty() ? tr("It has no id.") : m_computer.id);
}

void ComputerPanel::stop()
{
    if (m_computer.sessionId.isEmpty() || !m_stop->isEnabled())
        return;
    if (!std::exchange(m_asked, true)) {
        m_message->setText(tr("Its processes end; workspace and conversation stay. Press once more to stop it."));
        m_message->show();
        showButtons();
        return;
    }
    m_asked = false;
    act(m_client.stopComputer(m_computer.sessionId, personName()), tr("Stopping…"));
}

void ComputerPanel::act(const QFuture<engine::Result<void>> &answer, const QString &doing)
{
    m_doing = doing;
    m_message->setText(doing);
    m_message->show();
    showButtons();
    models::onReply(answer, this, [this, id = m_computer.sessionId](const engine::Result<void> &result) {
        if (id == m_computer.sessionId) {
            m_doing.clear();
            m_message->hide();
            showButtons();
        }
        if (!result)
            emit failed(result.error());
    });
}

} // namespace ui
