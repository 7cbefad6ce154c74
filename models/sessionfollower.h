#pragma once

#include "engine/engineclient.h"

#include <QHash>

namespace models {

// One session as it is now: its row, its newest runs and its approvals, kept true by the feed. GUI thread.
class SessionFollower final : public QObject
{
    Q_OBJECT

public:
    static constexpr int runLimit = 200;

    explicit SessionFollower(engine::EngineClient &client, QObject *parent = nullptr);

    void follow(const engine::SessionId &id);
    const engine::SessionId &id() const { return m_id; }
    // Its id is empty until the first answer.
    const engine::Session &session() const { return m_session; }
    const QList<engine::Run> &runs() const { return m_runs; } // by sequence
    QList<engine::Run> waiting() const;
    const engine::Run *activeRun() const;
    const engine::Run *newestRun() const { return m_runs.isEmpty() ? nullptr : &m_runs.last(); }
    const engine::Run *run(const engine::RunId &id) const;
    // Runs that a new prompt would stand behind.
    int ahead() const;
    const QHash<engine::ApprovalId, engine::Approval> &approvals() const { return m_approvals; }
    QList<engine::Approval> pendingApprovals() const; // oldest first

signals:
    void sessionChanged();
    void runsChanged();
    void approvalsChanged();
    void removed();
    void failed(const engine::Error &error);

private:
    void apply(const engine::FeedBatch &batch);
    bool mergeRun(const engine::Run &run);

    engine::EngineClient &m_client;
    engine::SessionId m_id;
    int m_epoch = 0;
    engine::Session m_session;
    QList<engine::Run> m_runs;
    QHash<engine::ApprovalId, engine::Approval> m_approvals;
};

} // namespace models
