#pragma once

#include "engine/engineclient.h"

#include <QWidget>

class QFrame;
class QLabel;
class QPushButton;
class QSettings;
class QTabWidget;

namespace ui {

class ComputersTab;
class ImagesTab;
class LeftoversTab;

// Where agents run: the computers of the sessions, what was left over, and the images they start from.
class SandboxesPage final : public QWidget
{
    Q_OBJECT

public:
    SandboxesPage(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~SandboxesPage() override;

    // "computers", "leftovers", "images"
    void showTab(const QString &name);
    void focusFilter();
    void readEngine();
    ComputersTab *computers() const { return m_computers; }
    LeftoversTab *leftovers() const { return m_leftovers; }
    ImagesTab *images() const { return m_images; }

signals:
    void sessionActivated(const engine::SessionId &id);
    void sessionsAsked();
    void engineChanged(const engine::SandboxEngine &engine);
    void failed(const engine::Error &error);

protected:
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void createProblem();
    void connectTabs();
    void showEngine();
    void drawProblem();

    engine::EngineClient &m_client;
    QSettings &m_settings;
    engine::SandboxEngine m_engine;
    bool m_isEngineKnown = false;
    QFrame *m_problem = nullptr;
    QLabel *m_problemIcon = nullptr;
    QLabel *m_problemTitle = nullptr;
    QLabel *m_problemText = nullptr;
    QPushButton *m_retry = nullptr;
    QTabWidget *m_tabs = nullptr;
    ComputersTab *m_computers = nullptr;
    LeftoversTab *m_leftovers = nullptr;
    ImagesTab *m_images = nullptr;
};

} // namespace ui
