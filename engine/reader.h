#pragma once

#include "engine/stores.h"

#include <QObject>
#include <QSet>
#include <functional>
#include <memory>

namespace engine {

// Windowed queries for the GUI over a read-only connection of its own, so that a large read never waits for the engine
// nor holds it up. Lives in the reader thread; every query answers a value.
class Reader final : public QObject
{
    Q_OBJECT

public:
    // Called in the reader thread once the engine has opened (and migrated) the store.
    void open(const QString &storePath);
    void close();
    void setWarm(const QSet<SessionId> &warm) { m_warm = warm; }

    // Runs at once, or once the store is open (or known not to open).
    void perform(std::function<void()> query);
    void giveUp(const Error &reason);
    // The reason why no query can be answered, or null.
    const Error *failure() const;
    Stores &stores() { return *m_stores; }
    Result<QList<Session>> sessions(const SessionQuery &query);
    Result<Session> session(const SessionId &id);
    Result<QList<Run>> runs(const SessionId &id, int limit);
    Result<Counts> counts();

private:
    std::unique_ptr<Database> m_database;
    std::unique_ptr<Stores> m_stores;
    QSet<SessionId> m_warm;
    QList<std::function<void()>> m_waiting;
    bool m_settled = false;
    Error m_failure{ErrorCode::ShuttingDown, QStringLiteral("The engine is not running."), {}};
};

} // namespace engine
