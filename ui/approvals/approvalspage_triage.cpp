#include "models/reply.h"
// How the inbox behaves: selection that stays, keys, joint decisions.
#include "ui/approvals/approvalspage.h"

#include "models/approvalinput.h"
#include "models/displaytext.h"
#include "ui/approvals/contextpane.h"
#include "ui/approvals/jointpanel.h"
#include "ui/widgets/approvalcard.h"
#include "ui/widgets/theme.h"

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QStackedLayout>
#include <QTabBar>
#include <QTableView>
#include <QTableWidget>

namespace ui {
namespace {

constexpr int auditRows = 500;
constexpr int countdownTickMs = 1000;

} // namespace

void ApprovalsPage::connectModels()
{
    connect(&m_pending, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this] { m_guard = true; });
    connect(&m_pending, &models::ApprovalListModel::loaded, this, [this] {
        showLists();
        if (m_shown.isEmpty() && m_pending.rowCount() > 0)
            m_pendingTable->setCurrentIndex(m_pending.index(0, models::ApprovalListModel::What));
    });
    connect(&m_history, &models::ApprovalListModel::loaded, this, &ApprovalsPage::showLists);
    for (models::ApprovalListModel *model : {&m_pending, &m_history}) {
        connect(model, &models::ApprovalListModel::failed, this, [this](const engine::Error &error) {
            m_question->setText(error.message);
            m_question->show();
        });
        connect(model, &QAbstractItemModel::rowsInserted, this, &ApprovalsPage::showLists);
    }
    connect(&m_pending, &models::ApprovalListModel::chosenChanged, this, &ApprovalsPage::showJoint);
    m_tick.setInterval(countdownTickMs);
    connect(&m_tick, &QTimer::timeout, this, [this] {
        if (isVisible())
            currentModel().tick();
    });
    m_tick.start();
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        if (batch.settingsChanged)
            readSwitch();
    });
}

void ApprovalsPage::connectCard()
{
    // After the view's own connection: its current row has moved by now.
    connect(&m_pending, &QAbstractItemModel::rowsRemoved, this, [this] {
        m_guard = false;
        if (m_pending.rowOf(m_shown) < 0) {
            m_pendingTable->setCurrentIndex({});
            m_pendingTable->clearSelection();
        }
        showLists();
        advance();
    });
    connect(m_card, &ApprovalCard::resolved, this, [this] {
        m_question->hide();
        m_asked = {};
        m_decided = m_card->continuesAfterResolving();
        advance();
    });
    connect(m_context, &ContextPane::sessionActivated, this, &ApprovalsPage::sessionActivated);
    connect(m_joint, &JointPanel::decided, this, [this] { m_pending.clearChosen(); });
    connect(m_joint, &JointPanel::dismissed, this, [this] { m_pending.clearChosen(); });
}

void ApprovalsPage::createShortcuts()
{
    const auto bind = [this](const QKeySequence &key, auto &&act) {
        auto *shortcut = new QShortcut(key, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, act);
    };
    bind(Qt::Key_J, [this] { step(1); });
    bind(Qt::Key_K, [this] { step(-1); });
    bind(Qt::Key_D, [this] { m_card->focusNote(); });
    bind(Qt::Key_A, [this] { approveByKey(); });
    bind(Qt::Key_E, [this] { m_card->toggleEdit(); });
    bind(Qt::Key_X, [this] { chooseCurrent(); });
    bind(Qt::Key_T, [this] { m_card->extend(); });
    bind(Qt::Key_Slash, [this] { focusFilter(); });
    bind(Qt::Key_Escape, [this] { currentTable()->setFocus(); });
}

void ApprovalsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_shown.isEmpty() && m_tabs->currentIndex() == PendingTab && m_pending.rowCount() > 0)
        m_pendingTable->setCurrentIndex(m_pending.index(0, models::ApprovalListModel::What));
}

void ApprovalsPage::showTab(int tab)
{
    if (tab == AuditTab)
        readAudit();
    showLists();
}

void ApprovalsPage::showLists()
{
    if (!m_lists)
        return;
    const int tab = m_tabs->currentIndex();
    m_tabs->setTabText(PendingTab,
                       m_pending.rowCount() > 0 ? tr("Pending (%1)").arg(m_pending.rowCount()) : tr("Pending"));
    QWidget *list = m_audit;
    if (tab == PendingTab)
        list = m_pending.rowCount() > 0 ? static_cast<QWidget *>(m_pendingTable) : m_pendingEmpty;
    else if (tab == HistoryTab)
        list = m_history.rowCount() > 0 ? static_cast<QWidget *>(m_historyTable) : static_cast<QWidget *>(m_historyEmpty);
    m_lists->setCurrentWidget(list);
}

void ApprovalsPage::readAudit()
{
    models::onReply(m_client.audit(auditRows), this, [this](const engine::Result<QList<engine::AuditEntry>> &entries) {
        if (!entries) {
            m_question->setText(entries.error().message);
            m_question->show();
            return;
        }
        m_audit->setRowCount(int(entries->size()));
        for (int row = 0; row < entries->size(); ++row) {
            const engine::AuditEntry &entry = entries->at(row);
            const QStringList texts{entry.at.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")), entry.who, entry.what,
                                    entry.subject,
                                    entry.detail.isEmpty() ? entry.result
                                                           : QString(entry.result + QStringLiteral(" · ") + entry.detail)};
            for (int column = 0; column < texts.size(); ++column) {
                auto *cell = new QTableWidgetItem(texts.at(column));
                cell->setToolTip(column == 0 ? models::exactUtc(entry.at) : texts.at(column));
                m_audit->setItem(row, column, cell);
            }
        }
        m_audit->resizeColumnToContents(0);
    });
}

void ApprovalsPage::showRow(models::ApprovalListModel &model, int row)
{
    const engine::Approval *approval = model.at(row);
    if (!approval)
        return;
    m_shownRow = row;
    showApproval(*approval);
}

void ApprovalsPage::showApproval(const engine::Approval &approval)
{
    m_shown = approval.id;
    m_decided = false;
    m_asked = {};
    m_question->hide();
    m_card->setApproval(approval);
    m_card->show();
    m_context->setApproval(approval);
    if (m_pending.chosen().isEmpty())
        m_main->setCurrentIndex(0);
}

// A card stays until the person leaves it, except after a decision that was made on it and has gone out.
void ApprovalsPage::advance()
{
    if (!m_decided || m_pending.rowOf(m_shown) >= 0)
        return;
    m_decided = false;
    if (m_pending.rowCount() == 0)
        return;
    const int row = qBound(0, m_shownRow, m_pending.rowCount() - 1);
    m_pendingTable->setCurrentIndex(m_pending.index(row, models::ApprovalListModel::What));
}

void ApprovalsPage::step(int by)
{
    QTableView *table = currentTable();
    const int rows = table->model()->rowCount();
    if (rows == 0)
        return;
    const int from = table->currentIndex().isValid() ? table->currentIndex().row() : by > 0 ? m_shownRow - 1 : m_shownRow + 1;
    table->setCurrentIndex(table->model()->index(qBound(0, from + by, rows - 1), table == m_audit ? 0 : int(models::ApprovalListModel::What)));
    table->setFocus();
}

void ApprovalsPage::approveByKey()
{
    if (!m_card->isVisible() || !m_card->mayApprove())
        return;
    const QList<models::RiskFact> facts = models::riskFacts(m_card->approval());
    if (facts.isEmpty() || m_asked == m_shown) {
        m_question->hide();
        m_card->approve();
        return;
    }
    m_asked = m_shown;
    QStringList names;
    for (const models::RiskFact &fact : facts)
        names.append(fact.what.toLower());
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, toneColour(models::Tone::Attention, colours));
    m_question->setPalette(colours);
    m_question->setText(tr("This request: %1. Press A once more to approve it.").arg(names.join(QStringLiteral(", "))));
    m_question->show();
}

void ApprovalsPage::chooseCurrent()
{
    const int row = m_pendingTable->currentIndex().row();
    if (m_tabs->currentIndex() == PendingTab && row >= 0)
        m_pending.setChosen(row, !m_pending.isChosen(row));
}

void ApprovalsPage::showJoint()
{
    const QList<engine::Approval> chosen = m_pending.chosen();
    m_joint->setContinueAfter(m_continue->isChecked());
    if (!chosen.isEmpty())
        m_joint->setApprovals(chosen);
    m_main->setCurrentIndex(chosen.isEmpty() ? 0 : 1);
}

void ApprovalsPage::readSwitch()
{
    models::onReply(m_client.settings(), this, [this](const engine::Result<QMap<QString, QString>> &settings) {
        if (settings)
            m_continue->setChecked(settings->value(QStringLiteral("approvals.continue_after_resolving"),
                                                   QStringLiteral("true")) == u"true");
    });
}

void ApprovalsPage::openApproval(const engine::ApprovalId &id)
{
    const int row = m_pending.rowOf(id);
    if (row >= 0) {
        m_tabs->setCurrentIndex(PendingTab);
        m_pendingTable->setCurrentIndex(m_pending.index(row, models::ApprovalListModel::What));
        m_card->focusDeny();
        return;
    }
    models::onReply(m_client.approval(id), this, [this](const engine::Result<engine::Approval> &result) {
        if (!result) {
            m_question->setText(result.error().message);
            m_question->show();
            return;
        }
        m_tabs->setCurrentIndex(result->state == engine::ApprovalState::Pending ? PendingTab : HistoryTab);
        showApproval(*result);
    });
}

void ApprovalsPage::focusFilter()
{
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

} // namespace ui
