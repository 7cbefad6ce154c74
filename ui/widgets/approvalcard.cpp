#include "ui/widgets/approvalcard.h"

#include "models/reply.h"
#include "models/toolsummary.h"
#include "models/visibletext.h"
#include "ui/widgets/codeview.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/person.h"
#include "ui/widgets/questionform.h"
#include "ui/widgets/receiptstrip.h"
#include "ui/widgets/statelabel.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

namespace ui {
namespace {

bool isUndelivered(const engine::Approval &approval)
{
    return approval.state != engine::ApprovalState::Pending && approval.delivery == engine::Delivery::NotDelivered;
}

QLabel *wrappedLabel(QWidget *parent)
{
    auto *label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

} // namespace

ApprovalCard::ApprovalCard(engine::EngineClient &client, QWidget *parent) : QFrame(parent), m_client(client)
{
    setObjectName(QStringLiteral("approvalCard"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid * 4, grid * 3, grid * 4, grid * 3);
    layout->setSpacing(grid * 2);
    createHeader(layout);
    m_body = new QWidget(this);
    m_bodyLayout = new QVBoxLayout(m_body);
    m_bodyLayout->setContentsMargins(0, 0, 0, 0);
    m_bodyLayout->setSpacing(grid);
    layout->addWidget(m_body);
    m_receipts = new ReceiptStrip(this);
    layout->addWidget(m_receipts);
    m_digest = wrappedLabel(this);
    m_digest->setWordWrap(false);
    m_digest->setFont(monospaceFont());
    m_digest->setForegroundRole(QPalette::PlaceholderText);
    m_digest->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_digest->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    layout->addWidget(m_digest);
    createActions(layout);
    m_tick.setInterval(1000);
    connect(&m_tick, &QTimer::timeout, this, &ApprovalCard::tick);
    connectEngine();
}

void ApprovalCard::createHeader(QVBoxLayout *layout)
{
    auto *line = new QHBoxLayout;
    line->setSpacing(grid * 2);
    m_state = new StateLabel(this);
    m_state->setFilled(true);
    line->addWidget(m_state);
    m_origin = wrappedLabel(this);
    m_origin->setForegroundRole(QPalette::PlaceholderText);
    line->addWidget(m_origin, 1);
    m_countdown = new QLabel(this);
    m_countdown->setObjectName(QStringLiteral("countdown"));
    line->addWidget(m_countdown);
    m_extend = new QPushButton(tr("+15 min"), this);
    m_extend->setObjectName(QStringLiteral("extend"));
    m_extend->setAccessibleName(tr("Extend the time by 15 minutes"));
    m_extend->setToolTip(tr("Extend the time by 15 minutes"));
    connect(m_extend, &QPushButton::clicked, this, &ApprovalCard::extend);
    line->addWidget(m_extend);
    layout->addLayout(line);
    m_title = wrappedLabel(this);
    m_title->setObjectName(QStringLiteral("title"));
    m_title->setFont(sizedFont(2, true));
    layout->addWidget(m_title);
}

void ApprovalCard::createActions(QVBoxLayout *layout)
{
    m_decision = wrappedLabel(this);
    m_decision->setObjectName(QStringLiteral("decision"));
    layout->addWidget(m_decision);
    m_problem = new QFrame(this);
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setAutoFillBackground(true);
    auto *problem = new QHBoxLayout(m_problem);
    problem->setContentsMargins(grid * 2, grid, grid * 2, grid);
    m_problemText = wrappedLabel(m_problem);
    m_problemText->setObjectName(QStringLiteral("problemText"));
    problem->addWidget(m_problemText, 1);
    m_problem->hide();
    layout->addWidget(m_problem);

    m_buttons = new QWidget(this);
    auto *line = new QHBoxLayout(m_buttons);
    line->setContentsMargins(0, grid, 0, 0);
    line->setSpacing(grid * 2);
    m_deny = new QPushButton(tr("Deny"), m_buttons);
    m_deny->setObjectName(QStringLiteral("deny"));
    m_note = new QLineEdit(m_buttons);
    m_note->setObjectName(QStringLiteral("note"));
    m_note->setPlaceholderText(tr("Note for the agent (optional)"));
    m_note->setAccessibleName(tr("Note that goes with the decision"));
    m_edit = new QPushButton(tr("Edit…"), m_buttons);
    m_edit->setObjectName(QStringLiteral("edit"));
    m_edit->setCheckable(true);
    m_approve = new QPushButton(tr("Approve"), m_buttons);
    m_approve->setObjectName(QStringLiteral("approve"));
    for (QPushButton *button : {m_deny, m_edit, m_approve})
        button->setAutoDefault(false);
    line->addWidget(m_deny);
    line->addWidget(m_note, 1);
    line->addWidget(m_edit);
    line->addWidget(m_approve);
    layout->addWidget(m_buttons);
    connect(m_deny, &QPushButton::clicked, this, &ApprovalCard::deny);
    connect(m_note, &QLineEdit::returnPressed, this, &ApprovalCard::deny);
    connect(m_edit, &QPushButton::clicked, this, &ApprovalCard::toggleEdit);
    connect(m_approve, &QPushButton::clicked, this, &ApprovalCard::approve);
    setFocusProxy(m_deny);

    auto *last = new QHBoxLayout;
    m_progress = wrappedLabel(this);
    m_progress->setForegroundRole(QPalette::PlaceholderText);
    last->addWidget(m_progress, 1);
    m_continue = new QPushButton(tr("Continue"), this);
    m_continue->setObjectName(QStringLiteral("continue"));
    connect(m_continue, &QPushButton::clicked, this, &ApprovalCard::continueRun);
    last->addWidget(m_continue);
    layout->addLayout(last);
    const QList<QWidget *> order{m_deny, m_note, m_edit, m_approve, m_extend};
    for (qsizetype i = 1; i < order.size(); ++i)
        setTabOrder(order.at(i - 1), order.at(i));
}

void ApprovalCard::connectEngine()
{
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        for (const engine::Approval &approval : batch.approvals) {
            if (approval.id == m_approval.id && approval != m_approval)
                setApproval(approval);
        }
        if (batch.settingsChanged)
            readSettings();
    });
    readSettings();
}

void ApprovalCard::readSettings()
{
    models::onReply(m_client.settings(), this, [this](const engine::Result<QMap<QString, QString>> &settings) {
        if (!settings)
            return;
        m_continueAfter =
            settings->value(QStringLiteral("approvals.continue_after_resolving"), QStringLiteral("true")) == u"true";
        updateButtons();
    });
}

void ApprovalCard::setApproval(const engine::Approval &approval)
{
    const bool isOther = approval.id != m_approval.id;
    const bool isOtherAction = isOther || approval.digest != m_approval.digest || approval.input != m_approval.input ||
                               approval.raw != m_approval.raw;
    const bool changedUnderEyes = !isOther && isOtherAction && !m_approval.digest.isEmpty();
    m_approval = approval;
    if (isOther) {
        m_note->clear();
        m_problem->hide();
        m_sending = false;
        m_key.clear();
    }
    if (isOtherAction)
        showAction();
    if (changedUnderEyes)
        showProblem({engine::ErrorCode::ActionChanged, tr("The action has changed. Read it again; nothing was sent."), {}});
    showState();
}

void ApprovalCard::showState()
{
    m_state->setLook(models::look(m_approval, QDateTime::currentDateTimeUtc()));
    m_title->setText(models::visibleLine(m_approval.title));
    QStringList origin{m_approval.agentName, m_approval.sessionTitle};
    if (!m_approval.requestedBy.isEmpty())
        origin.append(tr("asked for by %1").arg(m_approval.requestedBy));
    origin.removeAll(QString());
    m_origin->setText(models::visibleLine(origin.join(QStringLiteral(" · "))));
    m_receipts->setApproval(m_approval);
    const engine::Digest &digest = m_approval.editedDigest.isEmpty() ? m_approval.digest : m_approval.editedDigest;
    m_digest->setText(QStringLiteral("SHA-256 ") + digest.value);
    m_digest->setToolTip(tr("Digest of exactly this action; a decision for another action is refused.\n%1").arg(digest.value));
    const bool isPending = m_approval.state == engine::ApprovalState::Pending;
    m_buttons->setVisible(isPending);
    m_extend->setVisible(isPending);
    m_countdown->setVisible(isPending);
    showDecision();
    if (isPending || isUndelivered(m_approval))
        m_tick.start();
    else
        m_tick.stop();
    tick();
}

void ApprovalCard::showDecision()
{
    QStringList lines;
    const QString time = m_approval.decidedAt.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    switch (m_approval.state) {
    case engine::ApprovalState::Pending:
        if (m_approval.nativeLost)
            lines.append(tr("Native execution lost: the harness that asked is gone. An approval is used only if it asks for "
                            "exactly the same again."));
        break;
    case engine::ApprovalState::Approved:
        lines.append((m_approval.editedInput.isEmpty() ? tr("Approved by %1 at %2.") : tr("Approved with changed arguments by %1 at %2."))
                         .arg(m_approval.decidedBy, time));
        break;
    case engine::ApprovalState::Denied:
        lines.append(tr("Denied by %1 at %2.").arg(m_approval.decidedBy, time));
        break;
    case engine::ApprovalState::Expired:
        lines.append(tr("Timed out at %1; nobody decided.").arg(time));
        break;
    case engine::ApprovalState::Cancelled:
        lines.append(tr("Cancelled by the system at %1, not denied by a person.").arg(time));
        break;
    }
    if (!m_approval.note.isEmpty())
        lines.append(tr("Note: %1").arg(models::visibleText(m_approval.note).text));
    if (m_approval.state != engine::ApprovalState::Pending) {
        if (m_approval.nativeLost && m_approval.delivery != engine::Delivery::Executed)
            lines.append(tr("Native execution lost."));
        if (m_approval.delivery != engine::Delivery::None)
            lines.append(tr("Delivery: %1.").arg(models::deliveryWords(m_approval.delivery)));
        if (!m_approval.executedStatus.isEmpty())
            lines.append(tr("Outcome: %1.").arg(m_approval.executedStatus));
    }
    m_decision->setText(lines.join(u'\n'));
    m_decision->setVisible(!lines.isEmpty());
    m_decision->setToolTip(models::exactUtc(m_approval.decidedAt));
}

void ApprovalCard::tick()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    m_state->setLook(models::look(m_approval, now));
    if (m_approval.state == engine::ApprovalState::Pending) {
        const qint64 left = now.secsTo(m_approval.expiresAt);
        const bool isShort = left < models::lastWarningSeconds;
        m_countdown->setText(left > 0 ? (isShort ? tr("only %1 left") : tr("%1 left")).arg(models::countdown(left))
                                      : tr("time is over"));
        m_countdown->setFont(sizedFont(0, isShort));
        QPalette colours = m_countdown->palette();
        colours.setColor(QPalette::WindowText,
                         isShort ? toneColour(models::Tone::Danger, palette()) : mutedColour(palette()));
        m_countdown->setPalette(colours);
        m_countdown->setToolTip(models::exactUtc(m_approval.expiresAt));
    } else {
        m_receipts->setApproval(m_approval);
    }
    updateButtons();
}

bool ApprovalCard::isRead() const
{
    for (const CodeView *view : m_views) {
        if (!view->isRead())
            return false;
    }
    return !m_plan || m_plan->property("read").toBool();
}

QString ApprovalCard::whyNotApprove() const
{
    if (m_approval.state != engine::ApprovalState::Pending)
        return tr("It is decided.");
    if (m_sending)
        return tr("Sending…");
    if (QDateTime::currentDateTimeUtc() >= m_approval.expiresAt)
        return tr("Its time is over.");
    if (m_questions && !m_editor)
        return m_questions->isComplete() ? QString() : tr("Answer every question first.");
    if (!isRead())
        return tr("Scroll to the end of what would run first.");
    if (m_editor) {
        const QString problem = models::jsonObjectProblem(m_editor->toPlainText());
        if (!problem.isEmpty())
            return problem;
        if (!m_editDiff->isRead())
            return tr("Scroll to the end of the changes first.");
        return {};
    }
    const bool needsAnswer = m_approval.kind == engine::ApprovalKind::Unknown ||
                             (m_approval.kind == engine::ApprovalKind::Question && !m_questions);
    return needsAnswer ? tr("Write the answer as JSON first (Answer as JSON…).") : QString();
}

bool ApprovalCard::mayApprove() const
{
    return whyNotApprove().isEmpty();
}

void ApprovalCard::updateButtons()
{
    const bool isPending = m_approval.state == engine::ApprovalState::Pending;
    const bool isOver = QDateTime::currentDateTimeUtc() >= m_approval.expiresAt;
    const bool mayAct = isPending && !m_sending && !isOver;
    m_deny->setEnabled(mayAct);
    m_note->setEnabled(mayAct);
    m_extend->setEnabled(mayAct);
    const bool isAnswered = m_approval.kind == engine::ApprovalKind::Question || m_approval.kind == engine::ApprovalKind::Unknown;
    const bool mayEdit = m_approval.editable || isAnswered;
    m_edit->setEnabled(mayAct && mayEdit);
    m_edit->setText(isAnswered ? tr("Answer as JSON…") : tr("Edit…"));
    m_edit->setVisible(m_approval.kind != engine::ApprovalKind::Plan);
    m_edit->setToolTip(mayEdit ? tr("Change the arguments before approving (E)")
                               : tr("The harness does not accept changed arguments."));
    m_edit->setChecked(m_editor != nullptr);
    const QString why = whyNotApprove();
    m_approve->setEnabled(why.isEmpty());
    m_approve->setToolTip(why.isEmpty() ? tr("Approve exactly what is shown (A)") : why);
    switch (m_approval.kind) {
    case engine::ApprovalKind::Tool:
        m_approve->setText(m_editor ? tr("Approve edited") : tr("Approve"));
        m_deny->setText(tr("Deny"));
        break;
    case engine::ApprovalKind::Question:
    case engine::ApprovalKind::Unknown:
        m_approve->setText(tr("Answer"));
        m_deny->setText(tr("Deny"));
        break;
    case engine::ApprovalKind::Plan:
        m_approve->setText(tr("Accept plan"));
        m_deny->setText(tr("Reject"));
        break;
    }
    const bool mayContinue = isUndelivered(m_approval) && !m_continueAfter && !m_approval.nativeLost &&
                             (m_approval.state == engine::ApprovalState::Approved || m_approval.state == engine::ApprovalState::Denied);
    m_continue->setVisible(mayContinue);
    m_continue->setEnabled(!m_sending);
    QString progress;
    if (m_sending)
        progress = tr("Sending…");
    else if (isPending && !why.isEmpty() && !isOver)
        progress = why;
    else if (mayContinue)
        progress = tr("Decided. The harness still waits: press Continue to deliver the decision.");
    m_progress->setText(progress);
    m_progress->setVisible(!progress.isEmpty());
    emit readinessChanged();
}

void ApprovalCard::paintEvent(QPaintEvent *event)
{
    QFrame::paintEvent(event);
    if (m_approval.state == engine::ApprovalState::Pending && !m_approval.seenAt.isValid() && m_seen != m_approval.id) {
        m_seen = m_approval.id;
        m_client.markSeen({m_approval.id}, personName());
    }
}

void ApprovalCard::changeEvent(QEvent *event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::ApplicationFontChange)
        m_title->setFont(sizedFont(2, true));
    if (event->type() == QEvent::PaletteChange && m_countdown)
        tick();
}

} // namespace ui
