#include "ui/sandboxes/computerstab.h"

#include "ui/sandboxes/computerpanel.h"
#include "ui/sandboxes/sandboxtable.h"
#include "ui/widgets/emptystate.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QLineEdit>
#include <QSettings>
#include <QSplitter>
#include <QStackedLayout>

namespace ui {
namespace {

constexpr int usageMs = 2000;
constexpr int panelWidth = 340;

} // namespace

ComputersTab::ComputersTab(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings), m_model(client)
{
    createViews();
    m_table->restore(m_settings, QStringLiteral("sandboxes/computers"), {17, 11, 14, 10, 14, 10, 14, 7, 6, 20});
    m_splitter->restoreState(m_settings.value(QStringLiteral("sandboxes/computers_splitter")).toByteArray());
    connect(&m_model, &models::ComputerListModel::loaded, this, [this] {
        m_problem.clear();
        m_stack->setCurrentIndex(m_model.rowCount() == 0 ? 0 : 1);
        if (m_chosen.isEmpty() && m_model.rowCount() > 0 && m_table->model()->rowCount() > 0)
            m_table->setCurrentIndex(m_table->model()->index(0, 0));
        showCurrent();
    });
    connect(&m_model, &models::ComputerListModel::failed, this, [this](const engine::Error &error) {
        if (std::exchange(m_problem, error.message) != error.message)
            emit failed(error);
    });
    connect(m_table, &SandboxTable::selectionMoved, this, [this] {
        if (const engine::Computer *computer = m_model.at(m_table->currentRow()))
            m_chosen = computer->sessionId.value;
        showCurrent();
    });
    connect(m_table, &SandboxTable::deletePressed, m_panel, &ComputerPanel::stop);
    connect(m_table, &QAbstractItemView::activated, this, [this] {
        if (const engine::Computer *computer = m_model.at(m_table->currentRow()))
            emit sessionActivated(computer->sessionId);
    });
    connect(m_panel, &ComputerPanel::sessionActivated, this, &ComputersTab::sessionActivated);
    connect(m_panel, &ComputerPanel::failed, this, &ComputersTab::failed);
    connect(m_filter, &QLineEdit::textChanged, m_table, &SandboxTable::setFilter);
    m_usage.setInterval(usageMs);
    connect(&m_usage, &QTimer::timeout, this, [this] { m_model.load(true); });
    m_tick.setInterval(1000);
    connect(&m_tick, &QTimer::timeout, &m_model, &models::ComputerListModel::tick);
}

ComputersTab::~ComputersTab()
{
    m_table->save(m_settings, QStringLiteral("sandboxes/computers"));
    m_settings.setValue(QStringLiteral("sandboxes/computers_splitter"), m_splitter->saveState());
}

void ComputersTab::createViews()
{
    m_stack = new QStackedLayout(this);
    auto *empty = new EmptyState(QStringLiteral("sandboxes"), tr("No computer is running"),
                                 tr("Each session works on a computer of its own: a container, closed off from yours, or this computer "
                                    "itself. It starts with the session's first prompt and stands here with its protections."),
                                 tr("Go to Sessions"), this);
    connect(empty, &EmptyState::actionPressed, this, &ComputersTab::sessionsAsked);
    m_stack->addWidget(empty);
    m_splitter = new QSplitter(this);
    m_splitter->setChildrenCollapsible(false);
    auto *side = new QWidget(m_splitter);
    side->setMinimumWidth(300);
    auto *layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 2 * grid, 0, 0);
    layout->setSpacing(2 * grid);
    m_filter = new QLineEdit(side);
    m_filter->setPlaceholderText(tr("Filter computers"));
    m_filter->setAccessibleName(tr("Filter computers"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(360);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(3 * grid, 0, 3 * grid, 0);
    top->addWidget(m_filter, 1);
    top->addStretch(1);
    layout->addLayout(top);
    m_table = new SandboxTable(m_model, tr("Computers"), side);
    m_table->setObjectName(QStringLiteral("computers"));
    layout->addWidget(m_table, 1);
    m_panel = new ComputerPanel(m_client, ComputerPanel::Place::Sandboxes, m_splitter);
    m_panel->setMinimumWidth(panelWidth - 60);
    m_splitter->addWidget(side);
    m_splitter->addWidget(m_panel);
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setSizes({1000, panelWidth});
    m_stack->addWidget(m_splitter);
}

void ComputersTab::showCurrent()
{
    const engine::Computer *computer = m_model.at(m_model.rowOf(m_chosen));
    if (computer)
        m_panel->setComputer(*computer);
    else
        m_panel->clear(tr("Choose a computer to see its protections."));
}

void ComputersTab::focusFilter()
{
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

void ComputersTab::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_model.load(true);
    m_usage.start();
    m_tick.start();
}

void ComputersTab::hideEvent(QHideEvent *event)
{
    m_usage.stop();
    m_tick.stop();
    QWidget::hideEvent(event);
}

} // namespace ui
