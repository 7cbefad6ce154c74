#pragma once

#include "models/approvallistmodel.h"

#include <QTimer>
#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QSettings;
class QSplitter;
class QStackedLayout;
class QTabBar;
class QTableView;
class QTableWidget;
class QVBoxLayout;

namespace ui {

class ApprovalCard;
class ContextPane;
class JointPanel;

// The inbox: list, card, context; by mouse or wholly by keyboard (j k Enter d a e x /). History and audit beside it.
class ApprovalsPage final : public QWidget
{
    Q_OBJECT

public:
    ApprovalsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~ApprovalsPage() override;

    void openApproval(const engine::ApprovalId &id);
    void focusFilter();
    int pendingRows() const { return m_pending.rowCount(); }
    ApprovalCard *card() const { return m_card; }

signals:
    void sessionActivated(const engine::SessionId &id);
    void sessionsAsked();

protected:
    // The oldest pending one comes up when the page is opened with nothing chosen.
    void showEvent(QShowEvent *event) override;

private:
    enum Tab { PendingTab, HistoryTab, AuditTab };

    void createHeader(QVBoxLayout *layout);
    QTableView *createTable(models::ApprovalListModel &model, QWidget *parent);
    void createViews(QVBoxLayout *layout);
    void createShortcuts();
    void connectModels();
    void connectCard();
    void showTab(int tab);
    void showLists();
    void readAudit();
    void showRow(models::ApprovalListModel &model, int row);
    void showApproval(const engine::Approval &approval);
    void advance();
    void step(int by);
    void approveByKey();
    void chooseCurrent();
    void showJoint();
    void readSwitch();
    models::ApprovalListModel &currentModel();
    QTableView *currentTable() const;

    engine::EngineClient &m_client;
    QSettings &m_settings;
    models::ApprovalListModel m_pending;
    models::ApprovalListModel m_history;
    QTimer m_tick;
    engine::ApprovalId m_shown;
    engine::ApprovalId m_asked; // "approve" was pressed once for this risky one
    int m_shownRow = -1;
    bool m_guard = false;     // the view moves its current row because one goes
    bool m_decided = false;   // the shown one was decided here: the next may come up

    QTabBar *m_tabs = nullptr;
    QLineEdit *m_filter = nullptr;
    QCheckBox *m_continue = nullptr;
    QStackedLayout *m_lists = nullptr;
    QTableView *m_pendingTable = nullptr;
    QTableView *m_historyTable = nullptr;
    QTableWidget *m_audit = nullptr;
    QWidget *m_pendingEmpty = nullptr;
    QLabel *m_historyEmpty = nullptr;
    QSplitter *m_splitter = nullptr;
    QStackedLayout *m_main = nullptr;
    ApprovalCard *m_card = nullptr;
    QLabel *m_question = nullptr;
    JointPanel *m_joint = nullptr;
    ContextPane *m_context = nullptr;
};

} // namespace ui
