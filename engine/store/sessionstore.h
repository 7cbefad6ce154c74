#pragma once

#include "engine/types/error.h"
#include "engine/types/session.h"

#include <optional>

namespace engine {

class Database;

// How far the worker's output of a session is stored, in the same transaction as the output itself.
struct ChannelState
{
    quint64 epoch = 0;
    int generation = 0;
    quint64 launch = 0;
    quint64 outputOffset = 0;
    quint64 errorOffset = 0;

    bool operator==(const ChannelState &) const = default;
};

// Sessions with what is derived of their runs, approvals and blocks (kept in columns by the transactions that change
// those). Thread of its Database.
class SessionStore final
{
public:
    explicit SessionStore(Database &database) : m_database(database) {}

    // Conflict: the id exists or belonged to a deleted session.
    Result<void> insert(const Session &session);
    Result<Session> get(const SessionId &id) const;
    // Needs you, running, queued, idle; the newest first within each.
    Result<QList<Session>> list(const SessionQuery &query) const;
    Result<void> setTitle(const SessionId &id, const QString &title);
    Result<void> setModel(const SessionId &id, const QString &model);
    Result<void> setMode(const SessionId &id, const QString &permissionMode);
    Result<void> setNative(const SessionId &id, const NativeIdentity &native);
    Result<void> setWorkspace(const SessionId &id, const QString &workspace);
    Result<void> setGeneration(const SessionId &id, int generation);
    Result<void> touch(const SessionId &id, const QDateTime &at);
    // Conflict while a run is active or waits. All its rows go in one transaction; the id can't be used again.
    Result<void> remove(const SessionId &id, const QDateTime &at);
    // Empty before the first setChannelState.
    Result<std::optional<ChannelState>> channelState(const SessionId &id) const;
    Result<void> setChannelState(const SessionId &id, const ChannelState &state);

private:
    Database &m_database;
};

} // namespace engine
