#pragma once

#include "engine/engineclient.h"

#include <QTimer>
#include <QWidget>

class QFormLayout;
class QLabel;
class QPushButton;

namespace ui {

class ChecklistView;
class StateLabel;

// One computer: its facts, its checklist read back, and what can be done with it. In Sandboxes and beside a transcript.
class ComputerPanel final : public QWidget
{
    Q_OBJECT

public:
    enum class Place { Sandboxes, Session };

    ComputerPanel(engine::EngineClient &client, Place place, QWidget *parent = nullptr);

    void setComputer(const engine::Computer &computer);
    void clear(const QString &why);
    void stop(); // asks once, in its button

signals:
    void sessionActivated(const engine::SessionId &id);
    void failed(const engine::Error &error);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void createButtons();
    void showFacts();
    void add(const QString &label, QLabel *&value);
    void fill(QLabel *value, const QString &text, const QString &tip = {});
    void showProof();
    void check();
    void showButtons();
    void act(const QFuture<engine::Result<void>> &answer, const QString &doing);
    QString stopProblem() const;

    engine::EngineClient &m_client;
    Place m_place;
    engine::Computer m_computer; // an empty session id: none
    int m_epoch = 0;             // of the checklist
    bool m_hasToCheck = false;
    bool m_asked = false;
    QString m_doing; // "pausing…" until the answer
    QTimer m_tick;
    QLabel *m_title = nullptr;
    QLabel *m_none = nullptr;
    QWidget *m_body = nullptr;
    QWidget *m_bar = nullptr;
    StateLabel *m_state = nullptr;
    QFormLayout *m_form = nullptr;
    QLabel *m_why = nullptr, *m_agent = nullptr, *m_provider = nullptr, *m_image = nullptr, *m_generation = nullptr;
    QLabel *m_started = nullptr, *m_processor = nullptr, *m_memory = nullptr, *m_processes = nullptr, *m_warm = nullptr;
    QLabel *m_name = nullptr, *m_message = nullptr;
    ChecklistView *m_checklist = nullptr;
    QPushButton *m_pause = nullptr, *m_resume = nullptr, *m_stop = nullptr, *m_open = nullptr, *m_copy = nullptr;
};

} // namespace ui
