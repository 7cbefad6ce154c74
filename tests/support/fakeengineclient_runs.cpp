// Runs, approvals and settings of the fake engine.
#include "support/fakeengineclient.h"

using namespace engine;

QFuture<Result<Submitted>> FakeEngineClient::submit(const NewRun &request)
{
    calls.append(QStringLiteral("submit %1 %2").arg(request.sessionId.value, request.prompt));
    return answer<Submitted>(QStringLiteral("submit"), [&]() -> Result<Submitted> {
        const Session *session = findSession(request.sessionId);
        if (!session)
            return absent<Submitted>(request.sessionId.value);
        for (const Run &run : runRows) {
            if (!request.idempotencyKey.isEmpty() && run.idempotencyKey == request.idempotencyKey)
                return Submitted{run, true};
        }
        const Agent *agent = rowById(agentRows, session->agentId);
        const int limit = agent ? agent->maxQueued : 100;
        if (session->queued >= limit)
            return fail(ErrorCode::QueueFull,
                        QStringLiteral("The session has %1 waiting runs, its limit. Wait or cancel one.").arg(limit));
        submissions.append(request);
        Run run;
        run.id = newRunId();
        run.sessionId = request.sessionId;
        run.agentId = session->agentId;
        run.sequence = ++m_sequence;
        run.prompt = request.prompt;
        run.requestedBy = request.requestedBy;
        run.origin = request.origin;
        run.idempotencyKey = request.idempotencyKey;
        run.createdAt = QDateTime::currentDateTimeUtc();
        runRows.append(run);
        refreshSession(run.sessionId);
        FeedBatch batch;
        batch.runs = {*findRun(run.id)};
        batch.sessions = {*findSession(run.sessionId)};
        feedLater(batch);
        return Submitted{*findRun(run.id), false};
    });
}

QFuture<Result<Run>> FakeEngineClient::cancelRun(const RunId &id, const QString &who)
{
    calls.append(QStringLiteral("cancelRun %1 by %2").arg(id.value, who));
    return answer<Run>(QStringLiteral("cancelRun"), [&]() -> Result<Run> {
        Run *run = findRun(id);
        if (!run)
            return absent<Run>(id.value);
        if (isTerminal(run->state))
            return fail(ErrorCode::Conflict,
                        QStringLiteral("Run %1 is %2 already.").arg(id.value, engine::toString(run->state)));
        FeedBatch batch;
        run->state = RunState::Cancelled;
        run->endedAt = QDateTime::currentDateTimeUtc();
        for (Approval &approval : approvalRows) {
            if (approval.runId == id && approval.state == ApprovalState::Pending) {
                approval.state = ApprovalState::Cancelled;
                approval.decidedAt = run->endedAt;
                batch.approvals.append(approval);
            }
        }
        refreshSession(run->sessionId);
        for (const Run &other : runRows) {
            if (other.sessionId == run->sessionId)
                batch.runs.append(other);
        }
        if (const Session *session = findSession(run->sessionId))
            batch.sessions = {*session};
        feedLater(batch);
        return *run;
    });
}

QFuture<Result<Run>> FakeEngineClient::requeueRun(const RunId &id, const QString &who)
{
    calls.append(QStringLiteral("requeueRun %1 by %2").arg(id.value, who));
    return answer<Run>(QStringLiteral("requeueRun"), [&]() -> Result<Run> {
        Run *run = findRun(id);
        if (!run)
            return absent<Run>(id.value);
        if (run->state != RunState::Error)
            return fail(ErrorCode::Conflict, QStringLiteral("Only a failed run is queued again; run %1 is %2.")
                                                 .arg(id.value, engine::toString(run->state)));
        run->state = RunState::Pending;
        run->sequence = ++m_sequence;
        run->errorCode.clear();
        run->errorMessage.clear();
        refreshSession(run->sessionId);
        FeedBatch batch;
        batch.runs = {*run};
        feedLater(batch);
        return *run;
    });
}

QFuture<Result<Run>> FakeEngineClient::run(const RunId &id)
{
    calls.append(QStringLiteral("run %1").arg(id.value));
    return answer<Run>(QStringLiteral("run"), [&]() -> Result<Run> {
        const Run *run = findRun(id);
        return run ? Result<Run>(*run) : absent<Run>(id.value);
    });
}

QFuture<Result<QList<Run>>> FakeEngineClient::runs(const SessionId &id, int limit)
{
    calls.append(QStringLiteral("runs %1").arg(id.value));
    return answer<QList<Run>>(QStringLiteral("runs"), [&]() -> Result<QList<Run>> {
        QList<Run> found;
        for (const Run &run : runRows) {
            if (id.isEmpty() ? !isTerminal(run.state) : run.sessionId == id)
                found.append(run);
        }
        std::sort(found.begin(), found.end(), [](const Run &a, const Run &b) { return a.sequence < b.sequence; });
        return found.mid(qMax<qsizetype>(0, found.size() - limit));
    });
}

QFuture<Result<QList<Approval>>> FakeEngineClient::approvals(const ApprovalQuery &query)
{
    calls.append(QStringLiteral("approvals"));
    return answer<QList<Approval>>(QStringLiteral("approvals"), [&]() -> Result<QList<Approval>> {
        QList<Approval> found;
        for (const Approval &approval : approvalRows) {
            const QString text = approval.title + u' ' + approval.toolName + u' ' + approval.agentName + u' ' +
                                 approval.sessionTitle;
            if ((query.pendingOnly && approval.state != ApprovalState::Pending) ||
                (!query.sessionId.isEmpty() && approval.sessionId != query.sessionId) ||
                (!query.runId.isEmpty() && approval.runId != query.runId) ||
                !text.contains(query.text, Qt::CaseInsensitive))
                continue;
            found.append(approval);
        }
        return found.mid(query.offset, query.limit);
    });
}

QFuture<Result<Approval>> FakeEngineClient::approval(const ApprovalId &id)
{
    calls.append(QStringLiteral("approval %1").arg(id.value));
    return answer<Approval>(QStringLiteral("approval"), [&]() -> Result<Approval> {
        const Approval *approval = findApproval(id);
        return approval ? Result<Approval>(*approval) : absent<Approval>(id.value);
    });
}

Result<Resolved> FakeEngineClient::decide(const Decision &decision)
{
    Approval *approval = findApproval(decision.id);
    if (!approval)
        return absent<Resolved>(decision.id.value);
    if (approval->state == ApprovalState::Expired)
        return fail(ErrorCode::Expired, QStringLiteral("The approval %1 expired at %2; nothing runs by it any more.")
                                            .arg(decision.id.value, approval->expiresAt.toString(Qt::ISODate)));
    if (approval->state != ApprovalState::Pending) {
        if (!decision.key.isEmpty() && approval->decisionKey == decision.key)
            return Resolved{*approval, true, false};
        return fail(ErrorCode::Conflict, QStringLiteral("The approval %1 was %2 by %3 at %4 already; that decision stands.")
                                             .arg(decision.id.value, engine::toString(approval->state),
                                                  approval->decidedBy, approval->decidedAt.toString(Qt::ISODate)));
    }
    if (approval->digest != decision.digest)
        return fail(ErrorCode::ActionChanged, QStringLiteral("The action of approval %1 is not the one that was shown; "
                                                             "nothing was sent.")
                                                  .arg(decision.id.value));
    approval->state = decision.verdict == Verdict::Approve ? ApprovalState::Approved : ApprovalState::Denied;
    approval->delivery = Delivery::NotDelivered;
    approval->decidedBy = decision.decidedBy;
    approval->decidedAt = QDateTime::currentDateTimeUtc();
    approval->note = decision.note;
    approval->editedInput = decision.editedInput;
    approval->decisionKey = decision.key;
    noteAudit(decision.decidedBy,
              decision.verdict == Verdict::Approve ? QStringLiteral("approval.approve") : QStringLiteral("approval.deny"),
              decision.id.value, QStringLiteral("ok"));
    refreshSession(approval->sessionId);
    bool continued = false;
    if (decision.continueAfter)
        continued = resume(approval->runId).has_value();
    FeedBatch batch;
    batch.approvals = {*approval};
    if (const Run *run = findRun(approval->runId))
        batch.runs = {*run};
    feedLater(batch);
    return Resolved{*approval, false, continued};
}

QFuture<Result<Resolved>> FakeEngineClient::resolve(const Decision &decision)
{
    calls.append(QStringLiteral("resolve %1 %2").arg(decision.id.value, decision.verdict == Verdict::Approve
                                                                            ? QStringLiteral("approve")
                                                                            : QStringLiteral("deny")));
    decisions.append(decision);
    return answer<Resolved>(QStringLiteral("resolve"), [&] { return decide(decision); });
}

Result<Continued> FakeEngineClient::resume(const RunId &id)
{
    Run *run = findRun(id);
    if (!run)
        return absent<Continued>(id.value);
    for (const Approval &approval : approvalRows) {
        if (approval.runId == id && approval.state == ApprovalState::Pending)
            return fail(ErrorCode::Forbidden,
                        QStringLiteral("Run %1 still waits for a decision; nothing was sent.").arg(id.value));
    }
    if (run->state == RunState::Running && run->continued)
        return Continued{*run, true};
    if (run->state != RunState::Paused)
        return fail(ErrorCode::Conflict, QStringLiteral("Run %1 is not paused.").arg(id.value));
    run->state = RunState::Running;
    run->continued = true;
    for (Approval &approval : approvalRows) {
        if (approval.runId == id && approval.delivery == Delivery::NotDelivered) {
            approval.delivery = Delivery::Written;
            approval.writtenAt = QDateTime::currentDateTimeUtc();
        }
    }
    refreshSession(run->sessionId);
    return Continued{*run, false};
}

QFuture<Result<Continued>> FakeEngineClient::continueRun(const RunId &id, const QString &who, bool)
{
    calls.append(QStringLiteral("continueRun %1 by %2").arg(id.value, who));
    return answer<Continued>(QStringLiteral("continueRun"), [&]() -> Result<Continued> {
        const Result<Continued> continued = resume(id);
        if (continued) {
            FeedBatch batch;
            batch.runs = {continued->run};
            for (const Approval &approval : approvalRows) {
                if (approval.runId == id)
                    batch.approvals.append(approval);
            }
            feedLater(batch);
        }
        return continued;
    });
}

QFuture<Result<Approval>> FakeEngineClient::extendApproval(const ApprovalId &id, int seconds, const QString &who)
{
    calls.append(QStringLiteral("extendApproval %1 %2 by %3").arg(id.value).arg(seconds).arg(who));
    return answer<Approval>(QStringLiteral("extendApproval"), [&]() -> Result<Approval> {
        Approval *approval = findApproval(id);
        if (!approval)
            return absent<Approval>(id.value);
        if (approval->state != ApprovalState::Pending)
            return fail(ErrorCode::Expired,
                        QStringLiteral("The time of the approval %1 ended; it can't be extended.").arg(id.value));
        approval->expiresAt = approval->expiresAt.addSecs(seconds);
        noteAudit(who, QStringLiteral("approval.extend"), id.value, QStringLiteral("ok"));
        FeedBatch batch;
        batch.approvals = {*approval};
        feedLater(batch);
        return *approval;
    });
}

void FakeEngineClient::expire(const ApprovalId &id)
{
    Approval *approval = findApproval(id);
    if (!approval)
        return;
    approval->state = ApprovalState::Expired;
    approval->decidedAt = QDateTime::currentDateTimeUtc();
    approval->delivery = Delivery::NotDelivered;
    FeedBatch batch;
    if (resume(approval->runId))
        batch.runs = {*findRun(approval->runId)};
    batch.approvals = {*approval};
    push(batch);
}

void FakeEngineClient::markSeen(const QList<ApprovalId> &ids, const QString &who)
{
    FeedBatch batch;
    for (const ApprovalId &id : ids) {
        calls.append(QStringLiteral("markSeen %1 by %2").arg(id.value, who));
        seen.append(id);
        if (Approval *approval = findApproval(id); approval && !approval->seenAt.isValid()) {
            approval->seenAt = QDateTime::currentDateTimeUtc();
            approval->seenBy = who;
            batch.approvals.append(*approval);
        }
    }
    if (!batch.approvals.isEmpty())
        feedLater(batch);
}

QFuture<Result<QList<AuditEntry>>> FakeEngineClient::audit(int limit)
{
    calls.append(QStringLiteral("audit"));
    return answer<QList<AuditEntry>>(QStringLiteral("audit"),
                                     [&]() -> Result<QList<AuditEntry>> { return auditRows.mid(0, limit); });
}

QFuture<Result<QMap<QString, QString>>> FakeEngineClient::settings()
{
    calls.append(QStringLiteral("settings"));
    return answer<QMap<QString, QString>>(QStringLiteral("settings"),
                                          [&]() -> Result<QMap<QString, QString>> { return settingRows; });
}

QFuture<Result<void>> FakeEngineClient::setSetting(const QString &key, const QString &value, const QString &who)
{
    calls.append(QStringLiteral("setSetting %1 %2 by %3").arg(key, value, who));
    return answer<void>(QStringLiteral("setSetting"), [&]() -> Result<void> {
        settingRows.insert(key, value);
        FeedBatch batch;
        batch.settingsChanged = true;
        feedLater(batch);
        return {};
    });
}

QFuture<Result<EngineStatus>> FakeEngineClient::status()
{
    calls.append(QStringLiteral("status"));
    return answer<EngineStatus>(QStringLiteral("status"), [&]() -> Result<EngineStatus> { return statusRow; });
}

QFuture<Result<QList<Finding>>> FakeEngineClient::doctor()
{
    calls.append(QStringLiteral("doctor"));
    return answer<QList<Finding>>(QStringLiteral("doctor"), [&]() -> Result<QList<Finding>> { return findingRows; });
}

QFuture<Result<Counts>> FakeEngineClient::counts()
{
    calls.append(QStringLiteral("counts"));
    return answer<Counts>(QStringLiteral("counts"), [&]() -> Result<Counts> { return currentCounts(); });
}
