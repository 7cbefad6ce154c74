#pragma once

#include "models/queuemodel.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QPushButton;
class QSettings;
class QSplitter;
class QStackedLayout;

namespace ui {

class RunDetails;
class TrackView;

// What runs and what waits, one track per session, with the details of the chosen run.
class QueuePage final : public QWidget
{
    Q_OBJECT

public:
    QueuePage(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~QueuePage() override;

    TrackView *tracks() const { return m_tracks; }
    void focusFilter();

signals:
    void sessionActivated(const engine::SessionId &id);
    void sessionsAsked(); // the empty page's next step

private:
    void createViews();
    void createInspector(QWidget *parent);
    void connectModel();
    void showStats();
    void showCurrent();
    void cancel();
    void requeue();
    void showProblem(const QString &text);

    engine::EngineClient &m_client;
    QSettings &m_settings;
    models::QueueModel m_model;
    QTimer m_tick;
    bool m_asked = false; // cancelling a run under way is asked once, in the button itself
    QLabel *m_stats = nullptr;
    QLabel *m_problem = nullptr;
    QStackedLayout *m_stack = nullptr;
    QSplitter *m_splitter = nullptr;
    TrackView *m_tracks = nullptr;
    RunDetails *m_details = nullptr;
    QPushButton *m_open = nullptr;
    QPushButton *m_requeue = nullptr;
    QPushButton *m_cancel = nullptr;
};

} // namespace ui
