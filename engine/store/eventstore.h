#pragma once

#include "engine/store/sessionstore.h"
#include "engine/types/block.h"
#include "engine/types/error.h"

#include <functional>
#include <optional>

namespace engine {

class Database;

struct RunFence
{
    RunId run;
    int attempt = 0;
};

// What one session produced since the last batch; stored together or not at all. Session ids of the parts may be left
// empty, another session's are refused.
struct EventBatch
{
    SessionId sessionId;
    quint64 launch = 0; // of the raw lines: which start of a harness under the session's worker
    QList<RawLine> raw;
    QList<RunEvent> events;
    QList<Block> newBlocks;
    QList<Block> changedBlocks; // found by key; position and time of the stored one stay
    std::optional<RunFence> fence; // Stale when the run is in another attempt
    std::optional<ChannelState> channel;
};

// As stored: numbers and positions filled in.
struct AppendedEvents
{
    QList<RunEvent> events;
    QList<Block> newBlocks;
    QList<Block> changedBlocks;
};

// Transcript blocks, run events and raw lines. Thread of its Database.
class EventStore final
{
public:
    explicit EventStore(Database &database) : m_database(database) {}

    // Joins the open Transaction or makes its own. A new block whose key exists replaces that one in place.
    Result<AppendedEvents> append(const EventBatch &batch);

    Result<BlockPage> blocks(const SessionId &id, qint64 first, int count) const;
    Result<std::optional<Block>> blockByKey(const SessionId &id, const QString &key) const;
    // The newest `limit`, oldest first. Empty run: the whole session's.
    Result<QList<RawLine>> rawLines(const SessionId &id, const RunId &run, int limit) const;
    // All lines of one launch in order; `visit` answers false to stop.
    Result<void> rawOfLaunch(const SessionId &id, int generation, quint64 launch,
                             const std::function<bool(const RawLine &)> &visit) const;
    // The newest `limit`, oldest first.
    Result<QList<RunEvent>> runEvents(const RunId &id, int limit) const;

private:
    Database &m_database;
};

} // namespace engine
