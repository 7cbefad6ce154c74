#include "ui/approvals/approvalspage.h"

#include "models/reply.h"
#include "models/approvalinput.h"
#include "models/displaytext.h"
#include "ui/approvals/approvaldelegate.h"
#include "ui/approvals/contextpane.h"
#include "ui/approvals/jointpanel.h"
#include "ui/widgets/approvalcard.h"
#include "ui/widgets/emptystate.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QStackedLayout>
#include <QTabBar>
#include <QTableView>
#include <QTableWidget>

namespace ui {
namespace {

constexpr int listWidth = 430;
constexpr int contextWidth = 270;

void styleTable(QTableView *table)
{
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setFrameShape(QFrame::NoFrame);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().lineSpacing() + grid * 3);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

} // namespace

ApprovalsPage::ApprovalsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings), m_pending(client, models::ApprovalListModel::Mode::Pending),
      m_history(client, models::ApprovalListModel::Mode::History)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    createHeader(layout);
    connectModels(); // before the views connect: they move their current row when one goes
    createViews(layout);
    connectCard();
    createShortcuts();
    m_splitter->restoreState(m_settings.value(QStringLiteral("approvals/splitter")).toByteArray());
    m_pending.load();
    m_history.load();
    readSwitch();
    showLists();
}

ApprovalsPage::~ApprovalsPage()
{
    m_settings.setValue(QStringLiteral("approvals/splitter"), m_splitter->saveState());
}

void ApprovalsPage::createHeader(QVBoxLayout *layout)
{
    auto *line = new QHBoxLayout;
    line->setContentsMargins(grid * 3, grid * 2, grid * 3, grid);
    line->setSpacing(grid * 3);
    m_tabs = new QTabBar(this);
    m_tabs->setObjectName(QStringLiteral("approvalTabs"));
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    for (const QString &name : {tr("Pending"), tr("History"), tr("Audit")})
        m_tabs->addTab(name);
    connect(m_tabs, &QTabBar::currentChanged, this, &ApprovalsPage::showTab);
    line->addWidget(m_tabs);
    line->addStretch(1);
    m_continue = new QCheckBox(tr("Continue after resolving"), this);
    m_continue->setObjectName(QStringLiteral("continueAfter"));
    m_continue->setToolTip(tr("On: a decision goes to the harness at once. Off: it waits for Continue."));
    connect(m_continue, &QCheckBox::clicked, this, [this](bool on) {
        models::onReply(m_client.setSetting(QStringLiteral("approvals.continue_after_resolving"),on ? QStringLiteral("true") : QStringLiteral("false"), personName()), this, [this](const engine::Result<void> &) { readSwitch(); });
    });
    line->addWidget(m_continue);
    m_filter = new QLineEdit(this);
    m_filter->setObjectName(QStringLiteral("approvalFilter"));
    m_filter->setPlaceholderText(tr("Filter (/)"));
    m_filter->setAccessibleName(tr("Filter approvals"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(260);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_pending.setFilter(text);
        m_history.setFilter(text);
    });
    connect(m_filter, &QLineEdit::returnPressed, this, [this] { currentTable()->setFocus(); });
    line->addWidget(m_filter, 1);
    layout->addLayout(line);
}

QTableView *ApprovalsPage::createTable(models::ApprovalListModel &model, QWidget *parent)
{
    using Model = models::ApprovalListModel;
    auto *table = new QTableView(parent);
    table->setModel(&model);
    table->setItemDelegate(new ApprovalDelegate(table));
    styleTable(table);
    QHeaderView *header = table->horizontalHeader();
    const int digit = fontMetrics().horizontalAdvance(u'0');
    header->setMinimumSectionSize(28);
    header->setSectionResizeMode(Model::Chosen, QHeaderView::Fixed);
    header->resizeSection(Model::Chosen, 30);
    header->resizeSection(Model::Age, digit * 7);
    header->resizeSection(Model::Left, digit * (&model == &m_pending ? 8 : 18));
    header->resizeSection(Model::Agent, digit * 10);
    header->setSectionResizeMode(Model::What, QHeaderView::Stretch);
    header->resizeSection(Model::Session, digit * 12);
    if (&model == &m_history)
        table->setColumnHidden(Model::Chosen, true);
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this, &model](const QModelIndex &current) {
                if (!m_guard && current.isValid())
                    showRow(model, current.row());
            });
    connect(table, &QTableView::activated, this, [this] { m_card->focusDeny(); });
    return table;
}

void ApprovalsPage::createViews(QVBoxLayout *layout)
{
    m_splitter = new QSplitter(this);
    m_splitter->setChildrenCollapsible(false);
    auto *lists = new QWidget(m_splitter);
    lists->setMinimumWidth(280);
    m_lists = new QStackedLayout(lists);
    m_pendingTable = createTable(m_pending, lists);
    m_pendingTable->setObjectName(QStringLiteral("pendingTable"));
    m_pendingTable->setAccessibleName(tr("Pending approvals"));
    m_historyTable = createTable(m_history, lists);
    m_historyTable->setObjectName(QStringLiteral("historyTable"));
    m_historyTable->setAccessibleName(tr("Decided approvals"));
    m_audit = new QTableWidget(0, 5, lists);
    m_audit->setObjectName(QStringLiteral("auditTable"));
    m_audit->setAccessibleName(tr("Audit"));
    m_audit->setHorizontalHeaderLabels({tr("When"), tr("Who"), tr("What"), tr("Subject"), tr("Result")});
    styleTable(m_audit);
    m_audit->horizontalHeader()->setStretchLastSection(true);
    auto *empty = new EmptyState(QStringLiteral("approvals"), tr("Nothing needs you"),
                                 tr("When an agent asks before it acts, its request waits here until you decide. Nothing runs "
                                    "by itself in the meantime."),
                                 tr("Go to Sessions"), lists);
    connect(empty, &EmptyState::actionPressed, this, &ApprovalsPage::sessionsAsked);
    m_pendingEmpty = empty;
    m_historyEmpty = new QLabel(tr("Nothing was decided yet."), lists);
    m_historyEmpty->setAlignment(Qt::AlignCenter);
    m_historyEmpty->setForegroundRole(QPalette::PlaceholderText);
    for (QWidget *view : {static_cast<QWidget *>(m_pendingTable), static_cast<QWidget *>(m_historyTable),
                          static_cast<QWidget *>(m_audit), m_pendingEmpty, static_cast<QWidget *>(m_historyEmpty)})
        m_lists->addWidget(view);

    auto *main = new QWidget(m_splitter);
    main->setMinimumWidth(420);
    m_main = new QStackedLayout(main);
    auto *scroll = new QScrollArea(main);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *holder = new QWidget(scroll);
    auto *column = new QVBoxLayout(holder);
    column->setContentsMargins(grid * 3, grid * 2, grid * 3, grid * 3);
    m_card = new ApprovalCard(m_client, holder);
    m_card->hide();
    column->addWidget(m_card);
    m_question = new QLabel(holder);
    m_question->setObjectName(QStringLiteral("riskQuestion"));
    m_question->setWordWrap(true);
    m_question->hide();
    column->addWidget(m_question);
    column->addStretch(1);
    scroll->setWidget(holder);
    m_main->addWidget(scroll);
    auto *joint = new QWidget(main);
    auto *jointColumn = new QVBoxLayout(joint);
    jointColumn->setContentsMargins(grid * 3, grid * 2, grid * 3, grid * 3);
    m_joint = new JointPanel(m_client, joint);
    jointColumn->addWidget(m_joint);
    jointColumn->addStretch(1);
    m_main->addWidget(joint);

    auto *contextScroll = new QScrollArea(m_splitter);
    contextScroll->setFrameShape(QFrame::NoFrame);
    contextScroll->setWidgetResizable(true);
    contextScroll->setMinimumWidth(180);
    m_context = new ContextPane(m_client, contextScroll);
    contextScroll->setWidget(m_context);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setSizes({listWidth, 640, contextWidth});
    layout->addWidget(m_splitter, 1);
}

models::ApprovalListModel &ApprovalsPage::currentModel()
{
    return m_tabs->currentIndex() == HistoryTab ? m_history : m_pending;
}

QTableView *ApprovalsPage::currentTable() const
{
    return m_tabs->currentIndex() == PendingTab   ? m_pendingTable
           : m_tabs->currentIndex() == HistoryTab ? m_historyTable
                                                  : m_audit;
}

} // namespace ui
