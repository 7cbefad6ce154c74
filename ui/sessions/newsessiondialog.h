#pragma once

#include "engine/engineclient.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

// Agent, folder and title of a new session. Stays open with the reason when the engine refuses.
class NewSessionDialog final : public QDialog
{
    Q_OBJECT

public:
    explicit NewSessionDialog(engine::EngineClient &client, QWidget *parent = nullptr);

signals:
    void created(const engine::Session &session);

private:
    void readAgents();
    void showAgent();
    void browse();
    void create();

    engine::EngineClient &m_client;
    QList<engine::Agent> m_agents;
    QComboBox *m_agent = nullptr;
    QLabel *m_about = nullptr;
    QLineEdit *m_workspace = nullptr;
    QLineEdit *m_title = nullptr;
    QLabel *m_problem = nullptr;
    QPushButton *m_create = nullptr;
};

} // namespace ui
