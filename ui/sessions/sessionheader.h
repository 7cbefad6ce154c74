#pragma once

#include "engine/engineclient.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace models {
class SessionFollower;
}

namespace ui {

class StateLabel;

// Title (renamed in place), agent, model, mode and Stop of the open session.
class SessionHeader final : public QWidget
{
    Q_OBJECT

public:
    SessionHeader(engine::EngineClient &client, models::SessionFollower &follower, QWidget *parent = nullptr);

    void stop();
    void rename();

signals:
    void failed(const engine::Error &error);

private:
    void createViews();
    void connectFollower();
    void showSession();
    void showRun();
    void fillModes(engine::HarnessKind kind);
    void readAgents();
    void takeTitle();
    void report(const QFuture<engine::Result<engine::Session>> &answer);

    engine::EngineClient &m_client;
    models::SessionFollower &m_follower;
    QHash<engine::AgentId, engine::Agent> m_agents;
    QLineEdit *m_title = nullptr;
    QLabel *m_agent = nullptr;
    StateLabel *m_state = nullptr;
    QComboBox *m_model = nullptr;
    QComboBox *m_mode = nullptr;
    engine::HarnessKind m_modesOf = engine::HarnessKind::Claude; // whose words m_mode holds
    QPushButton *m_stop = nullptr;
    engine::RunId m_stopping;
};

} // namespace ui
