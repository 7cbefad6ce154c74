#include "models/reply.h"
// What the card shows of the action, and what it sends.
#include "ui/widgets/approvalcard.h"

#include "models/toolsummary.h"
#include "models/visibletext.h"
#include "ui/widgets/codeview.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/person.h"
#include "ui/widgets/questionform.h"
#include "ui/widgets/readwatch.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBrowser>

namespace ui {
namespace {

constexpr int codeLines = 16;
constexpr int editorLines = 8;
constexpr int planHeight = 320;

// Text of agents never makes the window read files or fetch pictures.
class PlanView final : public QTextBrowser
{
public:
    using QTextBrowser::QTextBrowser;

    QVariant loadResource(int, const QUrl &) override { return {}; }
};

void clearLayout(QLayout *layout)
{
    while (QLayoutItem *item = layout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
}

} // namespace

void ApprovalCard::showAction()
{
    clearLayout(m_bodyLayout);
    m_views.clear();
    m_plan = nullptr;
    m_questions = nullptr;
    m_editor = nullptr;
    m_editProblem = nullptr;
    m_editDiff = nullptr;
    if (!m_approval.reason.isEmpty()) {
        auto *reason = new QLabel(tr("Why it asks: %1").arg(models::visibleText(m_approval.reason).text), m_body);
        reason->setTextFormat(Qt::PlainText);
        reason->setWordWrap(true);
        m_bodyLayout->addWidget(reason);
    }
    const QList<models::Question> questions =
        m_approval.kind == engine::ApprovalKind::Question ? models::questionsOf(m_approval.input) : QList<models::Question>();
    if (!questions.isEmpty()) {
        m_questions = new QuestionForm(questions, m_body);
        connect(m_questions, &QuestionForm::changed, this, &ApprovalCard::updateButtons);
        m_bodyLayout->addWidget(m_questions);
    } else if (m_approval.kind == engine::ApprovalKind::Plan && !models::planOf(m_approval.input).isEmpty()) {
        showPlan();
    } else {
        for (const models::ActionPart &part : models::actionParts(m_approval))
            addPart(part);
    }
    showFacts();
}

void ApprovalCard::addCode(const QString &label, CodeView *view)
{
    auto *caption = new QLabel(label, m_body);
    caption->setForegroundRole(QPalette::PlaceholderText);
    view->setAccessibleName(label);
    m_bodyLayout->addWidget(caption);
    m_bodyLayout->addWidget(view);
    m_bodyLayout->addSpacing(grid);
    m_views.append(view);
    connect(view, &CodeView::readToEnd, this, &ApprovalCard::updateButtons);
}

void ApprovalCard::addPart(const models::ActionPart &part)
{
    auto *view = new CodeView(codeLines, m_body);
    if (part.diff.isEmpty())
        view->setCode(part.text);
    else
        view->setDiff(part.diff);
    addCode(part.label, view);
}

void ApprovalCard::showPlan()
{
    auto *plan = new PlanView(m_body);
    plan->setObjectName(QStringLiteral("plan"));
    plan->setAccessibleName(tr("Plan"));
    plan->setOpenLinks(false);
    plan->setFrameShape(QFrame::NoFrame);
    plan->document()->setMarkdown(models::visibleText(models::planOf(m_approval.input)).text, QTextDocument::MarkdownNoHTML);
    plan->setFixedHeight(planHeight);
    auto *watch = new ReadWatch(plan);
    connect(watch, &ReadWatch::readToEnd, this, [this, plan] {
        plan->setProperty("read", true);
        updateButtons();
    });
    m_plan = plan;
    m_bodyLayout->addWidget(plan);
}

void ApprovalCard::showFacts()
{
    const QList<models::RiskFact> facts = models::riskFacts(m_approval);
    for (const models::RiskFact &fact : facts) {
        auto *line = new QWidget(m_body);
        auto *layout = new QHBoxLayout(line);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(grid * 2);
        auto *mark = new QLabel(line);
        mark->setPixmap(iconPixmap(QStringLiteral("warning"), toneColour(models::Tone::Attention, palette()), 14,
                                   devicePixelRatioF()));
        layout->addWidget(mark, 0, Qt::AlignTop);
        auto *text = new QLabel(fact.what + QStringLiteral(": ") + models::visibleText(fact.why).text, line);
        text->setObjectName(QStringLiteral("fact"));
        text->setTextFormat(Qt::PlainText);
        text->setWordWrap(true);
        layout->addWidget(text, 1);
        m_bodyLayout->addWidget(line);
    }
}

void ApprovalCard::toggleEdit()
{
    if (m_editor) {
        showAction();
        showState();
        return;
    }
    if (m_approval.state != engine::ApprovalState::Pending || m_sending || !m_edit->isEnabled())
        return updateButtons();
    createEditor(models::prettyJson(QString::fromUtf8(m_approval.input.isEmpty() ? QByteArray("{}") : m_approval.input)));
    checkEdit();
    m_editor->setFocus();
}

void ApprovalCard::createEditor(const QString &text)
{
    auto *caption = new QLabel(tr("Arguments as JSON"), m_body);
    caption->setForegroundRole(QPalette::PlaceholderText);
    m_editor = new QPlainTextEdit(m_body);
    m_editor->setObjectName(QStringLiteral("editor"));
    m_editor->setAccessibleName(caption->text());
    m_editor->setFont(monospaceFont());
    m_editor->setTabChangesFocus(true);
    m_editor->setPlainText(text);
    m_editor->setFixedHeight(m_editor->fontMetrics().lineSpacing() * editorLines + grid * 3);
    m_editProblem = new QLabel(m_body);
    m_editProblem->setObjectName(QStringLiteral("editProblem"));
    m_editProblem->setWordWrap(true);
    m_editDiff = new CodeView(codeLines, m_body);
    m_editDiff->setObjectName(QStringLiteral("editDiff"));
    m_editDiff->setAccessibleName(tr("Changes against the request"));
    m_bodyLayout->addWidget(caption);
    m_bodyLayout->addWidget(m_editor);
    m_bodyLayout->addWidget(m_editProblem);
    m_bodyLayout->addWidget(m_editDiff);
    connect(m_editor, &QPlainTextEdit::textChanged, this, &ApprovalCard::checkEdit);
    connect(m_editDiff, &CodeView::readToEnd, this, &ApprovalCard::updateButtons);
}

void ApprovalCard::checkEdit()
{
    const QString text = m_editor->toPlainText();
    const QString original = QString::fromUtf8(m_approval.input);
    const QString problem = models::jsonObjectProblem(text);
    QPalette colours = palette();
    if (!problem.isEmpty())
        colours.setColor(QPalette::WindowText, toneColour(models::Tone::Danger, palette()));
    m_editProblem->setPalette(colours);
    m_editProblem->setText(!problem.isEmpty()                   ? problem
                           : models::isSameJson(text, original) ? tr("Nothing is changed yet.")
                                                                : tr("Exactly this runs instead of the request:"));
    m_editDiff->setVisible(problem.isEmpty());
    if (problem.isEmpty())
        m_editDiff->setDiff(models::lineDiff(models::prettyJson(original), models::prettyJson(text)));
    updateButtons();
}

void ApprovalCard::approve()
{
    if (mayApprove())
        send(engine::Verdict::Approve);
}

void ApprovalCard::deny()
{
    if (m_approval.state == engine::ApprovalState::Pending && !m_sending && m_deny->isEnabled())
        send(engine::Verdict::Deny);
}

void ApprovalCard::send(engine::Verdict verdict)
{
    engine::Decision decision;
    decision.id = m_approval.id;
    decision.digest = m_approval.digest;
    decision.verdict = verdict;
    decision.note = m_note->text().trimmed();
    decision.decidedBy = personName();
    decision.continueAfter = m_continueAfter;
    if (verdict == engine::Verdict::Approve) {
        if (m_editor && !models::isSameJson(m_editor->toPlainText(), QString::fromUtf8(m_approval.input)))
            decision.editedInput = m_editor->toPlainText().toUtf8();
        else if (m_questions)
            decision.editedInput = models::withAnswers(m_approval.input, m_questions->answers());
    }
    // A retry of the very same decision carries the same key, so that it counts once even if the first one arrived.
    const QString content = QString::number(int(verdict)) + decision.digest.value + decision.note +
                            QString::fromUtf8(decision.editedInput);
    if (m_key.isEmpty() || m_keyOf != content) {
        m_key = engine::newIdValue("k");
        m_keyOf = content;
    }
    decision.key = m_key;
    m_sending = true;
    m_problem->hide();
    updateButtons();
    models::onReply(m_client.resolve(decision), this, [this, id = decision.id](const engine::Result<engine::Resolved> &result) {
        if (id == m_approval.id)
            receive(result);
    });
}

void ApprovalCard::receive(const engine::Result<engine::Resolved> &result)
{
    m_sending = false;
    if (!result) {
        showProblem(result.error());
        reread();
        return;
    }
    if (m_editor)
        showAction();
    setApproval(result->approval);
    showState();
    emit resolved();
}

void ApprovalCard::continueRun()
{
    m_sending = true;
    m_problem->hide();
    updateButtons();
    const engine::ApprovalId id = m_approval.id;
    models::onReply(m_client.continueRun(m_approval.runId, personName(), false), this, [this, id](const engine::Result<engine::Continued> &result) {
            if (id != m_approval.id)
                return;
            m_sending = false;
            if (!result)
                showProblem(result.error());
            reread();
        });
}

void ApprovalCard::extend()
{
    if (m_approval.state != engine::ApprovalState::Pending || m_sending)
        return;
    m_extend->setEnabled(false);
    const engine::ApprovalId id = m_approval.id;
    constexpr int extensionSeconds = 15 * 60;
    models::onReply(m_client.extendApproval(id, extensionSeconds, personName()), this, [this, id](const engine::Result<engine::Approval> &result) {
            if (id != m_approval.id)
                return;
            if (result) {
                setApproval(*result);
            } else {
                showProblem(result.error());
                reread();
            }
        });
}

void ApprovalCard::reread()
{
    models::onReply(m_client.approval(m_approval.id), this, [this, id = m_approval.id](const engine::Result<engine::Approval> &result) {
        if (result && id == m_approval.id && result->id == id)
            setApproval(*result);
        updateButtons();
    });
}

void ApprovalCard::showProblem(const engine::Error &error)
{
    m_problemText->setText(error.message);
    m_problemText->setToolTip(error.detail);
    QPalette colours = palette();
    colours.setColor(QPalette::Window, toneFill(models::Tone::Danger, palette()));
    colours.setColor(QPalette::WindowText, toneColour(models::Tone::Danger, palette()));
    m_problem->setPalette(colours);
    m_problem->setBackgroundRole(QPalette::Window);
    m_problem->show();
    updateButtons();
}

void ApprovalCard::focusNote()
{
    m_note->setFocus(Qt::ShortcutFocusReason);
}

void ApprovalCard::focusDeny()
{
    m_deny->setFocus(Qt::ShortcutFocusReason);
}

} // namespace ui
