#include "ui/sessions/newsessiondialog.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace ui {

NewSessionDialog::NewSessionDialog(engine::EngineClient &client, QWidget *parent) : QDialog(parent), m_client(client)
{
    setWindowTitle(tr("New session"));
    m_agent = new QComboBox(this);
    m_agent->setAccessibleName(tr("Agent"));
    m_about = new QLabel(this);
    m_about->setWordWrap(true);
    m_workspace = new QLineEdit(this);
    m_workspace->setAccessibleName(tr("Folder"));
    m_workspace->setPlaceholderText(tr("A folder of its own"));
    auto *browse = new QPushButton(tr("Browse…"), this);
    m_title = new QLineEdit(this);
    m_title->setAccessibleName(tr("Title"));
    m_title->setPlaceholderText(tr("Taken from the first prompt"));
    m_problem = new QLabel(this);
    m_problem->setWordWrap(true);
    m_problem->hide();
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_create = buttons->addButton(tr("Create session"), QDialogButtonBox::AcceptRole);
    m_create->setEnabled(false);
    m_create->setToolTip(tr("The agents are being read."));

    auto *folder = new QHBoxLayout;
    folder->addWidget(m_workspace, 1);
    folder->addWidget(browse);
    auto *form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    form->addRow(tr("&Agent"), m_agent);
    form->addRow(QString(), m_about);
    form->addRow(tr("&Folder"), folder);
    form->addRow(tr("&Title"), m_title);
    auto *layout = new QVBoxLayout(this);
    layout->setSpacing(3 * grid);
    layout->addLayout(form);
    layout->addWidget(m_problem);
    layout->addStretch();
    layout->addWidget(buttons);
    resize(520, 260);

    connect(m_agent, &QComboBox::currentIndexChanged, this, &NewSessionDialog::showAgent);
    connect(browse, &QPushButton::clicked, this, &NewSessionDialog::browse);
    connect(buttons, &QDialogButtonBox::accepted, this, &NewSessionDialog::create);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    readAgents();
}

void NewSessionDialog::readAgents()
{
    models::onReply(m_client.agents(), this, [this](const engine::Result<QList<engine::Agent>> &agents) {
        if (!agents) {
            m_problem->setText(agents.error().message);
            m_problem->show();
            return;
        }
        m_agents.clear();
        for (const engine::Agent &agent : *agents) {
            if (agent.archived)
                continue;
            m_agents.append(agent);
            m_agent->addItem(agent.name);
        }
        m_create->setEnabled(!m_agents.isEmpty());
        m_create->setToolTip(m_agents.isEmpty() ? tr("There is no agent. Make one on the Agents page.") : QString());
    });
}

void NewSessionDialog::showAgent()
{
    const engine::Agent agent = m_agents.value(m_agent->currentIndex());
    m_about->setText(agent.harness == engine::HarnessKind::Replay
                         ? tr("Plays a recording; needs no key and no network.")
                         : models::providerSentence(agent.provider) + u' ' +
                               models::modeSentence(agent.harness, models::agentMode(agent)));
    m_workspace->setPlaceholderText(agent.workspace.isEmpty() ? tr("A folder of its own") : agent.workspace);
}

void NewSessionDialog::browse()
{
    auto *dialog = new QFileDialog(this, tr("Folder the agent works in"),
                                   m_workspace->text().isEmpty() ? QDir::homePath() : m_workspace->text());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, m_workspace, &QLineEdit::setText);
    dialog->open();
}

void NewSessionDialog::create()
{
    const engine::Agent agent = m_agents.value(m_agent->currentIndex());
    if (agent.id.isEmpty())
        return;
    m_create->setEnabled(false);
    const QString folder = m_workspace->text().trimmed();
    models::onReply(m_client.createSession({agent.id, m_title->text(), folder}, personName()), this,
                    [this](const engine::Result<engine::Session> &session) {
                        m_create->setEnabled(true);
                        if (!session) {
                            m_problem->setText(session.error().message);
                            m_problem->show();
                            return;
                        }
                        emit created(*session);
                        accept();
                    });
}

} // namespace ui
