#include "ui/sessions/sessionheader.h"
#include "models/reply.h"
#include "models/displaytext.h"
#include "models/sessionfollower.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/person.h"
#include "ui/widgets/statelabel.h"
#include "ui/widgets/theme.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace ui {

SessionHeader::SessionHeader(engine::EngineClient &client, models::SessionFollower &follower, QWidget *parent)
    : QWidget(parent), m_client(client), m_follower(follower)
{
    createViews();
    connectFollower();
    readAgents();
    showSession();
    showRun();
}

void SessionHeader::createViews()
{
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(4 * grid, 2 * grid, 4 * grid, 2 * grid);
    layout->setHorizontalSpacing(2 * grid);
    layout->setVerticalSpacing(grid);
    m_title = new QLineEdit(this);
    m_title->setFrame(false);
    m_title->setFont(sizedFont(2, true));
    m_title->setMaxLength(200);
    m_title->setAccessibleName(tr("Title of the session"));
    m_title->setToolTip(tr("Click to rename (F2)"));
    QPalette flat = m_title->palette();
    flat.setColor(QPalette::Base, Qt::transparent);
    m_title->setPalette(flat);
    m_title->setTextMargins(-2, 0, 0, 0);
    m_state = new StateLabel(this);
    m_stop = new QPushButton(icon(QStringLiteral("stop"), palette().color(QPalette::ButtonText)), tr("Stop"), this);
    layout->addWidget(m_title, 0, 0, 1, 3);
    layout->addWidget(m_state, 0, 3, Qt::AlignRight | Qt::AlignVCenter);
    layout->addWidget(m_stop, 0, 4);
    m_agent = new QLabel(this);
    m_agent->setTextFormat(Qt::PlainText);
    m_agent->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_agent->setForegroundRole(QPalette::PlaceholderText);
    m_model = new QComboBox(this);
    m_model->setEditable(true);
    m_model->setInsertPolicy(QComboBox::NoInsert);
    m_model->setMinimumContentsLength(16);
    m_model->lineEdit()->setPlaceholderText(tr("Agent's model"));
    m_model->setAccessibleName(tr("Model of this session"));
    m_model->setToolTip(tr("Model of this session. Empty: the agent's own."));
    m_model->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_model->addItems({QString(), QStringLiteral("sonnet"), QStringLiteral("opus"), QStringLiteral("haiku")});
    m_mode = new QComboBox(this);
    m_mode->setAccessibleName(tr("Permission mode of this session"));
    fillModes(engine::HarnessKind::Claude);
    layout->addWidget(m_agent, 1, 0);
    layout->addWidget(m_model, 1, 1, 1, 2);
    layout->addWidget(m_mode, 1, 3, 1, 2);
    layout->setColumnStretch(0, 1);
}

void SessionHeader::connectFollower()
{
    connect(&m_follower, &models::SessionFollower::sessionChanged, this, &SessionHeader::showSession);
    connect(&m_follower, &models::SessionFollower::runsChanged, this, &SessionHeader::showRun);
    connect(m_title, &QLineEdit::editingFinished, this, &SessionHeader::takeTitle);
    connect(m_stop, &QPushButton::clicked, this, &SessionHeader::stop);
    connect(m_model, &QComboBox::activated, this, [this] { m_model->lineEdit()->clearFocus(); });
    const auto takeModel = [this] {
        const QString model = m_model->currentText().trimmed();
        if (!m_follower.session().id.isEmpty() && model != m_follower.session().model)
            report(m_client.setSessionModel(m_follower.id(), model));
    };
    connect(m_model, &QComboBox::activated, this, takeModel);
    connect(m_model->lineEdit(), &QLineEdit::editingFinished, this, takeModel);
    connect(m_mode, &QComboBox::activated, this, [this] {
        const QString mode = m_mode->currentData().toString();
        if (!m_follower.session().id.isEmpty() && mode != m_follower.session().permissionMode)
            report(m_client.setSessionMode(m_follower.id(), mode));
    });
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        for (const engine::Agent &agent : batch.agents)
            m_agents.insert(agent.id, agent);
        if (!batch.agents.isEmpty())
            showSession();
    });
}

void SessionHeader::readAgents()
{
    models::onReply(m_client.agents(), this, [this](const engine::Result<QList<engine::Agent>> &result) {
        if (!result) {
            emit failed(result.error());
            return;
        }
        for (const engine::Agent &agent : *result)
            m_agents.insert(agent.id, agent);
        showSession();
    });
}

void SessionHeader::report(const QFuture<engine::Result<engine::Session>> &answer)
{
    models::onReply(QFuture<engine::Result<engine::Session>>(answer), this, [this](const engine::Result<engine::Session> &result) {
        if (!result)
            emit failed(result.error());
        showSession(); // the truth, also when it was refused
    });
}

void SessionHeader::showSession()
{
    const engine::Session &session = m_follower.session();
    setEnabled(!session.id.isEmpty());
    if (!m_title->hasFocus() || m_title->property("session") != session.id.value) {
        m_title->setText(session.title.isEmpty() && !session.id.isEmpty() ? tr("New session") : session.title);
        m_title->setCursorPosition(0);
        m_title->setProperty("session", session.id.value);
    }
    const engine::Agent agent = m_agents.value(session.agentId);
    QString words = session.agentName;
    if (!agent.id.isEmpty())
        words += QStringLiteral(" · ") + models::harnessWords(agent.harness);
    if (!session.workspace.isEmpty())
        words += QStringLiteral(" · ") + session.workspace;
    m_agent->setText(words);
    m_agent->setToolTip(words + u"\n" + models::providerSentence(agent.provider));
    if (!m_model->lineEdit()->hasFocus())
        m_model->setCurrentText(session.model);
    m_model->lineEdit()->setPlaceholderText(agent.model.isEmpty() ? tr("Agent's model") : tr("Agent's: %1").arg(agent.model));
    fillModes(agent.harness);
    const int mode = m_mode->findData(session.permissionMode);
    if (mode < 0)
        m_mode->addItem(session.permissionMode, session.permissionMode);
    m_mode->setCurrentIndex(m_mode->findData(session.permissionMode));
    m_mode->setToolTip(models::modeSentence(
        agent.harness, session.permissionMode.isEmpty() ? models::agentMode(agent) : session.permissionMode));
}

// The words of the session's harness; the list is only made anew when that is another one.
void SessionHeader::fillModes(engine::HarnessKind kind)
{
    if (m_mode->count() > 0 && kind == m_modesOf)
        return;
    m_modesOf = kind;
    m_mode->clear();
    m_mode->addItem(tr("Agent's mode"), QString());
    QList<std::pair<QString, const char *>> modes{{tr("Ask"), "default"},
                                                  {tr("Accept edits"), "acceptEdits"},
                                                  {tr("Plan only"), "plan"},
                                                  {tr("Never ask, refuse"), "dontAsk"},
                                                  {tr("Bypass permissions"), "bypassPermissions"}};
    if (kind == engine::HarnessKind::Codex)
        modes = {{tr("Ask when needed"), "on-request"}, {tr("Ask for everything"), "untrusted"}, {tr("Never ask"), "never"}};
    for (const auto &[word, mode] : std::as_const(modes)) {
        m_mode->addItem(word, QString::fromLatin1(mode));
        m_mode->setItemData(m_mode->count() - 1, models::modeSentence(kind, QString::fromLatin1(mode)), Qt::ToolTipRole);
    }
}

void SessionHeader::showRun()
{
    const engine::Run *active = m_follower.activeRun();
    m_state->setVisible(active);
    if (active)
        m_state->setLook(models::look(active->state));
    const bool stopping = active && (active->cancelRequested || active->id == m_stopping);
    m_stop->setText(stopping ? tr("Stopping…") : tr("Stop"));
    m_stop->setEnabled(active && !stopping);
    m_stop->setToolTip(!active    ? tr("Nothing runs in this session.")
                       : stopping ? tr("The run was asked to end.")
                                  : tr("Cancel the run (Ctrl+.); waiting prompts stay in line"));
}

void SessionHeader::stop()
{
    const engine::Run *active = m_follower.activeRun();
    if (!active)
        return;
    m_stopping = active->id;
    showRun();
    models::onReply(m_client.cancelRun(active->id, personName()), this, [this](const engine::Result<engine::Run> &result) {
        m_stopping = {};
        if (!result)
            emit failed(result.error());
        showRun();
    });
}

void SessionHeader::rename()
{
    m_title->setFocus(Qt::ShortcutFocusReason);
    m_title->selectAll();
}

void SessionHeader::takeTitle()
{
    const engine::Session &session = m_follower.session();
    const QString title = m_title->text().trimmed();
    if (session.id.isEmpty() || m_title->property("session") != session.id.value || title == session.title ||
        (session.title.isEmpty() && title == tr("New session")))
        return;
    if (title.isEmpty()) {
        m_title->setText(session.title);
        return;
    }
    report(m_client.renameSession(session.id, title));
}

} // namespace ui
