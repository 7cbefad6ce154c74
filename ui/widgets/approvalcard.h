#pragma once

#include "engine/engineclient.h"
#include "models/approvalinput.h"

#include <QFrame>
#include <QTimer>

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QVBoxLayout;

namespace ui {

class CodeView;
class QuestionForm;
class ReceiptStrip;
class StateLabel;

// One approval as a person decides it: what would run, whole; facts; receipts; Deny, Edit, Approve, Extend, Continue.
// Keeps itself true by the feed. The only place of the window from which a decision is sent.
class ApprovalCard final : public QFrame
{
    Q_OBJECT

public:
    ApprovalCard(engine::EngineClient &client, QWidget *parent = nullptr);

    void setApproval(const engine::Approval &approval);
    const engine::Approval &approval() const { return m_approval; }
    bool isSending() const { return m_sending; }
    bool mayApprove() const;
    // The setting approvals.continue_after_resolving, as known now.
    bool continuesAfterResolving() const { return m_continueAfter; }

public slots:
    void approve();
    void deny();
    void toggleEdit();
    void extend();
    void focusNote();
    void focusDeny();

signals:
    void resolved();
    // The person may want to know whether Approve would work now.
    void readinessChanged();

protected:
    // The moment of being drawn is the moment of being seen.
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void createHeader(QVBoxLayout *layout);
    void createActions(QVBoxLayout *layout);
    void connectEngine();
    void readSettings();
    void showAction();
    void addPart(const models::ActionPart &part);
    void showPlan();
    void addCode(const QString &label, CodeView *view);
    void showFacts();
    void createEditor(const QString &text);
    void checkEdit();
    void showState();
    void showDecision();
    void tick();
    void updateButtons();
    QString whyNotApprove() const;
    bool isRead() const;
    void send(engine::Verdict verdict);
    void receive(const engine::Result<engine::Resolved> &result);
    void continueRun();
    void showProblem(const engine::Error &error);
    void reread();

    engine::EngineClient &m_client;
    engine::Approval m_approval;
    engine::ApprovalId m_seen;
    bool m_sending = false;
    bool m_continueAfter = true;
    QString m_key; // idempotency key of the decision under way; kept for a retry of the same one
    QString m_keyOf;
    QTimer m_tick;

    StateLabel *m_state = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_origin = nullptr;
    QLabel *m_countdown = nullptr;
    QPushButton *m_extend = nullptr;
    QWidget *m_body = nullptr;
    QVBoxLayout *m_bodyLayout = nullptr;
    QList<CodeView *> m_views;
    QWidget *m_plan = nullptr;
    QuestionForm *m_questions = nullptr;
    QPlainTextEdit *m_editor = nullptr;
    QLabel *m_editProblem = nullptr;
    CodeView *m_editDiff = nullptr;
    ReceiptStrip *m_receipts = nullptr;
    QLabel *m_digest = nullptr;
    QLabel *m_decision = nullptr;
    QFrame *m_problem = nullptr;
    QLabel *m_problemText = nullptr;
    QWidget *m_buttons = nullptr;
    QPushButton *m_deny = nullptr;
    QLineEdit *m_note = nullptr;
    QPushButton *m_edit = nullptr;
    QPushButton *m_approve = nullptr;
    QPushButton *m_continue = nullptr;
    QLabel *m_progress = nullptr;
};

} // namespace ui
