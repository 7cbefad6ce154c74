#include "engine/store/approvalstore.h"

#include "engine/store/approvalrow.h"
#include "engine/store/database.h"

namespace engine {
namespace {

tl::unexpected<Error> noApproval(const ApprovalId &id)
{
    return fail(ErrorCode::NotFound, QStringLiteral("There is no approval %1 (any more).").arg(id.value));
}

QString moment(const QDateTime &time)
{
    return time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

bool isPersonal(ApprovalState state)
{
    return state == ApprovalState::Approved || state == ApprovalState::Denied;
}

bool isSameDecision(const Approval &stored, const Verdicts &verdict)
{
    return !verdict.key.isEmpty() && stored.decisionKey == verdict.key && stored.state == verdict.to &&
           stored.digest == verdict.expected && stored.editedDigest == verdict.editedDigest;
}

tl::unexpected<Error> decidedBefore(const Approval &approval)
{
    if (approval.state == ApprovalState::Expired) {
        return fail(ErrorCode::Expired, QStringLiteral("The approval %1 expired at %2; nothing runs by it any more.")
                                            .arg(approval.id.value, moment(approval.expiresAt)));
    }
    const QString who = approval.decidedBy.isEmpty() ? QStringLiteral("the system") : approval.decidedBy;
    return fail(ErrorCode::Conflict,
                QStringLiteral("The approval %1 was %2 by %3 at %4 already; that decision stands.")
                    .arg(approval.id.value, toString(approval.state), who, moment(approval.decidedAt)));
}

// Why the guarded update found no row, read in the same transaction.
tl::unexpected<Error> refusal(const Approval &approval, const Verdicts &verdict, const QDateTime &now)
{
    if (approval.state != ApprovalState::Pending)
        return decidedBefore(approval);
    if (verdict.to == ApprovalState::Expired) {
        return fail(
            ErrorCode::Conflict,
            QStringLiteral("The approval %1 has time until %2.").arg(approval.id.value, moment(approval.expiresAt)));
    }
    if (approval.expiresAt <= now) {
        return fail(ErrorCode::Expired,
                    QStringLiteral("The time of the approval %1 ended at %2, before the decision; nothing was sent.")
                        .arg(approval.id.value, moment(approval.expiresAt)));
    }
    return fail(
        ErrorCode::ActionChanged,
        QStringLiteral("The decision is for another action than the one approval %1 asks for; nothing was sent. "
                       "Read it again and decide anew.")
            .arg(approval.id.value),
        QStringLiteral("expected %1, got %2").arg(approval.digest.value, verdict.expected.value));
}

Result<Rows> runVerdict(Database &database, const Verdicts &verdict, const QDateTime &now)
{
    switch (verdict.to) {
    case ApprovalState::Approved:
    case ApprovalState::Denied:
        return database.run(QStringLiteral("approval.decide"), {{"state", toString(verdict.to)},
                                                                {"delivery", toString(Delivery::NotDelivered)},
                                                                {"decided_by", verdict.decidedBy},
                                                                {"note", verdict.note},
                                                                {"edited_input", verdict.editedInput},
                                                                {"edited_digest", verdict.editedDigest.value},
                                                                {"decision_key", verdict.key},
                                                                {"now", now},
                                                                {"id", verdict.id.value},
                                                                {"digest", verdict.expected.value}});
    case ApprovalState::Expired:
        return database.run(QStringLiteral("approval.expire"),
                            {{"note", verdict.note}, {"now", now}, {"id", verdict.id.value}});
    case ApprovalState::Cancelled:
        return database.run(QStringLiteral("approval.cancel"),
                            {{"note", verdict.note}, {"now", now}, {"id", verdict.id.value}});
    case ApprovalState::Pending:
        break;
    }
    return fail(ErrorCode::Conflict, QStringLiteral("An approval never becomes pending again."));
}

Result<void> refreshApprovals(Database &database, qint64 session)
{
    const Result<Rows> refreshed = database.run(QStringLiteral("session.refreshApprovals"), {{"number", session}});
    if (!refreshed)
        return tl::unexpected(refreshed.error());
    return {};
}

Bindings approvalBindings(const Approval &a, const Digest &inputDigest, qint64 run, qint64 session)
{
    return {{"id", a.id.value},
            {"run_number", run},
            {"session_number", session},
            {"attempt", a.attempt},
            {"generation", a.generation},
            {"kind", toString(a.kind)},
            {"state", toString(a.state)},
            {"delivery", toString(a.delivery)},
            {"native_lost", a.nativeLost},
            {"native_session_id", a.nativeSessionId},
            {"native_request_id", a.nativeRequestId},
            {"native_tool_use_id", a.nativeToolUseId},
            {"tool_name", a.toolName},
            {"title", a.title},
            {"search_folded", QString(a.title + u'\n' + a.toolName).toCaseFolded()},
            {"reason", a.reason},
            {"blocked_path", a.blockedPath},
            {"input", a.input},
            {"raw", a.raw},
            {"cwd", a.cwd},
            {"canonical", a.canonical},
            {"digest", a.digest.value},
            {"input_digest", inputDigest.value},
            {"editable", a.editable},
            {"edited_input", a.editedInput},
            {"edited_digest", a.editedDigest.value},
            {"note", a.note},
            {"requested_by", a.requestedBy},
            {"decided_by", a.decidedBy},
            {"decision_key", a.decisionKey},
            {"requested_at", a.requestedAt},
            {"seen_at", a.seenAt},
            {"seen_by", a.seenBy},
            {"expires_at", a.expiresAt},
            {"decided_at", a.decidedAt},
            {"written_at", a.writtenAt},
            {"acknowledged_at", a.acknowledgedAt},
            {"executed_at", a.executedAt},
            {"executed_status", a.executedStatus}};
}

} // namespace

Result<QList<Approval>> ApprovalStore::read(const QString &statement, const Bindings &bindings) const
{
    const Result<Rows> rows = m_database.run(statement, bindings);
    if (!rows)
        return tl::unexpected(rows.error());
    QList<Approval> approvals;
    approvals.reserve(rows->rows.size());
    for (const Row &row : rows->rows)
        approvals.append(approvalOf(row));
    return approvals;
}

Result<void> ApprovalStore::insert(const Approval &approval, const Digest &inputDigest)
{
    if (approval.digest.isEmpty()) {
        return fail(ErrorCode::Invalid, QStringLiteral("An approval without a digest is bound to no action."));
    }
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> found = m_database.run(
        QStringLiteral("approval.run"), {{"run_id", approval.runId.value}, {"session_id", approval.sessionId.value}});
    if (!found)
        return tl::unexpected(found.error());
    if (found->isEmpty()) {
        return fail(ErrorCode::NotFound, QStringLiteral("There is no run %1 in session %2 (any more).")
                                             .arg(approval.runId.value, approval.sessionId.value));
    }
    const Row &run = found->first();
    if (run.integer("attempt") != approval.attempt || run.text("state") == toString(RunState::Pending)) {
        return fail(ErrorCode::Stale,
                    QStringLiteral("A request of attempt %1 of run %2 was refused: the run is %3 in attempt %4.")
                        .arg(approval.attempt)
                        .arg(approval.runId.value, run.text("state"))
                        .arg(run.integer("attempt")));
    }
    const qint64 session = run.number("session_number");
    const Result<Rows> stored = m_database.run(
        QStringLiteral("approval.insert"), approvalBindings(approval, inputDigest, run.number("run_number"), session));
    if (!stored)
        return tl::unexpected(stored.error());
    if (const auto refreshed = refreshApprovals(m_database, session); !refreshed)
        return refreshed;
    return transaction->commit();
}

Result<Approval> ApprovalStore::get(const ApprovalId &id) const
{
    const Result<QList<Approval>> found = read(QStringLiteral("approval.get"), {{"id", id.value}});
    if (!found)
        return tl::unexpected(found.error());
    if (found->isEmpty())
        return noApproval(id);
    return found->first();
}

Result<QList<Approval>> ApprovalStore::list(const ApprovalQuery &query) const
{
    return read(query.pendingOnly ? QStringLiteral("approval.pending") : QStringLiteral("approval.history"),
                {{"session_id", query.sessionId.value},
                 {"run_id", query.runId.value},
                 {"text", query.text.toCaseFolded()},
                 {"limit", query.limit},
                 {"offset", query.offset}});
}

Result<QList<Approval>> ApprovalStore::byRun(const RunId &id) const
{
    return read(QStringLiteral("approval.byRun"), {{"run_id", id.value}});
}

Result<int> ApprovalStore::pendingForRun(const RunId &id) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("approval.pendingForRun"), {{"run_id", id.value}});
    if (!rows)
        return tl::unexpected(rows.error());
    return rows->first().integer("pending");
}

Result<Decided> ApprovalStore::decide(const Verdicts &verdict, const QDateTime &now)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> decided = runVerdict(m_database, verdict, now);
    if (!decided)
        return tl::unexpected(decided.error());
    const Result<Approval> approval = get(verdict.id);
    if (!approval)
        return tl::unexpected(approval.error());
    if (decided->isEmpty()) {
        if (isPersonal(verdict.to) && isSameDecision(*approval, verdict))
            return Decided{*approval, true};
        return refusal(*approval, verdict, now);
    }
    if (const auto refreshed = refreshApprovals(m_database, decided->first().number("session_number")); !refreshed)
        return tl::unexpected(refreshed.error());
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return Decided{*approval, false};
}

Result<QList<Approval>> ApprovalStore::expireDue(const QDateTime &now) const
{
    return read(QStringLiteral("approval.due"), {{"now", now}});
}

Result<std::optional<QDateTime>> ApprovalStore::nextExpiry() const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("approval.nextExpiry"));
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->first().isNull("expires_at"))
        return std::optional<QDateTime>();
    return std::optional<QDateTime>(rows->first().time("expires_at"));
}

Result<Approval> ApprovalStore::extend(const ApprovalId &id, const QDateTime &expiresAt, const QDateTime &now)
{
    if (expiresAt <= now)
        return fail(ErrorCode::Invalid, QStringLiteral("An approval can be extended to a later time only."));
    const Result<Rows> extended =
        m_database.run(QStringLiteral("approval.extend"), {{"expires_at", expiresAt}, {"id", id.value}, {"now", now}});
    if (!extended)
        return tl::unexpected(extended.error());
    const Result<Approval> approval = get(id);
    if (!approval || extended->changed > 0)
        return approval;
    if (approval->state != ApprovalState::Pending)
        return decidedBefore(*approval);
    return fail(ErrorCode::Expired, QStringLiteral("The time of the approval %1 ended at %2; it can't be extended.")
                                        .arg(id.value, moment(approval->expiresAt)));
}

Result<QList<Approval>> ApprovalStore::cancelPendingOfRun(const RunId &id, const QDateTime &now)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<QList<Approval>> all = byRun(id);
    if (!all)
        return all;
    QList<Approval> cancelled;
    for (const Approval &approval : *all) {
        if (approval.state != ApprovalState::Pending)
            continue;
        Verdicts verdict;
        verdict.id = approval.id;
        verdict.to = ApprovalState::Cancelled;
        const Result<Decided> decided = decide(verdict, now);
        if (!decided)
            return tl::unexpected(decided.error());
        cancelled.append(decided->approval);
    }
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return cancelled;
}

Result<Approval> ApprovalStore::markDelivery(const ApprovalId &id, const QList<Delivery> &from, Delivery to,
                                             const QDateTime &at, const QString &status)
{
    for (const Delivery step : from) {
        const Result<Rows> marked =
            m_database.run(QStringLiteral("approval.deliver"), {{"to_delivery", toString(to)},
                                                                {"at", at},
                                                                {"status", status},
                                                                {"id", id.value},
                                                                {"from_delivery", toString(step)}});
        if (!marked)
            return tl::unexpected(marked.error());
        if (marked->changed > 0)
            return get(id);
    }
    const Result<Approval> approval = get(id);
    if (!approval)
        return approval;
    return fail(ErrorCode::Conflict, QStringLiteral("The decision of approval %1 is \"%2\" and can't become \"%3\".")
                                         .arg(id.value, toString(approval->delivery), toString(to)));
}

Result<QList<Approval>> ApprovalStore::undelivered() const
{
    return read(QStringLiteral("approval.undelivered"), {});
}

Result<QList<Approval>> ApprovalStore::markSeen(const QList<ApprovalId> &ids, const QString &who, const QDateTime &at)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    QList<Approval> changed;
    for (const ApprovalId &id : ids) {
        const Result<Rows> seen =
            m_database.run(QStringLiteral("approval.seen"), {{"at", at}, {"who", who}, {"id", id.value}});
        if (!seen)
            return tl::unexpected(seen.error());
        if (seen->changed == 0)
            continue;
        const Result<Approval> approval = get(id);
        if (!approval)
            return tl::unexpected(approval.error());
        changed.append(*approval);
    }
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return changed;
}

Result<QList<Approval>> ApprovalStore::markNativeLost(const RunId &id)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> lost = m_database.run(QStringLiteral("approval.loseOfRun"), {{"run_id", id.value}});
    if (!lost)
        return tl::unexpected(lost.error());
    QList<Approval> changed;
    for (const Row &row : lost->rows) {
        const Result<Approval> approval = get({row.text("id")});
        if (!approval)
            return tl::unexpected(approval.error());
        changed.append(*approval);
    }
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return changed;
}

Result<std::optional<Approval>> ApprovalStore::usableLost(const SessionId &id, const QString &toolName,
                                                          const Digest &inputDigest) const
{
    const Result<QList<Approval>> found =
        read(QStringLiteral("approval.usableLost"),
             {{"session_id", id.value}, {"tool_name", toolName}, {"input_digest", inputDigest.value}});
    if (!found)
        return tl::unexpected(found.error());
    return found->isEmpty() ? std::optional<Approval>() : std::optional<Approval>(found->first());
}

Result<Approval> ApprovalStore::useLost(const ApprovalId &id, const ApprovalId &usedBy, const QDateTime &at)
{
    const Result<Rows> used =
        m_database.run(QStringLiteral("approval.useLost"), {{"used_by", usedBy.value}, {"at", at}, {"id", id.value}});
    if (!used)
        return tl::unexpected(used.error());
    const Result<Approval> approval = get(id);
    if (!approval || used->changed > 0)
        return approval;
    return fail(ErrorCode::Conflict,
                QStringLiteral("The approval %1 let its action through already, or was never lost.").arg(id.value));
}

} // namespace engine
