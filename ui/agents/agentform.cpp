#include "ui/agents/agentform.h"

#include "models/displaytext.h"
#include "ui/widgets/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSpinBox>
#include <QUrl>

namespace ui {
namespace {

constexpr int instructionLines = 5;
constexpr int formWidth = 720;

QStringList toolList(const QString &text)
{
    QStringList tools;
    for (const QString &tool : text.split(u',', Qt::SkipEmptyParts)) {
        if (!tool.trimmed().isEmpty())
            tools.append(tool.trimmed());
    }
    return tools;
}

} // namespace

AgentForm::AgentForm(QWidget *parent) : QWidget(parent)
{
    setMaximumWidth(formWidth);
    m_form = new QFormLayout(this);
    m_form->setContentsMargins(grid * 4, grid * 3, grid * 4, grid * 4);
    m_form->setHorizontalSpacing(grid * 4);
    m_form->setVerticalSpacing(grid * 2);
    m_form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    m_form->setRowWrapPolicy(QFormLayout::DontWrapRows);
    m_form->setLabelAlignment(Qt::AlignLeft | Qt::AlignTop);
    createFields();
    createHarnessFields();
    createLimitFields();
    connectFields();
    setAgent({});
}

QWidget *AgentForm::addRow(const QString &label, QWidget *field, const QString &hint)
{
    auto *cell = new QWidget(this);
    auto *column = new QVBoxLayout(cell);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    // The cell takes the form's whole width, so that its hint has room; a small field keeps its own.
    cell->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    const bool grows = field->sizePolicy().horizontalPolicy() & QSizePolicy::ExpandFlag;
    column->addWidget(field, 0, grows ? Qt::Alignment() : Qt::AlignLeft);
    auto *line = new QLabel(hint, cell);
    line->setWordWrap(true);
    line->setTextFormat(Qt::PlainText);
    line->setForegroundRole(QPalette::PlaceholderText);
    line->setVisible(!hint.isEmpty());
    column->addWidget(line);
    field->setAccessibleName(label);
    m_hints.insert(field, line);
    m_explanations.insert(field, hint);
    auto *caption = new QLabel(label, this);
    caption->setBuddy(field);
    caption->setContentsMargins(0, grid, 0, 0);
    m_form->addRow(caption, cell);
    return cell;
}

QSpinBox *AgentForm::number(int lowest, int highest, const QString &suffix, const QString &zero)
{
    auto *box = new QSpinBox(this);
    box->setRange(lowest, highest);
    box->setSuffix(suffix);
    box->setSpecialValueText(zero);
    box->setMaximumWidth(180);
    return box;
}

void AgentForm::createFields()
{
    m_name = new QLineEdit(this);
    m_name->setObjectName(QStringLiteral("agentName"));
    addRow(tr("Name"), m_name);
    m_harness = new QComboBox(this);
    for (engine::HarnessKind kind : {engine::HarnessKind::Claude, engine::HarnessKind::Codex, engine::HarnessKind::Replay})
        m_harness->addItem(models::harnessWords(kind), int(kind));
    m_harness->setObjectName(QStringLiteral("harness"));
    addRow(tr("Harness"), m_harness, QStringLiteral(" "));
    createComputerFields();
    m_workspace = new QLineEdit(this);
    m_workspace->setObjectName(QStringLiteral("agentWorkspace"));
    m_workspace->setPlaceholderText(tr("a folder of its own per session"));
    addRow(tr("Workspace"), m_workspace, tr("Folder that sessions start in."));
    m_mode = new QComboBox(this);
    m_mode->setObjectName(QStringLiteral("permissionMode"));
    for (const char *mode : {"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"})
        m_mode->addItem(QString::fromLatin1(mode));
    addRow(tr("Permission mode"), m_mode, QStringLiteral(" "));
    m_policy = new QComboBox(this);
    m_policy->setObjectName(QStringLiteral("approvalPolicy"));
    for (const char *policy : {"on-request", "untrusted", "never"})
        m_policy->addItem(QString::fromLatin1(policy));
    addRow(tr("Approval policy"), m_policy, QStringLiteral(" "));
    m_sandbox = new QComboBox(this);
    m_sandbox->setObjectName(QStringLiteral("sandboxMode"));
    for (const char *mode : {"read-only", "workspace-write", "danger-full-access", "external"})
        m_sandbox->addItem(QString::fromLatin1(mode));
    addRow(tr("Codex's sandbox"), m_sandbox, QStringLiteral(" "));
    m_gate = new QComboBox(this);
    m_gate->setObjectName(QStringLiteral("gate"));
    m_gate->addItem(tr("What the harness asks"), int(engine::Gate::Native));
    m_gate->addItem(tr("Everything"), int(engine::Gate::All));
    addRow(tr("Gate"), m_gate, QStringLiteral(" "));
    m_instructions = new QPlainTextEdit(this);
    m_instructions->setTabChangesFocus(true);
    m_instructions->setFixedHeight(fontMetrics().lineSpacing() * instructionLines + grid * 3);
    addRow(tr("Instructions"), m_instructions, tr("Added to the harness's own system prompt."));
}

void AgentForm::createHarnessFields()
{
    m_program = new QLineEdit(this);
    m_program->setObjectName(QStringLiteral("agentProgram"));
    m_program->setPlaceholderText(tr("searched in PATH and the npm folder"));
    addRow(tr("Program"), m_program);
    m_model = new QLineEdit(this);
    m_model->setPlaceholderText(tr("the harness's default"));
    addRow(tr("Model"), m_model);
    m_baseUrl = new QLineEdit(this);
    m_baseUrl->setPlaceholderText(tr("ANTHROPIC_BASE_URL of the environment, else the vendor's"));
    addRow(tr("Base URL"), m_baseUrl);
    m_keyVariable = new QLineEdit(this);
    m_keyVariable->setObjectName(QStringLiteral("keyVariable"));
    addRow(tr("Key variable"), m_keyVariable, tr("Name of the environment variable that holds the key. The key itself is never stored."));
    m_recording = new QLineEdit(this);
    m_recording->setObjectName(QStringLiteral("recording"));
    addRow(tr("Recording"), m_recording, tr("What is played instead of a model; needs no key and no network."));
    m_speed = new QDoubleSpinBox(this);
    m_speed->setRange(0, 1000);
    m_speed->setDecimals(1);
    m_speed->setSuffix(tr(" ×"));
    m_speed->setSpecialValueText(tr("without waiting"));
    m_speed->setMaximumWidth(180);
    addRow(tr("Speed"), m_speed);
    m_allowed = new QLineEdit(this);
    addRow(tr("Allowed tools"), m_allowed, tr("Pass without asking, for example: Read, Bash(git status)"));
    m_disallowed = new QLineEdit(this);
    addRow(tr("Denied tools"), m_disallowed, tr("Never run, whatever the mode."));
}

void AgentForm::createLimitFields()
{
    m_approvalTimeout = number(5, 7 * 24 * 3600, tr(" s"));
    addRow(tr("Approval time"), m_approvalTimeout, QStringLiteral(" "));
    m_warm = number(0, 24 * 3600, tr(" s"), tr("not kept"));
    addRow(tr("Kept warm"), m_warm, tr("An idle harness process is kept this long, so that the next turn starts at once."));
    m_maxTurns = number(0, 10000, {}, tr("no limit"));
    addRow(tr("Turns per run"), m_maxTurns);
    m_maxAttempts = number(1, 10, {});
    addRow(tr("Attempts"), m_maxAttempts);
    m_maxQueued = number(1, 10000, {});
    addRow(tr("Waiting runs"), m_maxQueued, tr("Most that may wait in one session."));
}

void AgentForm::connectFields()
{
    for (QLineEdit *field : findChildren<QLineEdit *>())
        connect(field, &QLineEdit::textChanged, this, &AgentForm::check);
    connect(m_harness, &QComboBox::activated, this, &AgentForm::harnessChosen);
    for (QComboBox *field : {m_harness, m_provider, m_mode, m_policy, m_sandbox, m_gate})
        connect(field, &QComboBox::currentIndexChanged, this, &AgentForm::check);
    for (QSpinBox *field : {m_approvalTimeout, m_warm, m_maxTurns, m_maxAttempts, m_maxQueued, m_memory, m_processes, m_tokenBudget})
        connect(field, &QSpinBox::valueChanged, this, &AgentForm::check);
    for (QDoubleSpinBox *field : {m_speed, m_cpus})
        connect(field, &QDoubleSpinBox::valueChanged, this, &AgentForm::check);
    connect(m_gateway, &QCheckBox::toggled, this, &AgentForm::check);
    connect(m_instructions, &QPlainTextEdit::textChanged, this, &AgentForm::check);
}

void AgentForm::setAgent(const engine::Agent &agent)
{
    m_setting = true;
    m_agent = agent;
    m_name->setText(agent.name);
    m_harness->setCurrentIndex(m_harness->findData(int(agent.harness)));
    setComputer(agent);
    m_program->setText(agent.program);
    m_model->setText(agent.model);
    m_baseUrl->setText(agent.baseUrl);
    m_keyVariable->setText(agent.keyVariable);
    m_recording->setText(agent.recording);
    m_speed->setValue(agent.replaySpeed);
    if (m_mode->findText(agent.permissionMode) < 0)
        m_mode->addItem(agent.permissionMode);
    m_mode->setCurrentText(agent.permissionMode);
    const QString policy = agent.approvalPolicy.isEmpty() ? models::agentMode(agent) : agent.approvalPolicy;
    for (const auto &[box, word] : {std::pair{m_policy, agent.harness == engine::HarnessKind::Codex ? policy : QString()},
                                    std::pair{m_sandbox, agent.sandboxMode}}) {
        if (!word.isEmpty() && box->findText(word) < 0)
            box->addItem(word);
        box->setCurrentIndex(word.isEmpty() ? 0 : box->findText(word));
    }
    m_gate->setCurrentIndex(m_gate->findData(int(agent.gate)));
    m_workspace->setText(agent.workspace);
    m_instructions->setPlainText(agent.instructions);
    m_allowed->setText(agent.allowedTools.join(QStringLiteral(", ")));
    m_disallowed->setText(agent.disallowedTools.join(QStringLiteral(", ")));
    m_approvalTimeout->setValue(agent.approvalTimeoutSeconds);
    m_warm->setValue(agent.warmSeconds);
    m_maxTurns->setValue(agent.maxTurns);
    m_maxAttempts->setValue(agent.maxAttempts);
    m_maxQueued->setValue(agent.maxQueued);
    m_setting = false;
    check();
}

engine::Agent AgentForm::agent() const
{
    engine::Agent agent = m_agent;
    agent.name = m_name->text().trimmed();
    agent.harness = engine::HarnessKind(m_harness->currentData().toInt());
    agent.program = m_program->text().trimmed();
    agent.model = m_model->text().trimmed();
    agent.baseUrl = m_baseUrl->text().trimmed();
    agent.keyVariable = m_keyVariable->text().trimmed();
    agent.recording = m_recording->text().trimmed();
    agent.replaySpeed = m_speed->value();
    agent.permissionMode = m_mode->currentText();
    agent.gate = engine::Gate(m_gate->currentData().toInt());
    if (agent.harness == engine::HarnessKind::Codex) {
        // The default stays unsaid until it is changed, so that an agent that was only looked at is not another one.
        const QString policy = m_policy->currentText();
        const bool isDefault = policy == u"on-request" || agent.gate == engine::Gate::All;
        agent.approvalPolicy = isDefault && m_agent.approvalPolicy.isEmpty() ? QString() : policy;
        if (agent.gate == engine::Gate::All && !agent.approvalPolicy.isEmpty())
            agent.approvalPolicy = QStringLiteral("untrusted");
        const QString mode = m_sandbox->currentText();
        agent.sandboxMode = mode == u"read-only" && m_agent.sandboxMode.isEmpty() ? QString() : mode;
    }
    readComputer(agent);
    agent.workspace = m_workspace->text().trimmed();
    agent.instructions = m_instructions->toPlainText();
    agent.allowedTools = toolList(m_allowed->text());
    agent.disallowedTools = toolList(m_disallowed->text());
    agent.approvalTimeoutSeconds = m_approvalTimeout->value();
    agent.warmSeconds = m_warm->value();
    agent.maxTurns = m_maxTurns->value();
    agent.maxAttempts = m_maxAttempts->value();
    agent.maxQueued = m_maxQueued->value();
    return agent;
}

bool AgentForm::isChanged() const
{
    return agent() != m_agent;
}

QString AgentForm::problem() const
{
    return m_problems.isEmpty() ? QString() : m_problems.first();
}

void AgentForm::mark(QWidget *field, const QString &problem)
{
    QLabel *line = m_hints.value(field);
    QPalette colours = palette();
    if (problem.isEmpty()) {
        m_problems.remove(field);
        line->setForegroundRole(QPalette::PlaceholderText);
    } else {
        m_problems.insert(field, problem);
        colours.setColor(QPalette::WindowText, toneColour(models::Tone::Danger, colours));
        line->setForegroundRole(QPalette::WindowText);
    }
    line->setPalette(colours);
    line->setText(problem.isEmpty() ? m_explanations.value(field) : problem);
    line->setVisible(!line->text().trimmed().isEmpty());
    field->setAccessibleDescription(line->text());
}

// Another vendor's key is not sent to this one by mistake.
void AgentForm::harnessChosen()
{
    const bool isCodex = m_harness->currentData().toInt() == int(engine::HarnessKind::Codex);
    const QString present = m_keyVariable->text().trimmed();
    if (isCodex && present.startsWith(u"ANTHROPIC_"))
        m_keyVariable->setText(QStringLiteral("OPENAI_API_KEY"));
    else if (!isCodex && present == u"OPENAI_API_KEY")
        m_keyVariable->setText(QStringLiteral("ANTHROPIC_API_KEY"));
}

// What a harness has no use for is not shown; the sentence below its name says what it lacks.
void AgentForm::showFields(engine::HarnessKind kind)
{
    const bool isReplay = kind == engine::HarnessKind::Replay;
    const bool isCodex = kind == engine::HarnessKind::Codex;
    const auto show = [this](QWidget *field, bool shown) {
        QWidget *cell = field->parentWidget();
        cell->setVisible(shown);
        m_form->labelForField(cell)->setVisible(shown);
    };
    for (QWidget *field : {m_program, m_model, m_baseUrl, m_keyVariable})
        show(field, !isReplay);
    show(m_recording, isReplay);
    show(m_speed, isReplay);
    show(m_mode, !isCodex);
    show(m_policy, isCodex);
    show(m_sandbox, isCodex);
    for (QWidget *field : {static_cast<QWidget *>(m_allowed), static_cast<QWidget *>(m_disallowed), static_cast<QWidget *>(m_maxTurns)})
        show(field, !isCodex);
    const bool inContainer = isInContainer() && !isReplay;
    m_explanations[m_provider] = isReplay      ? tr("A recording runs nothing.")
                                 : inContainer ? tr("No network, no key and none of your files inside; the workspace is copied in at the first start.")
                                               : tr("It can read and change whatever you can. Keep the gate on.");
    mark(m_provider, inContainer && isCodex ? tr("Codex runs on this computer only.") : QString());
    for (QWidget *field : {static_cast<QWidget *>(m_image), static_cast<QWidget *>(m_memory), static_cast<QWidget *>(m_cpus),
                           static_cast<QWidget *>(m_processes)})
        show(field, inContainer);
    show(m_gateway, !inContainer && kind == engine::HarnessKind::Claude);
    const bool usesGateway = inContainer || (m_gateway->isChecked() && kind == engine::HarnessKind::Claude);
    show(m_keyEntry, usesGateway);
    show(m_tokenBudget, usesGateway);
    m_policy->setEnabled(m_gate->currentData().toInt() == int(engine::Gate::Native));
    m_baseUrl->setPlaceholderText(isCodex ? tr("OPENAI_BASE_URL of the environment, else the vendor's")
                                          : tr("ANTHROPIC_BASE_URL of the environment, else the vendor's"));
}

void AgentForm::showSentences()
{
    const auto kind = engine::HarnessKind(m_harness->currentData().toInt());
    const bool asksAll = m_gate->currentData().toInt() == int(engine::Gate::All);
    m_explanations[m_harness] = models::harnessLimits(kind);
    m_explanations[m_policy] = models::approvalPolicySentence(asksAll ? QStringLiteral("untrusted") : m_policy->currentText());
    m_explanations[m_sandbox] = models::sandboxModeSentence(m_sandbox->currentText());
    m_explanations[m_mode] = models::permissionModeSentence(m_mode->currentText());
    m_explanations[m_gate] = models::gateSentence(engine::Gate(m_gate->currentData().toInt()));
    m_explanations[m_approvalTimeout] =
        tr("A request that nobody decides in %1 is denied as timed out.").arg(models::duration(qint64(m_approvalTimeout->value()) * 1000));
    showFields(kind);
}

void AgentForm::check()
{
    if (m_setting)
        return;
    static const QRegularExpression variable(QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*$"));
    showSentences();
    const engine::Agent now = agent();
    const bool isReplay = now.harness == engine::HarnessKind::Replay;
    mark(m_name, now.name.isEmpty() ? tr("The agent needs a name.") : QString());
    mark(m_workspace, now.workspace.isEmpty() || QFileInfo(now.workspace).isDir()
                          ? QString()
                          : tr("There is no folder %1.").arg(now.workspace));
    mark(m_program, isReplay || isInContainer() || now.program.isEmpty() || QFileInfo(now.program).isExecutable()
                        ? QString()
                        : tr("There is no program %1 that may be run.").arg(now.program));
    const QUrl url(now.baseUrl, QUrl::StrictMode);
    const bool isUrl = url.isValid() && (url.scheme() == u"http" || url.scheme() == u"https") && !url.host().isEmpty();
    mark(m_baseUrl, isReplay || now.baseUrl.isEmpty() || isUrl ? QString() : tr("An address begins with http:// or https://."));
    mark(m_keyVariable, isReplay || now.keyVariable.isEmpty() || variable.match(now.keyVariable).hasMatch()
                            ? QString()
                            : tr("This is no name of an environment variable. The key itself does not belong here."));
    const bool hasRecording = now.recording.startsWith(u':') || QFileInfo(now.recording).isFile();
    mark(m_recording, !isReplay              ? QString()
                      : now.recording.isEmpty() ? tr("A replay agent needs a recording.")
                      : hasRecording            ? QString()
                                                : tr("There is no recording %1.").arg(now.recording));
    const bool isForeignKey = now.harness == engine::HarnessKind::Codex && now.keyVariable.startsWith(u"ANTHROPIC_");
    if (isForeignKey)
        mark(m_keyVariable, tr("This variable holds another vendor's key."));
    mark(m_sandbox, now.harness == engine::HarnessKind::Codex && now.sandboxMode == u"external" && now.provider == u"host"
                        ? tr("Nothing around Codex isolates it on this computer.")
                        : QString());
    for (QWidget *field : {static_cast<QWidget *>(m_harness), static_cast<QWidget *>(m_mode), static_cast<QWidget *>(m_policy),
                           static_cast<QWidget *>(m_gate), static_cast<QWidget *>(m_approvalTimeout)})
        mark(field, {});
    emit edited();
}

void AgentForm::focusName()
{
    m_name->setFocus(Qt::OtherFocusReason);
    m_name->selectAll();
}

} // namespace ui
