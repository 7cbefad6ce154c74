#pragma once

#include "engine/engineclient.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTabWidget;
class QTableWidget;

namespace models {
class SessionFollower;
}

namespace ui {

class ComputerPanel;
class RunDetails;

// Beside the transcript: the newest run's facts, this session's line, its computer, and the raw protocol.
class SessionInspector final : public QWidget
{
    Q_OBJECT

public:
    SessionInspector(engine::EngineClient &client, models::SessionFollower &follower, QWidget *parent = nullptr);

    void showQueue();

signals:
    void cancelAsked(const engine::RunId &id);
    void failed(const engine::Error &error);

private:
    QWidget *createRun();
    QWidget *createQueue();
    QWidget *createComputer();
    QWidget *createRaw();
    void showRuns();
    void readComputer();
    void readRaw();
    void startFresh();

    engine::EngineClient &m_client;
    models::SessionFollower &m_follower;
    QTabWidget *m_tabs = nullptr;
    RunDetails *m_details = nullptr;
    QPushButton *m_requeue = nullptr;
    QPushButton *m_fresh = nullptr;
    bool m_freshAsked = false;
    QTableWidget *m_line = nullptr;
    QLabel *m_lineEmpty = nullptr;
    QPushButton *m_cancel = nullptr;
    ComputerPanel *m_computer = nullptr;
    QTableWidget *m_raw = nullptr;
    QPlainTextEdit *m_rawText = nullptr;
    QTimer m_rawTimer;
    QTimer m_computerTimer;
};

} // namespace ui
