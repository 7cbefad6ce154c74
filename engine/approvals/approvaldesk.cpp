#include "engine/approvals/approvaldesk.h"

#include "engine/approvals/canonical.h"
#include "engine/recorder.h"

namespace engine {
namespace {

constexpr int longestExtensionSeconds = 24 * 3600;
constexpr int expiryRetryMs = 1000;

Block approvalBlock(const Approval &approval)
{
    Block block;
    block.sessionId = approval.sessionId;
    block.runId = approval.runId;
    block.kind = BlockKind::Approval;
    block.key = approval.id.value;
    block.approvalId = approval.id;
    block.text = approval.title;
    block.toolName = approval.toolName;
    block.at = approval.requestedAt;
    return block;
}

} // namespace

ApprovalDesk::ApprovalDesk(Stores &stores, Feed &feed, Clock &clock) : m_stores(stores), m_feed(feed), m_clock(clock) {}

void ApprovalDesk::start()
{
    armExpiry();
}

Result<Approval> ApprovalDesk::request(Recorder &recorder, const Run &run, const Session &session, const Agent &agent,
                                       const PermissionRequested &asked)
{
    Approval approval;
    approval.id = newApprovalId();
    approval.runId = run.id;
    approval.sessionId = session.id;
    approval.sessionTitle = session.title;
    approval.agentId = agent.id;
    approval.agentName = agent.name;
    approval.attempt = run.attempt;
    approval.generation = recorder.channel().generation;
    approval.kind = asked.kind;
    approval.nativeSessionId = session.native.nativeSessionId;
    approval.nativeRequestId = asked.requestId;
    approval.nativeToolUseId = asked.toolUseId;
    approval.toolName = asked.toolName;
    approval.title = approvalTitle(asked);
    approval.reason = asked.reason;
    approval.blockedPath = asked.blockedPath;
    approval.input = asked.input;
    approval.raw = asked.raw;
    approval.cwd = session.workspace;
    approval.editable = asked.editable;
    approval.requestedBy = run.requestedBy;
    approval.requestedAt = m_clock.now();
    approval.expiresAt = approval.requestedAt.addSecs(agent.approvalTimeoutSeconds);
    const Result<QByteArray> canonical = canonicalAction(
        {toString(agent.harness), toString(asked.kind), asked.toolName, asked.input, session.workspace,
         approval.nativeSessionId, asked.requestId, asked.toolUseId, session.id, run.id, run.attempt, approval.generation});
    if (!canonical)
        return tl::unexpected<Error>(canonical.error());
    approval.canonical = *canonical;
    approval.digest = digestOf(*canonical);
    const Digest arguments = inputDigest(asked.input);

    const Result<std::optional<Approval>> usable = m_stores.approvals.usableLost(session.id, asked.toolName, arguments);
    if (!usable)
        return tl::unexpected<Error>(usable.error());

    Run after = run;
    QList<Block> shown;
    const Result<void> stored = recorder.flush([&]() -> Result<void> {
        Result<void> inserted = m_stores.approvals.insert(approval, arguments);
        if (!inserted)
            return inserted;
        EventBatch batch;
        batch.sessionId = session.id;
        batch.newBlocks = {approvalBlock(approval)};
        const Result<AppendedEvents> appended = m_stores.events.append(batch);
        if (!appended)
            return tl::unexpected<Error>(appended.error());
        shown = appended->newBlocks;
        if (*usable) {
            const Approval &earlier = **usable;
            const Result<Decided> decided = m_stores.approvals.decide(
                {approval.id, ApprovalState::Approved, approval.digest, earlier.decidedBy,
                 QStringLiteral("Decided before the native execution was lost, for the very same action (%1).")
                     .arg(earlier.id.value),
                 earlier.editedInput, earlier.editedDigest, {}},
                m_clock.now());
            if (!decided)
                return tl::unexpected<Error>(decided.error());
            approval = decided->approval;
            const Result<Approval> used = m_stores.approvals.useLost(earlier.id, approval.id, m_clock.now());
            if (!used)
                return tl::unexpected<Error>(used.error());
            return {};
        }
        const Result<Run> present = m_stores.runs.get(run.id);
        if (!present)
            return tl::unexpected<Error>(present.error());
        after = *present;
        if (present->state == RunState::Paused)
            return {}; // a second question in the same turn
        RunPatch patch;
        patch.continued = false;
        patch.steps = {{QStringLiteral("paused"), m_clock.now()}};
        const Result<Run> paused = m_stores.runs.move(run.id, run.attempt, RunState::Running, RunState::Paused, patch);
        if (!paused)
            return tl::unexpected<Error>(paused.error());
        after = *paused;
        return {};
    });
    if (!stored)
        return tl::unexpected<Error>(stored.error());

    recorder.event(QStringLiteral("RunPaused"), approval.title);
    m_feed.noteBlocks(shown);
    m_feed.noteRun(after);
    show(approval);
    armExpiry();
    return approval;
}

Result<QByteArray> ApprovalDesk::checkedEdit(const Approval &approval, const Decision &decision) const
{
    if (decision.editedInput.isEmpty() || decision.editedInput == approval.input)
        return QByteArray();
    if (!approval.editable && approval.kind == ApprovalKind::Tool)
        return fail(ErrorCode::NotSupported, tr("The harness does not accept changed arguments; approve them as they are "
                                                "or deny."));
    const Result<QByteArray> canonical = canonicalJson(decision.editedInput);
    if (!canonical)
        return fail(ErrorCode::Invalid, tr("The edited arguments are not usable: %1").arg(canonical.error().message));
    if (!canonical->startsWith('{'))
        return fail(ErrorCode::Invalid, tr("The edited arguments must be a JSON object, like the original ones."));
    return decision.editedInput;
}

Result<Resolved> ApprovalDesk::decide(const Decision &decision)
{
    const Result<Approval> present = m_stores.approvals.get(decision.id);
    if (!present)
        return tl::unexpected<Error>(present.error());
    if (present->digest != decision.digest && present->state == ApprovalState::Pending)
        return fail(ErrorCode::ActionChanged,
                    tr("The action of approval %1 is not the one that was shown. Look at it again and decide anew; nothing "
                       "was sent.")
                        .arg(decision.id.value));
    const Result<QByteArray> edited =
        decision.verdict == Verdict::Approve ? checkedEdit(*present, decision) : Result<QByteArray>(QByteArray());
    if (!edited)
        return tl::unexpected<Error>(edited.error());

    Verdicts verdict{decision.id,
                     decision.verdict == Verdict::Approve ? ApprovalState::Approved : ApprovalState::Denied,
                     decision.digest,
                     decision.decidedBy,
                     decision.note,
                     *edited,
                     {},
                     decision.key};
    if (!edited->isEmpty()) {
        const Result<Agent> agent = m_stores.agents.get(present->agentId);
        if (!agent)
            return tl::unexpected<Error>(agent.error());
        const Result<QByteArray> action = canonicalAction(
            {toString(agent->harness), toString(present->kind), present->toolName, *edited, present->cwd,
             present->nativeSessionId, present->nativeRequestId, present->nativeToolUseId, present->sessionId,
             present->runId, present->attempt, present->generation});
        if (!action)
            return tl::unexpected<Error>(action.error());
        verdict.editedDigest = digestOf(*action);
    }
    Result<Transaction> transaction = Transaction::begin(m_stores.database);
    if (!transaction)
        return tl::unexpected<Error>(transaction.error());
    const Result<Decided> decided = m_stores.approvals.decide(verdict, m_clock.now());
    if (!decided)
        return tl::unexpected<Error>(decided.error());
    if (!decided->repeated) {
        const Result<qint64> audited = m_stores.audit.append(
            {0, m_clock.now(), decision.decidedBy,
             decision.verdict == Verdict::Approve ? QStringLiteral("approval.approve") : QStringLiteral("approval.deny"),
             decision.id.value, QStringLiteral("ok"),
             edited->isEmpty() ? decision.note : tr("edited; %1").arg(decision.note)});
        if (!audited)
            return tl::unexpected<Error>(audited.error());
    }
    const Result<void> committed = transaction->commit();
    if (!committed)
        return tl::unexpected<Error>(committed.error());
    return Resolved{decided->approval, decided->repeated, false};
}

Result<Resolved> ApprovalDesk::resolve(const Decision &decision)
{
    Result<Resolved> resolved = decide(decision);
    if (!resolved) {
        if (resolved.error().code == ErrorCode::StorageUnavailable)
            return fail(ErrorCode::StorageUnavailable,
                        tr("Not saved, nothing was sent: %1 The approval is still pending; try again.")
                            .arg(resolved.error().message),
                        resolved.error().detail);
        const Error error = resolved.error();
        audit(decision.decidedBy, QStringLiteral("approval.resolve"), decision.id.value, &error);
        return resolved;
    }
    show(resolved->approval);
    if (decision.continueAfter && !resolved->repeated) {
        const Result<int> pending = m_stores.approvals.pendingForRun(resolved->approval.runId);
        if (pending && *pending == 0)
            resolved->continued = continueRun(resolved->approval.runId, decision.decidedBy).has_value();
    }
    return resolved;
}

Result<Run> ApprovalDesk::resumeRun(const RunId &id, int attempt)
{
    RunPatch patch;
    patch.continued = true;
    patch.steps = {{QStringLiteral("continued"), m_clock.now()}};
    return m_stores.runs.move(id, attempt, RunState::Paused, RunState::Running, patch);
}

Result<Continued> ApprovalDesk::continueRun(const RunId &id, const QString &who)
{
    const Result<int> pending = m_stores.approvals.pendingForRun(id);
    if (!pending)
        return tl::unexpected<Error>(pending.error());
    const Result<Run> run = m_stores.runs.get(id);
    if (!run)
        return tl::unexpected<Error>(run.error());
    if (*pending > 0 && run->state == RunState::Paused) {
        const Error error{ErrorCode::Forbidden,
                          tr("Run %1 still waits for %n decision(s). Resolve them first; nothing was sent.", nullptr, *pending)
                              .arg(id.value),
                          {}};
        audit(who, QStringLiteral("run.continue"), id.value, &error);
        return tl::unexpected<Error>(error);
    }
    if (run->state == RunState::Running && run->continued)
        return Continued{*run, true};
    if (run->state != RunState::Paused)
        return fail(ErrorCode::Conflict,
                    tr("Run %1 is %2, so there is nothing to continue.").arg(id.value, toString(run->state)));
    Result<Transaction> transaction = Transaction::begin(m_stores.database);
    if (!transaction)
        return tl::unexpected<Error>(transaction.error());
    const Result<Run> moved = resumeRun(id, run->attempt);
    if (!moved)
        return tl::unexpected<Error>(moved.error());
    const Result<qint64> audited = m_stores.audit.append(
        {0, m_clock.now(), who, QStringLiteral("run.continue"), id.value, QStringLiteral("ok"), {}});
    if (!audited)
        return tl::unexpected<Error>(audited.error());
    const Result<void> committed = transaction->commit();
    if (!committed)
        return tl::unexpected<Error>(committed.error());
    m_feed.noteRun(*moved);
    emit deliverable(id);
    return Continued{*moved, false};
}

Result<Approval> ApprovalDesk::extend(const ApprovalId &id, int seconds, const QString &who)
{
    if (seconds <= 0 || seconds > longestExtensionSeconds)
        return fail(ErrorCode::Invalid, tr("An extension is between 1 second and 24 hours; %1 s was asked.").arg(seconds));
    const Result<Approval> present = m_stores.approvals.get(id);
    if (!present)
        return present;
    Result<Transaction> transaction = Transaction::begin(m_stores.database);
    if (!transaction)
        return tl::unexpected<Error>(transaction.error());
    const Result<Approval> extended =
        m_stores.approvals.extend(id, present->expiresAt.addSecs(seconds), m_clock.now());
    if (!extended)
        return extended;
    const Result<qint64> audited = m_stores.audit.append({0, m_clock.now(), who, QStringLiteral("approval.extend"), id.value,
                                                          QStringLiteral("ok"), tr("%1 s").arg(seconds)});
    if (!audited)
        return tl::unexpected<Error>(audited.error());
    const Result<void> committed = transaction->commit();
    if (!committed)
        return tl::unexpected<Error>(committed.error());
    show(*extended);
    armExpiry();
    return extended;
}

Result<void> ApprovalDesk::markSeen(const QList<ApprovalId> &ids, const QString &who)
{
    const Result<QList<Approval>> changed = m_stores.approvals.markSeen(ids, who, m_clock.now());
    if (!changed)
        return tl::unexpected<Error>(changed.error());
    for (const Approval &approval : *changed)
        show(approval);
    return {};
}

void ApprovalDesk::armExpiry()
{
    const Result<std::optional<QDateTime>> next = m_stores.approvals.nextExpiry();
    if (!next) {
        // The deadline must not be forgotten because the store was busy.
        m_armedFor = {};
        m_clock.callAt(m_clock.now().addMSecs(expiryRetryMs), this, [this] { armExpiry(); });
        return;
    }
    if (!*next || (m_armedFor.isValid() && m_armedFor <= **next && m_armedFor > m_clock.now()))
        return;
    m_armedFor = **next;
    m_clock.callAt(m_armedFor, this, [this] { expire(); });
}

void ApprovalDesk::expire()
{
    m_armedFor = {};
    const Result<QList<Approval>> due = m_stores.approvals.expireDue(m_clock.now());
    if (!due) {
        m_clock.callAt(m_clock.now().addMSecs(expiryRetryMs), this, [this] { expire(); });
        return;
    }
    bool retry = false;
    for (const Approval &approval : *due) {
        Result<Transaction> transaction = Transaction::begin(m_stores.database);
        if (!transaction) {
            retry = true;
            break;
        }
        const Result<Decided> decided =
            m_stores.approvals.decide({approval.id, ApprovalState::Expired, approval.digest, {}, {}, {}, {}, {}}, m_clock.now());
        if (!decided) {
            retry = retry || decided.error().code == ErrorCode::StorageUnavailable;
            continue; // a person was faster
        }
        const Result<qint64> audited =
            m_stores.audit.append({0, m_clock.now(), QStringLiteral("system"), QStringLiteral("approval.expire"),
                                   approval.id.value, QStringLiteral("ok"), {}});
        const Result<int> pending = m_stores.approvals.pendingForRun(approval.runId);
        Result<Run> moved = fail(ErrorCode::Conflict, {});
        if (pending && *pending == 0)
            moved = resumeRun(approval.runId, approval.attempt);
        if (!audited || !pending || !transaction->commit()) {
            retry = true;
            continue;
        }
        show(decided->approval);
        if (moved) {
            m_feed.noteRun(*moved);
            emit deliverable(approval.runId);
        }
    }
    if (retry)
        m_clock.callAt(m_clock.now().addMSecs(expiryRetryMs), this, [this] { expire(); });
    else
        armExpiry();
}

void ApprovalDesk::withdraw(Recorder &recorder, const RunId &run, const QString &nativeRequestId)
{
    const Result<QList<Approval>> approvals = m_stores.approvals.byRun(run);
    if (!approvals)
        return;
    for (const Approval &approval : *approvals) {
        if (approval.nativeRequestId != nativeRequestId || approval.state != ApprovalState::Pending)
            continue;
        std::optional<Approval> cancelled;
        std::optional<Run> moved;
        const Result<void> stored = recorder.flush([&]() -> Result<void> {
            const Result<Decided> decided = m_stores.approvals.decide(
                {approval.id, ApprovalState::Cancelled, approval.digest, {},
                 QStringLiteral("The harness withdrew the request."), {}, {}, {}},
                m_clock.now());
            if (!decided)
                return tl::unexpected<Error>(decided.error());
            cancelled = decided->approval;
            const Result<int> pending = m_stores.approvals.pendingForRun(run);
            const Result<Run> present = m_stores.runs.get(run);
            if (pending && *pending == 0 && present && present->state == RunState::Paused) {
                const Result<Run> resumed = resumeRun(run, present->attempt);
                if (!resumed)
                    return tl::unexpected<Error>(resumed.error());
                moved = *resumed;
            }
            return {};
        });
        if (!stored)
            continue;
        show(*cancelled);
        if (moved) {
            m_feed.noteRun(*moved);
            emit deliverable(run);
        }
    }
}

void ApprovalDesk::markNativeLost(Recorder &recorder, const RunId &run)
{
    const Result<QList<Approval>> lost = m_stores.approvals.markNativeLost(run);
    if (!lost) {
        m_feed.noteNotice({Notice::Level::Error, tr("The loss of run %1's native execution could not be stored.").arg(run.value),
                           lost.error().message, {}});
        return;
    }
    for (const Approval &approval : *lost)
        show(approval);
    if (!lost->isEmpty())
        recorder.event(QStringLiteral("NativeExecutionLost"));
}

void ApprovalDesk::written(const ApprovalId &id)
{
    const Result<Approval> marked =
        m_stores.approvals.markDelivery(id, {Delivery::NotDelivered}, Delivery::Written, m_clock.now());
    if (marked)
        show(*marked);
}

void ApprovalDesk::toolEnded(const RunId &run, const ToolEnded &tool)
{
    const Result<QList<Approval>> approvals = m_stores.approvals.byRun(run);
    if (!approvals)
        return;
    for (const Approval &approval : *approvals) {
        if (approval.nativeToolUseId != tool.toolUseId || approval.state == ApprovalState::Pending)
            continue;
        const QDateTime now = m_clock.now();
        Result<Approval> marked = m_stores.approvals.markDelivery(approval.id, {Delivery::NotDelivered, Delivery::Written},
                                                                  Delivery::Acknowledged, now);
        if (approval.state == ApprovalState::Approved)
            marked = m_stores.approvals.markDelivery(
                approval.id, {Delivery::NotDelivered, Delivery::Written, Delivery::Acknowledged}, Delivery::Executed, now,
                tool.state == ToolState::Done     ? QStringLiteral("ok")
                : tool.state == ToolState::Denied ? QStringLiteral("denied")
                                                  : QStringLiteral("failed"));
        if (marked)
            show(*marked);
    }
}

void ApprovalDesk::show(const Approval &approval)
{
    m_feed.noteApproval(approval);
    // The transcript's card shows the same state: its block is announced again.
    if (const Result<std::optional<Block>> block = m_stores.events.blockByKey(approval.sessionId, approval.id.value);
        block && *block)
        m_feed.noteBlocks({**block});
}

void ApprovalDesk::audit(const QString &who, const QString &what, const QString &subject, const Error *error,
                         const QString &detail)
{
    const Result<qint64> audited = m_stores.audit.append({0, m_clock.now(), who, what, subject,
                                                          error ? toString(error->code) : QStringLiteral("ok"),
                                                          error ? error->message : detail});
    if (!audited)
        qWarning("audit entry %s of %s was not stored: %s", qPrintable(what), qPrintable(subject),
                 qPrintable(audited.error().message));
}

} // namespace engine
