#include "engine/store/runstore.h"

#include "engine/store/database.h"
#include "engine/store/runrow.h"

#include <algorithm>

namespace engine {
namespace {

constexpr int longestKey = 512;

tl::unexpected<Error> noRun(const RunId &id)
{
    return fail(ErrorCode::NotFound, QStringLiteral("There is no run %1 (any more).").arg(id.value));
}

tl::unexpected<Error> queueFull(const SessionId &session, int limit)
{
    return fail(
        ErrorCode::QueueFull,
        QStringLiteral("Could not queue the run: %1 runs wait in session %2 already, which is its limit. Wait or "
                       "cancel one, or raise the agent's \"waiting runs\".")
            .arg(limit)
            .arg(session.value));
}

template<class T> Bound boundOr(const char *name, const std::optional<T> &value)
{
    return value ? Bound(name, *value) : Bound(name, nullptr);
}

Bindings moveBindings(const RunId &id, int attempt, RunState from, RunState to, const RunPatch &patch)
{
    const auto tokens = [&patch](const char *name, qint64 Usage::*field) {
        return patch.usage ? Bound(name, (*patch.usage).*field) : Bound(name, nullptr);
    };
    // A new pause has not been continued yet.
    const bool newPause = to == RunState::Paused && !patch.continued;
    return {{"to_state", toString(to)},
            boundOr("started_at", patch.startedAt),
            boundOr("ended_at", patch.endedAt),
            boundOr("error_code", patch.errorCode),
            boundOr("error_message", patch.errorMessage),
            tokens("input_tokens", &Usage::inputTokens),
            tokens("output_tokens", &Usage::outputTokens),
            tokens("cache_read_tokens", &Usage::cacheReadTokens),
            tokens("cache_write_tokens", &Usage::cacheWriteTokens),
            tokens("cost_micros", &Usage::costMicros),
            newPause ? Bound("continued", false) : boundOr("continued", patch.continued),
            boundOr("available_at", patch.availableAt),
            boundOr("lease_owner", patch.leaseOwner),
            {"steps", stepsText(patch.steps)},
            {"id", id.value},
            {"from_state", toString(from)},
            {"attempt", attempt}};
}

Result<void> refreshLine(Database &database, qint64 session, std::optional<RunState> outcome,
                         const std::optional<QDateTime> &at)
{
    const Result<Rows> refreshed =
        database.run(QStringLiteral("session.refreshLine"),
                     {outcome ? Bound("outcome", toString(*outcome)) : Bound("outcome", nullptr),
                      boundOr("at", at),
                      {"number", session}});
    if (!refreshed)
        return tl::unexpected(refreshed.error());
    return {};
}

} // namespace

Result<QList<Run>> RunStore::read(const QString &statement, const Bindings &bindings) const
{
    const Result<Rows> rows = m_database.run(statement, bindings);
    if (!rows)
        return tl::unexpected(rows.error());
    QList<Run> runs;
    runs.reserve(rows->rows.size());
    for (const Row &row : rows->rows)
        runs.append(runOf(row));
    return runs;
}

Result<Submitted> RunStore::enqueue(const NewRun &request, const RunLimits &limits, const QDateTime &now)
{
    if (request.idempotencyKey.size() > longestKey) {
        return fail(ErrorCode::Invalid, QStringLiteral("The idempotency key has %1 characters; at most %2 are allowed.")
                                            .arg(request.idempotencyKey.size())
                                            .arg(longestKey));
    }
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> session = m_database.run(QStringLiteral("session.number"), {{"id", request.sessionId.value}});
    if (!session)
        return tl::unexpected(session.error());
    if (session->isEmpty()) {
        return fail(ErrorCode::NotFound,
                    QStringLiteral("Could not queue the run: there is no session %1 (any more). Make "
                                   "a new session.")
                        .arg(request.sessionId.value));
    }
    const Result<QList<Run>> known =
        read(QStringLiteral("run.byKey"), {{"session_id", request.sessionId.value}, {"key", request.idempotencyKey}});
    if (!known)
        return tl::unexpected(known.error());
    if (!known->isEmpty())
        return Submitted{known->first(), true};
    if (session->first().integer("queued") >= limits.maxQueued)
        return queueFull(request.sessionId, limits.maxQueued);
    const Result<Rows> place = m_database.run(QStringLiteral("run.nextSequence"));
    if (!place)
        return tl::unexpected(place.error());
    const RunId id = newRunId();
    const qint64 number = session->first().number("number");
    const Result<Rows> stored =
        m_database.run(QStringLiteral("run.insert"), {{"id", id.value},
                                                      {"session_number", number},
                                                      {"sequence", place->first().number("value")},
                                                      {"max_attempts", limits.maxAttempts},
                                                      {"prompt", request.prompt},
                                                      {"requested_by", request.requestedBy},
                                                      {"origin", request.origin},
                                                      {"idempotency_key", request.idempotencyKey},
                                                      {"created_at", now},
                                                      {"available_at", now}});
    if (!stored)
        return tl::unexpected(stored.error());
    if (const auto refreshed = refreshLine(m_database, number, std::nullopt, now); !refreshed)
        return tl::unexpected(refreshed.error());
    const Result<Run> run = get(id);
    if (!run)
        return tl::unexpected(run.error());
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return Submitted{*run, false};
}

Result<std::optional<Run>> RunStore::claimNext(const QString &owner, const QDateTime &now, int maxConcurrency)
{
    // A look without the write lock first: the queue asks often and mostly in vain.
    const Result<Rows> peek = m_database.run(QStringLiteral("run.nextHead"), {{"now", now}});
    if (!peek)
        return tl::unexpected(peek.error());
    if (peek->isEmpty())
        return std::optional<Run>();
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> running = m_database.run(QStringLiteral("run.countRunning"));
    if (!running)
        return tl::unexpected(running.error());
    if (running->first().integer("running") >= maxConcurrency)
        return std::optional<Run>();
    const Result<Rows> head = m_database.run(QStringLiteral("run.nextHead"), {{"now", now}});
    if (!head)
        return tl::unexpected(head.error());
    if (head->isEmpty())
        return std::optional<Run>();
    const Result<Rows> claimed =
        m_database.run(QStringLiteral("run.claim"), {{"now", now},
                                                     {"owner", owner},
                                                     {"steps", stepsText({{QStringLiteral("claimed"), now}})},
                                                     {"sequence", head->first().number("head_sequence")}});
    if (!claimed)
        return tl::unexpected(claimed.error());
    if (claimed->isEmpty())
        return fail(ErrorCode::Internal, QStringLiteral("The head of a line is no waiting run."));
    const auto refreshed = refreshLine(m_database, claimed->first().number("session_number"), std::nullopt, now);
    if (!refreshed)
        return tl::unexpected(refreshed.error());
    const Result<Run> run = get({claimed->first().text("id")});
    if (!run)
        return tl::unexpected(run.error());
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return std::optional<Run>(*run);
}

Result<Run> RunStore::move(const RunId &id, int attempt, RunState from, RunState to, const RunPatch &patch)
{
    if (!mayMove(from, to)) {
        return fail(
            ErrorCode::Conflict,
            QStringLiteral("A run does not go from %1 to %2 (run %3).").arg(toString(from), toString(to), id.value));
    }
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> moved = m_database.run(QStringLiteral("run.move"), moveBindings(id, attempt, from, to, patch));
    if (!moved)
        return tl::unexpected(moved.error());
    if (moved->isEmpty()) {
        const Result<Run> present = get(id);
        if (!present)
            return present;
        return fail(ErrorCode::Conflict,
                    QStringLiteral("Run %1 is %2 in attempt %3 by now, not %4 in attempt %5; nothing was changed.")
                        .arg(id.value, toString(present->state))
                        .arg(present->attempt)
                        .arg(toString(from))
                        .arg(attempt));
    }
    const auto outcome = isTerminal(to) ? std::optional<RunState>(to) : std::nullopt;
    const auto refreshed = refreshLine(m_database, moved->first().number("session_number"), outcome, patch.endedAt);
    if (!refreshed)
        return tl::unexpected(refreshed.error());
    const Result<Run> run = get(id);
    if (!run)
        return run;
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return run;
}

// A write that found no row: the run is gone, in another attempt, or in a state that takes no such write.
Result<Run> RunStore::fenced(const Result<Rows> &written, const RunId &id, int attempt) const
{
    if (!written)
        return tl::unexpected(written.error());
    const Result<Run> run = get(id);
    if (!run || written->changed > 0)
        return run;
    if (run->attempt != attempt || run->state == RunState::Pending) {
        return fail(ErrorCode::Stale,
                    QStringLiteral("A late write of attempt %1 of run %2 was refused: the run is %3 in attempt %4.")
                        .arg(attempt)
                        .arg(id.value, toString(run->state))
                        .arg(run->attempt));
    }
    return fail(ErrorCode::Conflict,
                QStringLiteral("Run %1 is %2 already; nothing was changed.").arg(id.value, toString(run->state)));
}

Result<Run> RunStore::addStep(const RunId &id, int attempt, const RunStep &step)
{
    return fenced(m_database.run(QStringLiteral("run.addStep"),
                                 {{"steps", stepsText({step})}, {"id", id.value}, {"attempt", attempt}}),
                  id, attempt);
}

Result<Run> RunStore::setUsage(const RunId &id, int attempt, const Usage &usage)
{
    return fenced(m_database.run(QStringLiteral("run.setUsage"), {{"input_tokens", usage.inputTokens},
                                                                  {"output_tokens", usage.outputTokens},
                                                                  {"cache_read_tokens", usage.cacheReadTokens},
                                                                  {"cache_write_tokens", usage.cacheWriteTokens},
                                                                  {"cost_micros", usage.costMicros},
                                                                  {"id", id.value},
                                                                  {"attempt", attempt}}),
                  id, attempt);
}

Result<Run> RunStore::adopt(const RunId &id, int attempt, const QString &owner)
{
    return fenced(
        m_database.run(QStringLiteral("run.adopt"), {{"owner", owner}, {"id", id.value}, {"attempt", attempt}}), id,
        attempt);
}

Result<Run> RunStore::requestCancel(const RunId &id)
{
    const Result<Rows> asked = m_database.run(QStringLiteral("run.requestCancel"), {{"id", id.value}});
    if (!asked)
        return tl::unexpected(asked.error());
    const Result<Run> run = get(id);
    if (!run || asked->changed > 0)
        return run;
    return fail(
        ErrorCode::Conflict,
        QStringLiteral("Run %1 is %2 already; there is nothing to cancel.").arg(id.value, toString(run->state)));
}

Result<Run> RunStore::requeue(const RunId &id, int maxQueued, const QDateTime &now)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Run> before = get(id);
    if (!before)
        return before;
    if (before->state != RunState::Error && before->state != RunState::Cancelled) {
        return fail(ErrorCode::Conflict, QStringLiteral("Run %1 is %2; only a failed or cancelled run can be requeued.")
                                             .arg(id.value, toString(before->state)));
    }
    const Result<Rows> session = m_database.run(QStringLiteral("session.number"), {{"id", before->sessionId.value}});
    if (!session)
        return tl::unexpected(session.error());
    if (session->first().integer("queued") >= maxQueued)
        return queueFull(before->sessionId, maxQueued);
    const Result<Rows> place = m_database.run(QStringLiteral("run.nextSequence"));
    if (!place)
        return tl::unexpected(place.error());
    const Result<Rows> requeued = m_database.run(
        QStringLiteral("run.requeue"), {{"sequence", place->first().number("value")}, {"now", now}, {"id", id.value}});
    if (!requeued)
        return tl::unexpected(requeued.error());
    const auto refreshed = refreshLine(m_database, session->first().number("number"), std::nullopt, now);
    if (!refreshed)
        return tl::unexpected(refreshed.error());
    const Result<Run> run = get(id);
    if (!run)
        return run;
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return run;
}

Result<Run> RunStore::get(const RunId &id) const
{
    const Result<QList<Run>> runs = read(QStringLiteral("run.get"), {{"id", id.value}});
    if (!runs)
        return tl::unexpected(runs.error());
    if (runs->isEmpty())
        return noRun(id);
    return runs->first();
}

Result<QList<Run>> RunStore::list(const SessionId &id, int limit) const
{
    Result<QList<Run>> runs = read(QStringLiteral("run.list"), {{"session_id", id.value}, {"limit", limit}});
    if (runs)
        std::reverse(runs->begin(), runs->end());
    return runs;
}

Result<QList<Run>> RunStore::active() const
{
    return read(QStringLiteral("run.active"), {});
}

Result<QList<Run>> RunStore::waiting(int limit) const
{
    return read(QStringLiteral("run.waiting"), {{"limit", limit}});
}

Result<std::optional<QDateTime>> RunStore::nextAvailable(const QDateTime &now) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("run.nextAvailable"), {{"now", now}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty() || rows->first().isNull("available_at"))
        return std::optional<QDateTime>();
    return std::optional<QDateTime>(rows->first().time("available_at"));
}

Result<Counts> RunStore::counts(const QDateTime &now, const QDateTime &dayStart) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("run.counts"), {{"day_start", dayStart}, {"now", now}});
    if (!rows)
        return tl::unexpected(rows.error());
    const Row &row = rows->first();
    return Counts{row.integer("running"), row.integer("paused"), row.integer("queued"),
                  row.integer("pending_approvals"), row.number("cost_micros")};
}

} // namespace engine
