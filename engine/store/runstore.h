#pragma once

#include "engine/types/error.h"
#include "engine/types/feed.h"
#include "engine/types/run.h"

#include <optional>
#include <vector>

namespace engine {

class Database;
struct Bound;
struct Rows;

struct RunLimits
{
    int maxQueued = 100; // waiting runs per session
    int maxAttempts = 1;
};

// What changes together with a run's state.
struct RunPatch
{
    std::optional<QDateTime> startedAt;
    std::optional<QDateTime> endedAt;
    std::optional<QString> errorCode;
    std::optional<QString> errorMessage;
    std::optional<Usage> usage;
    QList<RunStep> steps; // appended
    std::optional<bool> continued;
    std::optional<QDateTime> availableAt;
    std::optional<QString> leaseOwner;
};

// Runs and the line of each session. Order is a number this store assigns, never a clock; the database itself holds at
// most one RUNNING or PAUSED run per session. Thread of its Database.
class RunStore final
{
public:
    explicit RunStore(Database &database) : m_database(database) {}

    // QueueFull names the limit; NotFound: no such session; Invalid: key too long. A known key answers its run.
    Result<Submitted> enqueue(const NewRun &request, const RunLimits &limits, const QDateTime &now);
    // The oldest head of all lines that may go: its session has no active run, its back-off is over, and fewer than
    // `maxConcurrency` runs are RUNNING (a PAUSED one holds its own line only). Counts a new attempt.
    Result<std::optional<Run>> claimNext(const QString &owner, const QDateTime &now, int maxConcurrency);
    // Conflict: the move is not in the table, or the run is in another state or attempt by now (named).
    Result<Run> move(const RunId &id, int attempt, RunState from, RunState to, const RunPatch &patch = {});
    // Refused as Stale when the run is in another attempt.
    Result<Run> addStep(const RunId &id, int attempt, const RunStep &step);
    Result<Run> setUsage(const RunId &id, int attempt, const Usage &usage);
    // Conflict for an ended run.
    Result<Run> requestCancel(const RunId &id);
    // A living run found at start gets a new owner; Stale as above, Conflict when it is not active.
    Result<Run> adopt(const RunId &id, int attempt, const QString &owner);
    // ERROR or CANCELLED once more: the same run waits at the end of its line with exactly one attempt granted.
    Result<Run> requeue(const RunId &id, int maxQueued, const QDateTime &now);

    Result<Run> get(const RunId &id) const;
    // The newest `limit` of a session, oldest first.
    Result<QList<Run>> list(const SessionId &id, int limit) const;
    Result<QList<Run>> active() const;
    Result<QList<Run>> waiting(int limit) const;
    // When the next head in back-off may be claimed.
    Result<std::optional<QDateTime>> nextAvailable(const QDateTime &now) const;
    Result<Counts> counts(const QDateTime &now, const QDateTime &dayStart) const;

private:
    Result<QList<Run>> read(const QString &statement, const std::vector<Bound> &bindings) const;
    Result<Run> fenced(const Result<Rows> &written, const RunId &id, int attempt) const;

    Database &m_database;
};

} // namespace engine
