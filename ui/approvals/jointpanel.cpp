#include "ui/approvals/jointpanel.h"

#include "models/reply.h"
#include "models/approvalinput.h"
#include "ui/widgets/codeview.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace ui {
namespace {

constexpr int listLines = 22;

QString wholeAction(const engine::Approval &approval)
{
    QStringList lines;
    for (const models::ActionPart &part : models::actionParts(approval)) {
        QString text = part.text;
        for (const models::DiffLine &line : part.diff)
            text += (line.kind == models::DiffLine::Kind::Added     ? QStringLiteral("+ ")
                     : line.kind == models::DiffLine::Kind::Removed ? QStringLiteral("- ")
                                                                    : QStringLiteral("  ")) +
                    line.text + u'\n';
        lines.append(part.label + QStringLiteral(": ") + text.trimmed());
    }
    return lines.join(u'\n');
}

} // namespace

JointPanel::JointPanel(engine::EngineClient &client, QWidget *parent) : QFrame(parent), m_client(client)
{
    setObjectName(QStringLiteral("jointPanel"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid * 4, grid * 3, grid * 4, grid * 3);
    layout->setSpacing(grid * 2);
    m_title = new QLabel(this);
    m_title->setFont(sizedFont(2, true));
    layout->addWidget(m_title);
    m_list = new CodeView(listLines, this);
    m_list->setAccessibleName(tr("What runs"));
    layout->addWidget(m_list);
    m_reason = new QLabel(this);
    m_reason->setObjectName(QStringLiteral("jointReason"));
    m_reason->setWordWrap(true);
    layout->addWidget(m_reason);
    auto *line = new QHBoxLayout;
    line->setSpacing(grid * 2);
    m_deny = new QPushButton(this);
    m_deny->setObjectName(QStringLiteral("denyAll"));
    m_note = new QLineEdit(this);
    m_note->setPlaceholderText(tr("Note for the agents (optional)"));
    m_dismiss = new QPushButton(tr("Not together"), this);
    m_approve = new QPushButton(this);
    m_approve->setObjectName(QStringLiteral("approveAll"));
    line->addWidget(m_deny);
    line->addWidget(m_note, 1);
    line->addWidget(m_dismiss);
    line->addWidget(m_approve);
    layout->addLayout(line);
    setFocusProxy(m_deny);
    connect(m_list, &CodeView::readToEnd, this, &JointPanel::updateButtons);
    connect(m_deny, &QPushButton::clicked, this, [this] { send(engine::Verdict::Deny); });
    connect(m_approve, &QPushButton::clicked, this, [this] { send(engine::Verdict::Approve); });
    connect(m_dismiss, &QPushButton::clicked, this, &JointPanel::dismissed);
}

void JointPanel::setApprovals(const QList<engine::Approval> &approvals)
{
    if (approvals == m_approvals && !approvals.isEmpty())
        return updateButtons();
    m_approvals = approvals;
    QStringList texts;
    for (qsizetype i = 0; i < approvals.size(); ++i)
        texts.append(tr("%1. %2 · %3").arg(i + 1).arg(approvals.at(i).agentName, approvals.at(i).sessionTitle) + u'\n' +
                     wholeAction(approvals.at(i)));
    m_list->setCode(texts.join(QStringLiteral("\n\n")));
    updateButtons();
}

QString JointPanel::whyNotApprove() const
{
    if (m_underWay > 0)
        return tr("Sending…");
    for (const engine::Approval &approval : m_approvals) {
        if (approval.kind != engine::ApprovalKind::Tool)
            return tr("Questions, plans and unknown requests are decided one by one.");
        if (approval.toolName != m_approvals.first().toolName)
            return tr("These are different tools; approve them one by one.");
        if (!models::riskFacts(approval).isEmpty())
            return tr("There are facts to weigh (%1); approve them one by one.").arg(models::riskFacts(approval).first().what);
    }
    return m_list->isRead() ? QString() : tr("Scroll to the end of the list first.");
}

void JointPanel::updateButtons()
{
    const qsizetype count = m_approvals.size();
    m_title->setText(tr("%n request(s) together: exactly this runs", nullptr, int(count)));
    m_deny->setText(tr("Deny %1").arg(count));
    m_approve->setText(tr("Approve %1").arg(count));
    const QString why = whyNotApprove();
    m_approve->setEnabled(why.isEmpty() && count > 0);
    m_approve->setToolTip(why);
    m_deny->setEnabled(m_underWay == 0 && count > 0);
    m_reason->setText(m_problems.isEmpty() ? why : m_problems.join(u'\n'));
    m_reason->setVisible(!m_reason->text().isEmpty());
}

void JointPanel::send(engine::Verdict verdict)
{
    if (m_underWay > 0 || (verdict == engine::Verdict::Approve && !whyNotApprove().isEmpty()))
        return;
    m_problems.clear();
    const QList<engine::Approval> approvals = m_approvals;
    m_underWay = int(approvals.size());
    updateButtons();
    for (const engine::Approval &approval : approvals) {
        engine::Decision decision;
        decision.id = approval.id;
        decision.digest = approval.digest;
        decision.verdict = verdict;
        decision.note = m_note->text().trimmed();
        decision.decidedBy = personName();
        decision.key = engine::newIdValue("k");
        decision.continueAfter = m_continueAfter;
        models::onReply(m_client.resolve(decision), this, [this](const engine::Result<engine::Resolved> &result) { receive(result); });
    }
}

void JointPanel::receive(const engine::Result<engine::Resolved> &result)
{
    --m_underWay;
    if (!result)
        m_problems.append(result.error().message);
    updateButtons();
    if (m_underWay == 0 && m_problems.isEmpty()) {
        m_note->clear();
        emit decided();
    }
}

} // namespace ui
