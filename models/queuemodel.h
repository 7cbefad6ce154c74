#pragma once

#include "engine/engineclient.h"
#include "models/displaytext.h"

#include <QAbstractListModel>

namespace models {

struct QueueStats
{
    int running = 0;
    int paused = 0;
    int waiting = 0;
    QDateTime oldestWait; // invalid: nothing waits

    bool operator==(const QueueStats &) const = default;
};

// Runs that hold or wait for a track: per session the active one, then the waiting ones in order; a failed one stays
// at its session until it is queued again. Rows are grouped by session and merged by id. GUI thread.
class QueueModel final : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { IdRole = Qt::UserRole, SessionIdRole, SessionTitleRole, AgentRole, StateRole, PositionRole, ReasonRole };

    explicit QueueModel(engine::EngineClient &client, QObject *parent = nullptr);

    void load();
    int rowOf(const engine::RunId &id) const;
    const engine::Run *at(int row) const;
    QString sessionTitle(const engine::SessionId &id) const;
    QString agentName(const engine::SessionId &id) const;
    QueueStats stats() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;

signals:
    void loaded();
    void changed(); // anything a drawing of the tracks depends on
    void failed(const engine::Error &error);

private:
    void apply(const engine::FeedBatch &batch);
    void mergeRun(const engine::Run &run);
    void mergeSession(const engine::Session &session);
    void askForFailed(const engine::SessionId &id);
    void remove(int row);
    bool before(const engine::Run &a, const engine::Run &b) const;

    engine::EngineClient &m_client;
    QList<engine::Run> m_rows;
    QHash<engine::SessionId, engine::Session> m_sessions;
    QList<engine::SessionId> m_order; // tracks keep their place
    int m_epoch = 0;
};

} // namespace models
