#include "engine/sessions/turnexecutor.h"

#include "engine/harness/claude/transcript.h"
#include "engine/harness/nativestate.h"

#include <QCoroFuture>
#include <QCoroTimer>
#include <QPointer>
#include <QtConcurrentRun>

namespace engine {
namespace {

constexpr int storeRetryMs = 300;
constexpr int retryDelaySeconds = 5;
constexpr int transcriptTries = 8;
constexpr std::chrono::milliseconds transcriptPause(150);

bool worthRetrying(ErrorCode code)
{
    return code == ErrorCode::HarnessFailed || code == ErrorCode::WorkerUnreachable;
}

} // namespace

TurnExecutor::TurnExecutor(SessionParts parts, SessionHost &host) : m_parts(std::move(parts)), m_host(host) {}

QCoro::Task<> TurnExecutor::execute(Run run)
{
    const RunningTask task(m_parts.tasks);
    LiveSession &live = m_host.session(run.sessionId);
    QObject context;
    // A cancelled turn may still be ending: its last lines are not ours.
    if (live.state() != LiveSession::State::Turn)
        live.recorder().setRun(run.id, run.attempt);
    watch(live, run, &context);
    const Result<void> ready = co_await live.ready();
    if (!ready) {
        if (ready.error().code != ErrorCode::ShuttingDown)
            settleError(run, ready.error());
        co_return;
    }
    const Result<Run> present = m_parts.stores.runs.get(run.id);
    if (!present || present->state != RunState::Running || present->attempt != run.attempt) {
        emit settled(present ? *present : run); // cancelled while the harness got ready
        co_return;
    }
    // Sent before the step is stored: the commit is not on the way to the first words. A console that dies between the two
    // sends the line again under its id, and the worker applies it once.
    const QFuture<TurnOutcome> turn = live.startTurn(run, run.prompt, true);
    if (!turn.isFinished())
        step(run, QStringLiteral("prompt sent"));
    co_await await(run, turn);
}

QCoro::Task<> TurnExecutor::follow(Run run)
{
    const RunningTask task(m_parts.tasks);
    LiveSession &live = m_host.session(run.sessionId);
    QObject context;
    watch(live, run, &context);
    co_await await(run, live.outcome());
}

QCoro::Task<> TurnExecutor::resumeLost(Run run)
{
    const RunningTask task(m_parts.tasks);
    LiveSession &live = m_host.session(run.sessionId);
    QObject context;
    live.recorder().setRun(run.id, run.attempt);
    watch(live, run, &context);
    const Result<void> ready = co_await live.ready();
    if (!ready) {
        if (ready.error().code != ErrorCode::ShuttingDown)
            settleError(run, ready.error());
        co_return;
    }
    step(run, LiveSession::resumedStep);
    live.note(BlockKind::Note, tr("The native execution was lost while it waited. The conversation was resumed; only the "
                                  "very same action may use the stored decision."));
    co_await await(run, live.startTurn(run, LiveSession::resumeText(), false));
}

QCoro::Task<> TurnExecutor::await(Run run, QFuture<TurnOutcome> future)
{
    const TurnOutcome outcome = co_await future;
    co_await settle(run, outcome);
}

void TurnExecutor::watch(LiveSession &live, const Run &run, QObject *context)
{
    connect(&live, &LiveSession::prepared, context, [this, run, &live](const QString &how, qint64 ms) {
        m_steps[run.id].append({QStringLiteral("harness ready (%1)").arg(how), m_parts.clock.now()});
        const QString text = how == u"warm"      ? tr("warm start %1 ms").arg(ms)
                             : how == u"adopted" ? tr("re-attached to the running harness in %1 ms").arg(ms)
                             : how == u"resumed" ? tr("conversation resumed, cold start %1 ms").arg(ms)
                                                 : tr("cold start %1 ms").arg(ms);
        live.recorder().event(QStringLiteral("HarnessReady"), text);
        live.note(BlockKind::Note, text);
    });
    connect(&live, &LiveSession::firstLine, context, [this, run] {
        m_steps[run.id].append({QStringLiteral("first line"), m_parts.clock.now()});
    });
    connect(&live, &LiveSession::firstText, context, [this, run] {
        m_steps[run.id].append({QStringLiteral("first text"), m_parts.clock.now()});
    });
}

void TurnExecutor::step(const Run &run, const QString &name)
{
    if (const Result<Run> stepped = m_parts.stores.runs.addStep(run.id, run.attempt, {name, m_parts.clock.now()}))
        m_parts.feed.noteRun(*stepped);
}

// The row's move is tried until the store takes it: a turn that ended must not look alive because a disk was full.
bool TurnExecutor::moveTo(const Run &run, RunState to, RunPatch patch)
{
    patch.steps = m_steps.value(run.id) + patch.steps;
    const Result<Run> present = m_parts.stores.runs.get(run.id);
    Result<Run> moved = present;
    if (present) {
        if (isTerminal(present->state) || present->attempt != run.attempt) {
            m_steps.remove(run.id);
            emit settled(*present);
            return true; // cancelled meanwhile; its own row is final
        }
        LiveSession &live = m_host.session(run.sessionId);
        const Result<void> stored = live.recorder().flush([&]() -> Result<void> {
            RunState from = present->state;
            if (from == RunState::Paused && to == RunState::Completed) {
                // The harness ended its turn over an open question: nothing may stay pending.
                const auto cancelled = m_parts.stores.approvals.cancelPendingOfRun(run.id, m_parts.clock.now());
                if (!cancelled)
                    return tl::unexpected<Error>(cancelled.error());
                const Result<Run> resumed = m_parts.stores.runs.move(run.id, run.attempt, from, RunState::Running, {});
                if (!resumed)
                    return tl::unexpected<Error>(resumed.error());
                from = RunState::Running;
            }
            moved = m_parts.stores.runs.move(run.id, run.attempt, from, to, patch);
            return moved ? Result<void>{} : tl::unexpected<Error>(moved.error());
        });
        if (!stored)
            moved = tl::unexpected<Error>(stored.error());
    }
    if (!moved && moved.error().code == ErrorCode::StorageUnavailable)
        return false;
    m_steps.remove(run.id);
    if (moved) {
        m_parts.feed.noteRun(*moved);
        emit settled(*moved);
    } else if (moved.error().code == ErrorCode::NotFound) {
        emit settled(run); // its session was deleted
    } else {
        qWarning("run %s could not be settled: %s", qPrintable(run.id.value), qPrintable(moved.error().message));
        emit settled(run);
    }
    return true;
}

bool TurnExecutor::retryLater(const Run &run, const Error &error)
{
    if (run.attempt >= run.maxAttempts || !worthRetrying(error.code))
        return false;
    RunPatch patch;
    patch.availableAt = m_parts.clock.now().addSecs(retryDelaySeconds);
    patch.errorMessage = error.message;
    const Result<Run> waiting = m_parts.stores.runs.move(run.id, run.attempt, RunState::Running, RunState::Pending, patch);
    if (!waiting)
        return false;
    m_host.session(run.sessionId).note(BlockKind::Warning, tr("Attempt %1 failed and is tried again in %2 s: %3")
                                                               .arg(run.attempt)
                                                               .arg(retryDelaySeconds)
                                                               .arg(error.message));
    m_parts.feed.noteRun(*waiting);
    emit settled(*waiting);
    return true;
}

void TurnExecutor::settleError(const Run &run, const Error &error)
{
    LiveSession &live = m_host.session(run.sessionId);
    if (retryLater(run, error))
        return;
    RunPatch patch;
    patch.endedAt = m_parts.clock.now();
    patch.errorCode = toString(error.code);
    patch.errorMessage = error.message;
    patch.steps = {{QStringLiteral("failed"), m_parts.clock.now()}};
    const Result<Run> present = m_parts.stores.runs.get(run.id);
    if (present && !isTerminal(present->state)) {
        Block block;
        block.kind = BlockKind::Failure;
        block.key = QStringLiteral("failure:%1:%2").arg(run.id.value).arg(run.attempt);
        block.text = error.message;
        block.output = error.detail;
        live.recorder().add(block);
        live.recorder().event(QStringLiteral("RunError"), error.message);
    }
    if (!moveTo(run, RunState::Error, patch))
        m_parts.clock.callAt(m_parts.clock.now().addMSecs(storeRetryMs), this, [this, run, error] { settleError(run, error); });
}

QCoro::Task<> TurnExecutor::settle(Run run, TurnOutcome outcome)
{
    switch (outcome.kind) {
    case TurnOutcome::Kind::Detached:
        co_return; // the next engine adopts it
    case TurnOutcome::Kind::Lost: {
        const Result<Run> present = m_parts.stores.runs.get(run.id);
        if (present && present->state == RunState::Paused && outcome.error.code != ErrorCode::NativeResumeFailed) {
            m_host.session(run.sessionId).note(BlockKind::Warning,
                                               tr("Native execution lost while waiting: %1 The run stays paused. A decision "
                                                  "is kept; Continue resumes the conversation.")
                                                   .arg(outcome.error.message));
            emit settled(*present);
            co_return;
        }
        settleError(run, outcome.error);
        co_return;
    }
    case TurnOutcome::Kind::Ended:
        break;
    }
    co_await settleEnded(run, outcome.ended);
}

QCoro::Task<> TurnExecutor::settleEnded(Run run, TurnEnded ended)
{
    const RunningTask task(m_parts.tasks);
    LiveSession &live = m_host.session(run.sessionId);
    co_await storeIdentity(run.sessionId);
    if (live.storageFailed()) {
        settleError(run, {ErrorCode::StorageUnavailable,
                          tr("storage_failure: a request of the harness could not be stored, so it was denied and the turn "
                             "stopped. See to the store (disk space, permissions), then requeue the run."),
                          {}});
        co_return;
    }
    if (live.credentialRefused()) {
        settleError(run, {ErrorCode::CredentialMissing,
                          tr("The model's API refused the key (401). Check the variable that the agent takes it from, then "
                             "requeue the run; nothing was retried."),
                          ended.text});
        co_return;
    }
    if (ended.isError) {
        const QString status = ended.apiStatus > 0 ? tr(" (HTTP %1)").arg(ended.apiStatus) : QString();
        settleError(run, {ErrorCode::HarnessFailed,
                          ended.interrupted ? tr("The turn was interrupted before it was done.")
                                            : tr("The harness reports a failure%1: %2")
                                                  .arg(status, ended.text.isEmpty() ? ended.terminalReason : ended.text),
                          ended.terminalReason});
        co_return;
    }
    RunPatch patch;
    patch.endedAt = m_parts.clock.now();
    patch.usage = ended.usage;
    patch.steps = {{QStringLiteral("completed"), m_parts.clock.now()}};
    live.recorder().event(QStringLiteral("RunCompleted"), ended.terminalReason);
    if (!moveTo(run, RunState::Completed, patch))
        m_parts.clock.callAt(m_parts.clock.now().addMSecs(storeRetryMs), this, [this, run, ended] { settleEnded(run, ended); });
}

// What a later resume is checked against: the transcript as it is now.
QCoro::Task<> TurnExecutor::storeIdentity(SessionId id)
{
    const Result<Session> session = m_parts.stores.sessions.get(id);
    if (!session)
        co_return;
    const Result<Agent> agent = m_parts.stores.agents.get(session->agentId);
    if (!agent || agent->harness == HarnessKind::Replay)
        co_return;
    const QString config = agent->configFolder.isEmpty()
                               ? m_parts.options.dataFolder + QStringLiteral("/agents/") + agent->id.value
                               : agent->configFolder;
    const NativeIdentity before = session->native;
    const QString workspace = session->workspace;
    const HarnessKind kind = agent->harness;
    Result<NativeIdentity> now = fail(ErrorCode::NativeResumeFailed, {});
    // The harness writes its transcript beside its output, sometimes a little later.
    for (int attempt = 0; attempt < transcriptTries; ++attempt) {
        if (attempt > 0)
            co_await QCoro::sleepFor(transcriptPause);
        // Named first: this compiler destroys a lambda's captures twice inside a co_await expression.
        const QFuture<Result<NativeIdentity>> hashing = QtConcurrent::run([kind, config, workspace, before] {
            return snapshotTranscript(findConversation(kind, config, workspace, before.nativeSessionId), before.nativeSessionId);
        });
        now = co_await hashing;
        if (now && now->transcriptSize > before.transcriptSize)
            break;
    }
    if (!now || now->transcriptSize <= before.transcriptSize) {
        m_host.session(id).note(BlockKind::Warning, tr("Not durable: the harness did not write this turn to its transcript, so "
                                                       "the conversation can't be resumed after its process ends."));
        co_return;
    }
    if (const Result<void> stored = m_parts.stores.sessions.setNative(id, *now); !stored)
        m_parts.feed.noteNotice({Notice::Level::Warning, tr("The identity of session %1's conversation was not stored.").arg(id.value),
                                 stored.error().message, id});
}

Result<Run> TurnExecutor::cancel(const Run &run, const QString &who)
{
    LiveSession &live = m_host.session(run.sessionId);
    std::optional<Run> moved;
    QList<Approval> cancelled;
    const Result<void> stored = live.recorder().flush([&]() -> Result<void> {
        const Result<QList<Approval>> ended = m_parts.stores.approvals.cancelPendingOfRun(run.id, m_parts.clock.now());
        if (!ended)
            return tl::unexpected<Error>(ended.error());
        cancelled = *ended;
        RunPatch patch;
        patch.endedAt = m_parts.clock.now();
        patch.steps = {{QStringLiteral("cancelled"), m_parts.clock.now()}};
        const Result<Run> done = m_parts.stores.runs.move(run.id, run.attempt, run.state, RunState::Cancelled, patch);
        if (!done)
            return tl::unexpected<Error>(done.error());
        moved = *done;
        const Result<qint64> audited = m_parts.stores.audit.append(
            {0, m_parts.clock.now(), who, QStringLiteral("run.cancel"), run.id.value, QStringLiteral("ok"), {}});
        return audited ? Result<void>{} : tl::unexpected<Error>(audited.error());
    });
    if (!stored)
        return tl::unexpected<Error>(stored.error());
    for (const Approval &approval : std::as_const(cancelled))
        m_parts.feed.noteApproval(approval);
    m_parts.feed.noteRun(*moved);
    live.recorder().event(QStringLiteral("RunCancelled"), who);
    live.note(BlockKind::Note, tr("Cancelled by %1").arg(who));
    live.interrupt();
    emit settled(*moved);
    return *moved;
}

} // namespace engine
