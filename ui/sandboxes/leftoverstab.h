#pragma once

#include "models/leftovermodel.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;
class QSettings;
class QStackedLayout;

namespace ui {

class SandboxTable;

// Everything of ours that stands in the container engine or the runtime folder, with its owner; removes what nobody uses.
class LeftoversTab final : public QWidget
{
    Q_OBJECT

public:
    LeftoversTab(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~LeftoversTab() override;

    void load() { m_model.load(); }
    void focusFilter();
    const models::LeftoverModel &model() const { return m_model; }

signals:
    void sessionActivated(const engine::SessionId &id);
    void failed(const engine::Error &error);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void createViews();
    QList<engine::Leftover> chosen() const;
    QString removeProblem() const;
    void showButtons();
    void showTotal();
    void selectUnused();
    void remove();
    void removeNext();

    engine::EngineClient &m_client;
    QSettings &m_settings;
    models::LeftoverModel m_model;
    QList<engine::Leftover> m_removing; // still to be removed
    int m_removeCount = 0;              // of the whole removal under way; 0: none
    bool m_asked = false;
    QStackedLayout *m_stack = nullptr;
    SandboxTable *m_table = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_total = nullptr;
    QLabel *m_message = nullptr;
    QPushButton *m_refresh = nullptr;
    QPushButton *m_unused = nullptr;
    QPushButton *m_open = nullptr;
    QPushButton *m_remove = nullptr;
};

} // namespace ui
