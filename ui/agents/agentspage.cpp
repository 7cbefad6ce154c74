#include "ui/agents/agentspage.h"

#include "models/reply.h"
#include "models/displaytext.h"
#include "ui/agents/agentform.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>

namespace ui {
namespace {

constexpr int agentListWidth = 260;

struct AgentTemplate
{
    QString name;
    QString hint;
    engine::Agent agent;
};

QList<AgentTemplate> agentTemplates()
{
    engine::Agent careful;
    careful.name = AgentsPage::tr("Careful");
    careful.gate = engine::Gate::All;
    engine::Agent balanced;
    balanced.name = AgentsPage::tr("Balanced");
    engine::Agent handsOff;
    handsOff.name = AgentsPage::tr("Hands-off");
    handsOff.permissionMode = QStringLiteral("acceptEdits");
    handsOff.approvalTimeoutSeconds = 3600;
    return {{AgentsPage::tr("Careful"), AgentsPage::tr("every tool call asks you"), careful},
            {AgentsPage::tr("Balanced"), AgentsPage::tr("commands and edits ask you"), balanced},
            {AgentsPage::tr("Hands-off"), AgentsPage::tr("edits pass, commands ask you"), handsOff}};
}

} // namespace

AgentsPage::AgentsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings), m_model(client)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_splitter = new QSplitter(this);
    m_splitter->setChildrenCollapsible(false);
    createList(m_splitter);
    createEditor(m_splitter);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setSizes({agentListWidth, 900});
    layout->addWidget(m_splitter);
    connectModel();
    m_splitter->restoreState(m_settings.value(QStringLiteral("agents/splitter")).toByteArray());
    m_model.load();
    updateButtons();
}

AgentsPage::~AgentsPage()
{
    m_settings.setValue(QStringLiteral("agents/splitter"), m_splitter->saveState());
}

void AgentsPage::createList(QWidget *parent)
{
    auto *side = new QWidget(parent);
    side->setMinimumWidth(180);
    auto *layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, grid * 2, 0, grid * 2);
    layout->setSpacing(grid * 2);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(grid * 3, 0, grid * 2, 0);
    m_new = new QPushButton(tr("New agent"), side);
    m_new->setObjectName(QStringLiteral("newAgent"));
    auto *menu = new QMenu(m_new);
    for (const AgentTemplate &sample : agentTemplates())
        menu->addAction(tr("%1: %2").arg(sample.name, sample.hint), this, [this, sample] { begin(sample.agent); });
    m_new->setMenu(menu);
    top->addWidget(m_new);
    top->addStretch(1);
    layout->addLayout(top);
    m_list = new QListView(side);
    m_list->setObjectName(QStringLiteral("agentList"));
    m_list->setAccessibleName(tr("Agents"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setModel(&m_model);
    m_list->setUniformItemSizes(true);
    m_list->setSpacing(1);
    layout->addWidget(m_list, 1);
    auto *archived = new QCheckBox(tr("Show archived"), side);
    connect(archived, &QCheckBox::toggled, &m_model, &models::AgentListModel::setShowArchived);
    auto *foot = new QHBoxLayout;
    foot->setContentsMargins(grid * 3, 0, grid * 2, 0);
    foot->addWidget(archived);
    layout->addLayout(foot);
}

void AgentsPage::createEditor(QWidget *parent)
{
    auto *side = new QWidget(parent);
    side->setMinimumWidth(420);
    auto *layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto *scroll = new QScrollArea(side);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_form = new AgentForm(scroll);
    scroll->setWidget(m_form);
    layout->addWidget(scroll, 1);
    auto *line = new QHBoxLayout;
    line->setContentsMargins(grid * 4, grid * 2, grid * 4, grid * 3);
    line->setSpacing(grid * 2);
    m_save = new QPushButton(tr("Save"), side);
    m_revert = new QPushButton(tr("Revert"), side);
    m_duplicate = new QPushButton(tr("Duplicate"), side);
    m_archive = new QPushButton(tr("Archive"), side);
    m_save->setObjectName(QStringLiteral("save"));
    m_revert->setObjectName(QStringLiteral("revert"));
    m_duplicate->setObjectName(QStringLiteral("duplicate"));
    m_archive->setObjectName(QStringLiteral("archive"));
    m_message = new QLabel(side);
    m_message->setObjectName(QStringLiteral("agentMessage"));
    m_message->setWordWrap(true);
    line->addWidget(m_save);
    line->addWidget(m_revert);
    line->addWidget(m_message, 1);
    line->addWidget(m_duplicate);
    line->addWidget(m_archive);
    layout->addLayout(line);
}

void AgentsPage::connectModel()
{
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex &current) { showRow(current.row()); });
    connect(&m_model, &models::AgentListModel::loaded, this, [this] {
        if (!m_list->currentIndex().isValid() && m_stored.id.isEmpty() && !m_form->isChanged())
            m_list->setCurrentIndex(m_model.index(0));
    });
    connect(&m_model, &models::AgentListModel::failed, this,
            [this](const engine::Error &error) { showMessage(error.message, true); });
    connect(&m_model, &QAbstractItemModel::dataChanged, this, [this] {
        const engine::Agent *stored = m_model.at(m_model.rowOf(m_stored.id));
        if (stored && *stored != m_stored && !m_form->isChanged() && !m_saving) {
            m_stored = *stored;
            m_form->setAgent(*stored);
        }
    });
    connect(m_form, &AgentForm::edited, this, [this] {
        m_asked = false;
        updateButtons();
    });
    connect(m_save, &QPushButton::clicked, this, &AgentsPage::save);
    connect(m_revert, &QPushButton::clicked, this, &AgentsPage::revert);
    connect(m_duplicate, &QPushButton::clicked, this, &AgentsPage::duplicate);
    connect(m_archive, &QPushButton::clicked, this, &AgentsPage::archive);
}

void AgentsPage::showRow(int row)
{
    const engine::Agent *agent = m_model.at(row);
    if (!agent || agent->id == m_stored.id)
        return;
    if (m_form->isChanged()) {
        // Back to where the unsaved changes are; after the view has finished its own change.
        QMetaObject::invokeMethod(
            this,
            [this] {
                const int kept = m_model.rowOf(m_stored.id);
                m_list->setCurrentIndex(kept >= 0 ? m_model.index(kept) : QModelIndex());
            },
            Qt::QueuedConnection);
        showMessage(tr("Save or revert the changes first."), true);
        return;
    }
    m_stored = *agent;
    m_asked = false;
    m_form->setAgent(*agent);
    showMessage({}, false);
    updateButtons();
}

void AgentsPage::begin(const engine::Agent &agent)
{
    if (m_form->isChanged() && !m_stored.id.isEmpty()) {
        showMessage(tr("Save or revert the changes first."), true);
        return;
    }
    m_list->setCurrentIndex({});
    m_stored = {};
    m_form->setAgent(agent);
    m_form->focusName();
    showMessage(tr("A new agent; it is made when you save it."), false);
    updateButtons();
}

void AgentsPage::save()
{
    if (m_saving || !m_form->problem().isEmpty())
        return;
    m_saving = true;
    showMessage(tr("Saving…"), false);
    updateButtons();
    models::onReply(m_client.saveAgent(m_form->agent(), personName()), this, [this](const engine::Result<engine::Agent> &result) {
        m_saving = false;
        if (!result) {
            showMessage(result.error().message, true);
        } else {
            m_stored = *result;
            m_form->setAgent(*result);
            showMessage(tr("Saved. Running sessions take it up with their next start."), false);
            const int row = m_model.rowOf(result->id);
            if (row >= 0)
                m_list->setCurrentIndex(m_model.index(row));
        }
        updateButtons();
    });
}

void AgentsPage::revert()
{
    if (m_stored.id.isEmpty()) {
        m_form->setAgent({});
        m_list->setCurrentIndex(m_model.index(0));
    } else {
        m_form->setAgent(m_stored);
    }
    showMessage({}, false);
    updateButtons();
}

void AgentsPage::duplicate()
{
    engine::Agent copy = m_form->agent();
    copy.id = {};
    copy.name = tr("%1 (copy)").arg(copy.name);
    copy.archived = false;
    begin(copy);
}

void AgentsPage::archive()
{
    if (m_stored.id.isEmpty())
        return;
    if (!m_asked) {
        m_asked = true;
        showMessage(tr("Its sessions stay; no new ones start with it. Press once more to archive it."), true);
        updateButtons();
        return;
    }
    m_asked = false;
    models::onReply(m_client.archiveAgent(m_stored.id, personName()), this, [this](const engine::Result<engine::Agent> &result) {
        if (!result) {
            showMessage(result.error().message, true);
        } else {
            m_stored = *result;
            m_form->setAgent(*result);
            showMessage(tr("Archived."), false);
        }
        updateButtons();
    });
}

void AgentsPage::updateButtons()
{
    const bool isNew = m_stored.id.isEmpty();
    const QString problem = m_form->problem();
    const bool isChanged = m_form->isChanged() || (isNew && !m_form->agent().name.isEmpty());
    m_save->setEnabled(isChanged && problem.isEmpty() && !m_saving);
    m_save->setToolTip(m_saving ? tr("Saving…") : !problem.isEmpty() ? problem : isChanged ? QString() : tr("Nothing is changed."));
    m_revert->setEnabled(isChanged && !m_saving);
    m_duplicate->setEnabled(!isNew && !m_form->isChanged() && !m_saving);
    m_archive->setEnabled(!isNew && !m_stored.archived && !m_form->isChanged() && !m_saving);
    m_archive->setText(m_asked ? tr("Really archive") : tr("Archive"));
    m_archive->setToolTip(m_stored.archived ? tr("It is archived.") : QString());
}

void AgentsPage::showMessage(const QString &text, bool isProblem)
{
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText,
                     isProblem ? toneColour(models::Tone::Danger, colours) : mutedColour(colours));
    m_message->setPalette(colours);
    m_message->setText(text);
}

void AgentsPage::openAgent(const engine::AgentId &id)
{
    const int row = m_model.rowOf(id);
    if (row >= 0)
        m_list->setCurrentIndex(m_model.index(row));
}

void AgentsPage::focusFilter()
{
    m_list->setFocus(Qt::ShortcutFocusReason);
}

} // namespace ui
