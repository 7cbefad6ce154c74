#pragma once

#include "models/agentlistmodel.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QListView;
class QPushButton;
class QSettings;
class QSplitter;

namespace ui {

class AgentForm;

// How sessions are run: a list of agents and the form of the chosen one. Nothing is saved before Save is pressed, and
// changes that were not saved are not lost by choosing another agent: they hold the selection.
class AgentsPage final : public QWidget
{
    Q_OBJECT

public:
    AgentsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~AgentsPage() override;

    void openAgent(const engine::AgentId &id);
    void focusFilter();
    AgentForm *form() const { return m_form; }

private:
    void createList(QWidget *parent);
    void createEditor(QWidget *parent);
    void connectModel();
    void showRow(int row);
    void begin(const engine::Agent &agent);
    void save();
    void revert();
    void archive();
    void duplicate();
    void updateButtons();
    void showMessage(const QString &text, bool isProblem);

    engine::EngineClient &m_client;
    QSettings &m_settings;
    models::AgentListModel m_model;
    engine::Agent m_stored; // as the engine knows it; an empty id is a new one
    bool m_saving = false;
    bool m_asked = false; // "archive" was pressed once
    QSplitter *m_splitter = nullptr;
    QListView *m_list = nullptr;
    AgentForm *m_form = nullptr;
    QLabel *m_message = nullptr;
    QPushButton *m_new = nullptr;
    QPushButton *m_save = nullptr;
    QPushButton *m_revert = nullptr;
    QPushButton *m_duplicate = nullptr;
    QPushButton *m_archive = nullptr;
};

} // namespace ui
