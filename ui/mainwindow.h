#pragma once

#include "engine/engineclient.h"

#include <QMainWindow>

class QAction;
class QLabel;
class QSettings;
class QStackedWidget;
class QToolButton;

namespace ui {

class AgentsPage;
class ApprovalsPage;
class Banner;
class CommandPalette;
class QueuePage;
class Rail;
class SandboxesPage;
class SessionsPage;
class SettingsPage;

// Places pages, menus and geometry. GUI thread; `client` and `settings` outlive it.
class MainWindow final : public QMainWindow
{
    Q_OBJECT

public:
    MainWindow(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~MainWindow() override;

    // "sessions", "queue", "approvals", "agents", "sandboxes", "settings"
    void showPage(const QString &name);
    QString page() const;
    void openSession(const engine::SessionId &id);
    void openApproval(const engine::ApprovalId &id);

protected:
    void changeEvent(QEvent *event) override;

private:
    void createActions();
    void createViews();
    void createStatusBar();
    void connectPages();
    void connectEngine();
    QAction *addPage(const QString &name, const QString &label, const QString &icon, Qt::Key key, QWidget *page);
    void takeBatch(const engine::FeedBatch &batch);
    void showCounts();
    void readStatus();
    void showFailure(const engine::Error &error);
    void openPalette();
    void findInPage();
    void showSandboxEngine(const engine::SandboxEngine &engine);

    engine::EngineClient &m_client;
    QSettings &m_settings;
    engine::Counts m_counts;
    QList<QAction *> m_pages; // QAction::data is the page's name
    Rail *m_rail = nullptr;
    QStackedWidget *m_stack = nullptr;
    Banner *m_banner = nullptr;
    CommandPalette *m_palette = nullptr;
    SessionsPage *m_sessions = nullptr;
    QueuePage *m_queue = nullptr;
    ApprovalsPage *m_approvals = nullptr;
    AgentsPage *m_agents = nullptr;
    SandboxesPage *m_sandboxes = nullptr;
    SettingsPage *m_settingsPage = nullptr;
    QLabel *m_store = nullptr;
    QToolButton *m_docker = nullptr;
    QLabel *m_running = nullptr;
    QLabel *m_cost = nullptr;
};

} // namespace ui
