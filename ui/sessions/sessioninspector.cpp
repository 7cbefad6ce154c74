#include "ui/sessions/sessioninspector.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "models/sessionfollower.h"
#include "ui/sandboxes/computerpanel.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/person.h"
#include "ui/widgets/rundetails.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QTableWidget>

namespace ui {
namespace {

constexpr int rawLines = 500;
constexpr int rawRefreshMs = 500;
constexpr int computerRefreshMs = 200;
constexpr int rawPreview = 400;

QTableWidget *inspectorTable(const QStringList &headings, const QString &name, QWidget *parent)
{
    auto *table = new QTableWidget(0, int(headings.size()), parent);
    table->setHorizontalHeaderLabels(headings);
    table->setAccessibleName(name);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 2 * grid);
    table->horizontalHeader()->setStretchLastSection(true);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    return table;
}

QString directionWord(engine::RawLine::Direction direction)
{
    switch (direction) {
    case engine::RawLine::Direction::ToHarness:
        return QStringLiteral("→");
    case engine::RawLine::Direction::FromHarness:
        return QStringLiteral("←");
    case engine::RawLine::Direction::FromHarnessError:
        return QStringLiteral("!");
    }
    Q_UNREACHABLE();
}

} // namespace

SessionInspector::SessionInspector(engine::EngineClient &client, models::SessionFollower &follower, QWidget *parent)
    : QWidget(parent), m_client(client), m_follower(follower)
{
    m_tabs = new QTabWidget(this);
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(createRun(), tr("Run"));
    m_tabs->addTab(createQueue(), tr("Queue"));
    m_tabs->addTab(createComputer(), tr("Computer"));
    m_tabs->addTab(createRaw(), tr("Raw"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_tabs);
    setMinimumWidth(220);

    m_rawTimer.setSingleShot(true);
    m_rawTimer.setInterval(rawRefreshMs);
    connect(&m_rawTimer, &QTimer::timeout, this, &SessionInspector::readRaw);
    m_computerTimer.setSingleShot(true);
    connect(&m_computerTimer, &QTimer::timeout, this, &SessionInspector::readComputer);
    connect(m_tabs, &QTabWidget::currentChanged, this, [this] {
        m_rawTimer.start(0);
        m_computerTimer.start(0);
    });
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        if (batch.computersChanged && !m_computerTimer.isActive())
            m_computerTimer.start(computerRefreshMs);
    });
    connect(&m_follower, &models::SessionFollower::runsChanged, this, &SessionInspector::showRuns);
    connect(&m_follower, &models::SessionFollower::sessionChanged, this, [this] {
        if (!m_computerTimer.isActive())
            m_computerTimer.start(computerRefreshMs);
        if (!m_rawTimer.isActive())
            m_rawTimer.start(rawRefreshMs);
    });
}

QWidget *SessionInspector::createRun()
{
    auto *page = new QWidget(this);
    m_details = new RunDetails(page);
    auto *area = new QScrollArea(page);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidget(m_details);
    m_requeue = new QPushButton(tr("Run again"), page);
    m_requeue->setToolTip(tr("Puts this prompt at the end of the session's line once more."));
    m_fresh = new QPushButton(tr("Start a new conversation…"), page);
    m_fresh->setToolTip(tr("The old conversation can't be resumed. A new one remembers nothing of it."));
    connect(m_requeue, &QPushButton::clicked, this, [this] {
        const engine::Run *run = m_follower.newestRun();
        if (!run)
            return;
        models::onReply(m_client.requeueRun(run->id, personName()), this, [this](const engine::Result<engine::Run> &result) {
            if (!result)
                emit failed(result.error());
        });
    });
    connect(m_fresh, &QPushButton::clicked, this, &SessionInspector::startFresh);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(2 * grid, 2 * grid, 2 * grid, 2 * grid);
    layout->addWidget(area, 1);
    layout->addWidget(m_requeue);
    layout->addWidget(m_fresh);
    m_requeue->hide();
    m_fresh->hide();
    return page;
}

QWidget *SessionInspector::createQueue()
{
    auto *page = new QWidget(this);
    m_lineEmpty = new QLabel(tr("Nothing waits in this session. Prompts that you send while a run is under way line up here."), page);
    m_lineEmpty->setWordWrap(true);
    m_line = inspectorTable({tr("#"), tr("State"), tr("Prompt"), tr("Why it waits")}, tr("This session's line"), page);
    m_cancel = new QPushButton(tr("Cancel this run"), page);
    m_cancel->setEnabled(false);
    m_cancel->setToolTip(tr("Choose a run in the list first."));
    connect(m_line, &QTableWidget::itemSelectionChanged, this, [this] {
        m_cancel->setEnabled(m_line->currentRow() >= 0);
        m_cancel->setToolTip(m_cancel->isEnabled() ? QString() : tr("Choose a run in the list first."));
    });
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (const QTableWidgetItem *item = m_line->item(m_line->currentRow(), 0))
            emit cancelAsked(engine::RunId{item->data(Qt::UserRole).toString()});
    });
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(2 * grid, 2 * grid, 2 * grid, 2 * grid);
    layout->addWidget(m_lineEmpty);
    layout->addWidget(m_line, 1);
    layout->addWidget(m_cancel);
    return page;
}

QWidget *SessionInspector::createComputer()
{
    m_computer = new ComputerPanel(m_client, ComputerPanel::Place::Session, this);
    connect(m_computer, &ComputerPanel::failed, this, &SessionInspector::failed);
    return m_computer;
}

QWidget *SessionInspector::createRaw()
{
    auto *splitter = new QSplitter(Qt::Vertical, this);
    m_raw = inspectorTable({tr("Time"), QString(), tr("Line")}, tr("Lines between engine and harness"), splitter);
    m_raw->setColumnWidth(0, m_raw->fontMetrics().horizontalAdvance(QStringLiteral("00:00:00.000")) + 4 * grid);
    m_raw->setColumnWidth(1, 6 * grid);
    m_rawText = new QPlainTextEdit(splitter);
    m_rawText->setReadOnly(true);
    m_rawText->setFont(monospaceFont());
    m_rawText->setAccessibleName(tr("The chosen line"));
    splitter->addWidget(m_raw);
    splitter->addWidget(m_rawText);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 1);
    connect(m_raw, &QTableWidget::itemSelectionChanged, this, [this] {
        const QTableWidgetItem *item = m_raw->item(m_raw->currentRow(), 2);
        m_rawText->setPlainText(item ? item->data(Qt::UserRole).toString() : QString());
    });
    return splitter;
}

void SessionInspector::showQueue()
{
    m_tabs->setCurrentIndex(1);
}

void SessionInspector::showRuns()
{
    const engine::Run *active = m_follower.activeRun();
    const engine::Run *shown = active ? active : m_follower.newestRun();
    if (shown)
        m_details->setRun(*shown);
    else
        m_details->clear();
    const bool failed = shown && (shown->state == engine::RunState::Error || shown->state == engine::RunState::Cancelled);
    m_requeue->setVisible(failed);
    m_fresh->setVisible(failed && shown->errorCode == u"native_resume_failed");
    m_freshAsked = false;
    m_fresh->setText(tr("Start a new conversation…"));

    QList<engine::Run> line = m_follower.waiting();
    if (active)
        line.prepend(*active);
    m_line->setRowCount(int(line.size()));
    for (int row = 0; row < line.size(); ++row) {
        const engine::Run &run = line.at(row);
        const models::Look look = models::look(run.state);
        auto *place = new QTableWidgetItem(run.position > 0 ? QString::number(run.position) : QString());
        place->setData(Qt::UserRole, run.id.value);
        m_line->setItem(row, 0, place);
        m_line->setItem(row, 1, new QTableWidgetItem(icon(look.icon, toneColour(look.tone, palette())), look.word));
        m_line->setItem(row, 2, new QTableWidgetItem(models::oneLine(run.prompt, 120)));
        m_line->setItem(row, 3, new QTableWidgetItem(run.waitingFor));
    }
    m_line->resizeColumnToContents(0);
    m_line->resizeColumnToContents(1);
    m_line->setVisible(!line.isEmpty());
    m_cancel->setVisible(!line.isEmpty());
    m_lineEmpty->setVisible(line.isEmpty());
    m_tabs->setTabText(1, line.size() > 1 ? tr("Queue (%1)").arg(line.size() - (active ? 1 : 0)) : tr("Queue"));
    if (!m_rawTimer.isActive())
        m_rawTimer.start(rawRefreshMs);
}

void SessionInspector::readComputer()
{
    if (m_tabs->currentWidget() != m_computer || m_follower.id().isEmpty())
        return;
    const engine::SessionId asked = m_follower.id();
    models::onReply(m_client.computers(false), this, [this, asked](const engine::Result<QList<engine::Computer>> &result) {
        if (asked != m_follower.id())
            return;
        if (!result) {
            emit failed(result.error());
            return;
        }
        for (const engine::Computer &computer : *result) {
            if (computer.sessionId == asked)
                return m_computer->setComputer(computer);
        }
        m_computer->clear(tr("This session has no computer now. Its next prompt makes one."));
    });
}

void SessionInspector::readRaw()
{
    if (!m_tabs->currentWidget()->isAncestorOf(m_raw) || m_follower.id().isEmpty())
        return;
    const engine::SessionId asked = m_follower.id();
    models::onReply(m_client.rawLines(asked, {}, rawLines), this, [this, asked](const engine::Result<QList<engine::RawLine>> &lines) {
        if (!lines) {
            emit failed(lines.error());
            return;
        }
        if (asked != m_follower.id())
            return;
        const bool atEnd = m_raw->currentRow() < 0 || m_raw->currentRow() == m_raw->rowCount() - 1;
        m_raw->setRowCount(int(lines->size()));
        for (int row = 0; row < lines->size(); ++row) {
            const engine::RawLine &line = lines->at(row);
            const QString whole = QString::fromUtf8(line.bytes);
            m_raw->setItem(row, 0, new QTableWidgetItem(line.at.toLocalTime().toString(QStringLiteral("HH:mm:ss.zzz"))));
            m_raw->item(row, 0)->setToolTip(models::exactUtc(line.at));
            m_raw->setItem(row, 1, new QTableWidgetItem(directionWord(line.direction)));
            auto *text = new QTableWidgetItem(whole.left(rawPreview));
            text->setData(Qt::UserRole, whole);
            text->setFont(monospaceFont());
            m_raw->setItem(row, 2, text);
        }
        if (atEnd)
            m_raw->scrollToBottom();
    });
}

void SessionInspector::startFresh()
{
    // Asked once in the button itself: what is given up can't be had back.
    if (!std::exchange(m_freshAsked, true)) {
        m_fresh->setText(tr("Give up the old conversation: press again"));
        return;
    }
    models::onReply(m_client.startFresh(m_follower.id(), personName()), this, [this](const engine::Result<engine::Session> &result) {
        if (!result)
            emit failed(result.error());
        m_fresh->hide();
    });
}

} // namespace ui
