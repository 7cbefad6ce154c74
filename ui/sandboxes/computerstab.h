#pragma once

#include "models/computerlistmodel.h"

#include <QTimer>
#include <QWidget>

class QLineEdit;
class QSettings;
class QSplitter;
class QStackedLayout;

namespace ui {

class ComputerPanel;
class SandboxTable;

// The computers of all sessions as a table, the chosen one beside it. Asks for processor and memory only while it is seen.
class ComputersTab final : public QWidget
{
    Q_OBJECT

public:
    ComputersTab(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~ComputersTab() override;

    void load() { m_model.load(isVisible()); }
    void focusFilter();
    const models::ComputerListModel &model() const { return m_model; }

signals:
    void sessionActivated(const engine::SessionId &id);
    void sessionsAsked();
    void failed(const engine::Error &error);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void createViews();
    void showCurrent();

    engine::EngineClient &m_client;
    QSettings &m_settings;
    models::ComputerListModel m_model;
    QString m_chosen; // the session whose computer is looked at
    QString m_problem; // said once, not every two seconds
    QTimer m_usage;
    QTimer m_tick;
    QStackedLayout *m_stack = nullptr;
    QSplitter *m_splitter = nullptr;
    QLineEdit *m_filter = nullptr;
    SandboxTable *m_table = nullptr;
    ComputerPanel *m_panel = nullptr;
};

} // namespace ui
