// Where an agent's sessions run, and what its computer may use.
#include "ui/agents/agentform.h"

#include "models/displaytext.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>

namespace ui {
namespace {

const QString dockerProvider = QStringLiteral("docker");

} // namespace

void AgentForm::createComputerFields()
{
    m_provider = new QComboBox(this);
    m_provider->setObjectName(QStringLiteral("provider"));
    m_provider->addItem(tr("This computer"), QStringLiteral("host"));
    m_provider->addItem(tr("A container of its own"), dockerProvider);
    addRow(tr("Runs on"), m_provider, QStringLiteral(" "));
    m_image = new QLineEdit(this);
    m_image->setObjectName(QStringLiteral("image"));
    m_image->setPlaceholderText(tr("signalbox-agent:latest"));
    addRow(tr("Image"), m_image, tr("Built under Sandboxes. Another image works too, if it holds the harness."));
    m_memory = number(128, 1024 * 1024, tr(" MB"));
    m_memory->setObjectName(QStringLiteral("memory"));
    addRow(tr("Memory"), m_memory);
    m_cpus = new QDoubleSpinBox(this);
    m_cpus->setRange(0.1, 256);
    m_cpus->setDecimals(1);
    m_cpus->setMaximumWidth(180);
    addRow(tr("Processors"), m_cpus);
    m_processes = number(16, 1000000, {});
    addRow(tr("Processes"), m_processes, tr("Most that may run in it at once."));
    m_gateway = new QCheckBox(tr("Keep the key from the harness"), this);
    m_gateway->setObjectName(QStringLiteral("gateway"));
    addRow(tr("Gateway"), m_gateway, tr("The harness gets a token; Signalbox adds the key to its requests and counts them."));
    m_keyEntry = new QLineEdit(this);
    m_keyEntry->setPlaceholderText(tr("the key variable below"));
    addRow(tr("Key entry"), m_keyEntry, tr("Name of an entry in the desktop's secret store that holds the key."));
    m_tokenBudget = number(0, 1000000000, tr(" tokens"), tr("no limit"));
    addRow(tr("Budget per run"), m_tokenBudget, tr("Further model requests of a run are refused once it has used so many."));
}

bool AgentForm::isInContainer() const
{
    return m_provider->currentData().toString() == dockerProvider;
}

void AgentForm::setComputer(const engine::Agent &agent)
{
    if (m_provider->findData(agent.provider) < 0)
        m_provider->addItem(agent.provider, agent.provider);
    m_provider->setCurrentIndex(m_provider->findData(agent.provider));
    m_image->setText(agent.computer.image);
    m_memory->setValue(agent.computer.memoryMb);
    m_cpus->setValue(agent.computer.cpus);
    m_processes->setValue(agent.computer.processes);
    m_gateway->setChecked(agent.computer.gateway);
    m_keyEntry->setText(agent.computer.keyEntry);
    m_tokenBudget->setValue(agent.computer.maxTokensPerRun);
}

void AgentForm::readComputer(engine::Agent &agent) const
{
    agent.provider = m_provider->currentData().toString();
    agent.computer.image = m_image->text().trimmed();
    agent.computer.memoryMb = m_memory->value();
    agent.computer.cpus = m_cpus->value();
    agent.computer.processes = m_processes->value();
    agent.computer.gateway = m_gateway->isChecked();
    agent.computer.keyEntry = m_keyEntry->text().trimmed();
    agent.computer.maxTokensPerRun = m_tokenBudget->value();
}

} // namespace ui
