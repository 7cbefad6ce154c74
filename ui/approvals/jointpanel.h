#pragma once

#include "engine/engineclient.h"

#include <QFrame>

class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

class CodeView;

// Several approvals in one act: the list of exactly what runs, then one decision that is sent for each with its own
// digest. Approving together is offered only for equal tools without facts to weigh.
class JointPanel final : public QFrame
{
    Q_OBJECT

public:
    explicit JointPanel(engine::EngineClient &client, QWidget *parent = nullptr);

    void setApprovals(const QList<engine::Approval> &approvals);
    void setContinueAfter(bool continueAfter) { m_continueAfter = continueAfter; }

signals:
    void decided();
    void dismissed();

private:
    QString whyNotApprove() const;
    void updateButtons();
    void send(engine::Verdict verdict);
    void receive(const engine::Result<engine::Resolved> &result);

    engine::EngineClient &m_client;
    QList<engine::Approval> m_approvals;
    bool m_continueAfter = true;
    int m_underWay = 0;
    QStringList m_problems;
    QLabel *m_title = nullptr;
    CodeView *m_list = nullptr;
    QLabel *m_reason = nullptr;
    QLineEdit *m_note = nullptr;
    QPushButton *m_deny = nullptr;
    QPushButton *m_approve = nullptr;
    QPushButton *m_dismiss = nullptr;
};

} // namespace ui
