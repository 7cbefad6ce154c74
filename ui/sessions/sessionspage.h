#pragma once

#include "engine/engineclient.h"
#include "models/sessionfollower.h"
#include "models/transcriptmodel.h"

#include <QWidget>

class QSettings;
class QSplitter;
class QStackedLayout;
class QToolButton;
class QLabel;

namespace ui {

class ApprovalCard;
class Composer;
class FindBar;
class SessionHeader;
class SessionInspector;
class SessionListPane;
class TranscriptView;
class WaitingStrip;

// Live sessions: list, transcript with its pending approvals and composer, inspector. GUI thread.
class SessionsPage final : public QWidget
{
    Q_OBJECT

public:
    SessionsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~SessionsPage() override;

    void openSession(const engine::SessionId &id);
    engine::SessionId current() const { return m_follower.id(); }
    void newSession();
    void focusFilter();
    void find();

signals:
    void approvalActivated(const engine::ApprovalId &id);
    void failed(const engine::Error &error);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void createViews();
    QWidget *createMain();
    void connectParts();
    void showRuns();
    void showApprovals();
    void showNews(qint64 unseen);
    void placeNews();
    bool eventFilter(QObject *object, QEvent *event) override;
    void show(const engine::SessionId &id);
    void cancel(const engine::RunId &id);

    engine::EngineClient &m_client;
    QSettings &m_settings;
    models::SessionFollower m_follower;
    models::TranscriptModel m_model;
    SessionListPane *m_list = nullptr;
    QStackedLayout *m_stack = nullptr;
    SessionHeader *m_header = nullptr;
    TranscriptView *m_transcript = nullptr;
    QToolButton *m_news = nullptr;
    FindBar *m_find = nullptr;
    QWidget *m_pinned = nullptr;
    QLabel *m_pinnedMore = nullptr;
    ApprovalCard *m_card = nullptr;
    WaitingStrip *m_waiting = nullptr;
    Composer *m_composer = nullptr;
    SessionInspector *m_inspector = nullptr;
    QSplitter *m_splitter = nullptr;
};

} // namespace ui
