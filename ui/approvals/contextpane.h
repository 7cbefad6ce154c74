#pragma once

#include "engine/engineclient.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

// What led to an approval: who asked for the run, and the last blocks of its session.
class ContextPane final : public QWidget
{
    Q_OBJECT

public:
    explicit ContextPane(engine::EngineClient &client, QWidget *parent = nullptr);

    void setApproval(const engine::Approval &approval);
    void clear();

signals:
    void sessionActivated(const engine::SessionId &id);

private:
    void readBlocks(qint64 total);
    void showBlocks(const QList<engine::Block> &blocks);
    void clearBlocks();

    engine::EngineClient &m_client;
    engine::SessionId m_session;
    engine::ApprovalId m_approval;
    QLabel *m_title = nullptr;
    QLabel *m_asked = nullptr;
    QPushButton *m_open = nullptr;
    QVBoxLayout *m_blocks = nullptr;
};

} // namespace ui
