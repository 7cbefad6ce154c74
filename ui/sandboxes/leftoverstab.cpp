#include "ui/sandboxes/leftoverstab.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "ui/sandboxes/sandboxtable.h"
#include "ui/widgets/emptystate.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QStackedLayout>
#include <algorithm>

namespace ui {

LeftoversTab::LeftoversTab(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings), m_model(client)
{
    createViews();
    m_table->restore(m_settings, QStringLiteral("sandboxes/leftovers"), {36, 13, 30, 11, 14, 7, 8, 11});
    connect(&m_model, &models::LeftoverModel::loaded, this, [this] {
        m_stack->setCurrentIndex(m_model.rowCount() == 0 ? 0 : 1);
        showTotal();
        showButtons();
    });
    connect(&m_model, &models::LeftoverModel::failed, this, &LeftoversTab::failed);
    connect(m_table, &SandboxTable::selectionMoved, this, [this] {
        m_asked = false;
        m_message->clear();
        showButtons();
    });
    connect(m_table, &SandboxTable::deletePressed, this, &LeftoversTab::remove);
    connect(m_filter, &QLineEdit::textChanged, m_table, &SandboxTable::setFilter);
    connect(m_refresh, &QPushButton::clicked, this, &LeftoversTab::load);
    connect(m_unused, &QPushButton::clicked, this, &LeftoversTab::selectUnused);
    connect(m_remove, &QPushButton::clicked, this, &LeftoversTab::remove);
    connect(m_open, &QPushButton::clicked, this, [this] {
        const QList<engine::Leftover> rows = chosen();
        if (rows.size() == 1)
            emit sessionActivated(rows.first().sessionId);
    });
    showButtons();
}

LeftoversTab::~LeftoversTab()
{
    m_table->save(m_settings, QStringLiteral("sandboxes/leftovers"));
}

void LeftoversTab::createViews()
{
    m_stack = new QStackedLayout(this);
    auto *empty = new EmptyState(QStringLiteral("archive"), tr("Nothing is left over"),
                                 tr("Every container, volume and worker that Signalbox ever made stands here with its owner until it is "
                                    "removed. What others made is never listed and never touched."),
                                 tr("Look again"), this);
    connect(empty, &EmptyState::actionPressed, this, &LeftoversTab::load);
    m_stack->addWidget(empty);
    auto *body = new QWidget(this);
    auto *layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 2 * grid, 0, 2 * grid);
    layout->setSpacing(2 * grid);
    m_filter = new QLineEdit(body);
    m_filter->setPlaceholderText(tr("Filter leftovers"));
    m_filter->setAccessibleName(tr("Filter leftovers"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(360);
    m_refresh = new QPushButton(tr("Look again"), body);
    m_unused = new QPushButton(tr("Select what is not in use"), body);
    m_unused->setObjectName(QStringLiteral("selectUnused"));
    auto *top = new QHBoxLayout;
    top->setContentsMargins(3 * grid, 0, 3 * grid, 0);
    top->setSpacing(2 * grid);
    top->addWidget(m_filter, 1);
    top->addStretch(1);
    top->addWidget(m_unused);
    top->addWidget(m_refresh);
    layout->addLayout(top);
    m_table = new SandboxTable(m_model, tr("Leftovers"), body);
    m_table->setObjectName(QStringLiteral("leftovers"));
    m_table->header()->setStretchLastSection(false); // sizes stand at their right edge
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    layout->addWidget(m_table, 1);
    m_total = new QLabel(body);
    m_total->setObjectName(QStringLiteral("leftoverTotal"));
    m_message = new QLabel(body);
    m_message->setObjectName(QStringLiteral("leftoverMessage"));
    m_message->setWordWrap(true);
    m_message->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_message->setForegroundRole(QPalette::PlaceholderText);
    m_open = new QPushButton(tr("Open session"), body);
    m_open->setObjectName(QStringLiteral("openLeftoverSession"));
    m_remove = new QPushButton(tr("Remove"), body);
    m_remove->setObjectName(QStringLiteral("removeLeftovers"));
    auto *foot = new QHBoxLayout;
    foot->setContentsMargins(3 * grid, 0, 3 * grid, 0);
    foot->setSpacing(2 * grid);
    foot->addWidget(m_total);
    foot->addWidget(m_message, 1);
    foot->addWidget(m_open);
    foot->addWidget(m_remove);
    layout->addLayout(foot);
    m_stack->addWidget(body);
}

QList<engine::Leftover> LeftoversTab::chosen() const
{
    QList<engine::Leftover> rows;
    for (int row : m_table->selectedRows()) {
        if (const engine::Leftover *leftover = m_model.at(row))
            rows.append(*leftover);
    }
    return rows;
}

QString LeftoversTab::removeProblem() const
{
    if (m_removeCount > 0)
        return tr("Something is being removed.");
    const QList<engine::Leftover> rows = chosen();
    if (rows.isEmpty())
        return tr("Choose what to remove first.");
    const auto inUse = std::count_if(rows.begin(), rows.end(), [](const engine::Leftover &row) { return row.inUse; });
    if (inUse == 0)
        return {};
    return inUse == 1 ? tr("One of the chosen is in use by a session that exists. Delete the session, or leave it out.")
                      : tr("%1 of the chosen are in use by sessions that exist. Delete those sessions, or leave them out.").arg(inUse);
}

void LeftoversTab::showButtons()
{
    const QList<engine::Leftover> rows = chosen();
    const QString problem = removeProblem();
    m_remove->setEnabled(problem.isEmpty());
    m_remove->setToolTip(problem.isEmpty() ? tr("Removes the chosen for good (Delete)") : problem);
    const int count = int(rows.size());
    m_remove->setText(m_asked && problem.isEmpty() ? tr("Really remove %1").arg(count) : count > 1 ? tr("Remove %1").arg(count) : tr("Remove"));
    const bool hasSession = rows.size() == 1 && !rows.first().sessionTitle.isEmpty();
    m_open->setEnabled(hasSession);
    m_open->setToolTip(hasSession        ? tr("Opens the session that it belongs to")
                       : rows.size() == 1 ? tr("Its session is gone.")
                                          : tr("Choose one of them first."));
    const bool hasUnused = m_model.inUseCount() < m_model.rowCount();
    m_unused->setEnabled(hasUnused);
    m_unused->setToolTip(hasUnused ? QString() : tr("Everything here is in use."));
}

void LeftoversTab::showTotal()
{
    m_total->setText(tr("%1 in all  ·  %2 in use  ·  %3")
                         .arg(m_model.rowCount())
                         .arg(m_model.inUseCount())
                         .arg(models::byteSize(m_model.totalBytes())));
    const bool isPart = std::any_of(m_model.rows().begin(), m_model.rows().end(), [](const auto &row) { return row.bytes < 0; });
    m_total->setToolTip(isPart ? tr("The size of some is not known; they are not in the sum.") : QString());
}

void LeftoversTab::selectUnused()
{
    m_table->clearSelection();
    QItemSelection selection;
    const QAbstractItemModel *shown = m_table->model();
    for (int row = 0; row < shown->rowCount(); ++row) {
        const QModelIndex index = shown->index(row, 0);
        const engine::Leftover *leftover = m_model.at(m_model.rowOf(index.data(models::KeyRole).toString()));
        if (leftover && !leftover->inUse)
            selection.select(index, index);
    }
    m_table->selectionModel()->select(selection, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    m_table->setFocus();
}

void LeftoversTab::remove()
{
    if (!removeProblem().isEmpty())
        return;
    if (!std::exchange(m_asked, true)) {
        m_message->setText(tr("What they hold can't be had back. Press once more to remove."));
        showButtons();
        return;
    }
    m_asked = false;
    m_removing = chosen();
    m_removeCount = int(m_removing.size());
    removeNext();
}

void LeftoversTab::removeNext()
{
    if (m_removing.isEmpty()) {
        m_removeCount = 0;
        m_message->clear();
        load();
        showButtons();
        return;
    }
    const engine::Leftover next = m_removing.takeFirst();
    m_message->setText(tr("Removing %1 of %2: %3").arg(m_removeCount - m_removing.size()).arg(m_removeCount).arg(next.name));
    showButtons();
    models::onReply(m_client.removeLeftover(next, personName()), this, [this](const engine::Result<void> &result) {
        if (!result)
            emit failed(result.error());
        removeNext();
    });
}

void LeftoversTab::focusFilter()
{
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

void LeftoversTab::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    load();
}

} // namespace ui
