#pragma once

#include "models/sessionlistmodel.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QLineEdit;
class QListView;
class QPushButton;
class QSettings;

namespace ui {

// The list of sessions with its filter and the button that begins a new one.
class SessionListPane final : public QWidget
{
    Q_OBJECT

public:
    SessionListPane(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);

    void select(const engine::SessionId &id);
    engine::SessionId selected() const;
    void focusFilter();
    models::SessionListModel &model() { return m_model; }

signals:
    void sessionSelected(const engine::SessionId &id);
    void newSessionAsked();
    void loaded();
    void failed(const engine::Error &error);

private:
    void createViews();
    void connectModel();
    void updateEmptyText();

    QSettings &m_settings;
    models::SessionListModel m_model;
    engine::SessionId m_wanted; // to be selected once it is in the list
    QLineEdit *m_filter = nullptr;
    QPushButton *m_new = nullptr;
    QListView *m_list = nullptr;
    QLabel *m_empty = nullptr;
    QTimer m_typing;
    QTimer m_ages;
};

} // namespace ui
