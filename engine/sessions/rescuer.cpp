#include "engine/sessions/rescuer.h"

namespace engine {
namespace {

constexpr int rescueRetryMs = 1000;

} // namespace

Rescuer::Rescuer(SessionParts parts, SessionHost &host, TurnExecutor &executor, ApprovalDesk &desk,
                 QList<sandbox::Provider *> providers, QString owner)
    : m_parts(std::move(parts)), m_host(host), m_providers(std::move(providers)), m_executor(executor), m_desk(desk), m_owner(std::move(owner))
{
}

QCoro::Task<Result<void>> Rescuer::rescue()
{
    const RunningTask task(m_parts.tasks);
    const Result<QList<Run>> active = m_parts.stores.runs.active();
    if (!active)
        co_return tl::unexpected<Error>(active.error());
    for (const Run &run : *active)
        co_await rescueRun(run);
    for (sandbox::Provider *provider : std::as_const(m_providers))
        co_await rescueIdle(provider);
    co_return Result<void>{};
}

// Workers without a run: a warm process is taken over so that its idle time goes on; all else is a leftover.
QCoro::Task<> Rescuer::rescueIdle(sandbox::Provider *provider)
{
    const auto computers = co_await provider->list();
    // Without a container engine nothing of ours can be in it that we could reach.
    if (!computers && computers.error().failure == sandbox::Failure::Unavailable)
        co_return;
    if (!computers) {
        m_parts.feed.noteNotice({Notice::Level::Warning, tr("The computers of an earlier console could not be listed."),
                                 computers.error().message, {}});
        co_return;
    }
    for (const sandbox::Computer &computer : *computers) {
        const SessionId id{computer.sessionId};
        const Result<Session> session = m_parts.stores.sessions.get(id);
        if (!session && session.error().code == ErrorCode::NotFound) {
            co_await provider->destroy(computer);
            co_await provider->forget(id.value);
            continue;
        }
        // What a person paused stays so; the next prompt wakes it and takes it over.
        if (session && session->activeRun.isEmpty() && computer.state != sandbox::ComputerState::Paused)
            co_await m_host.session(id).adoptIdle();
    }
}

QCoro::Task<> Rescuer::rescueRun(Run run)
{
    const Result<Run> owned = m_parts.stores.runs.adopt(run.id, run.attempt, m_owner);
    if (!owned) {
        m_parts.feed.noteNotice({Notice::Level::Error, tr("Run %1 could not be taken over.").arg(run.id.value),
                                 owned.error().message, run.sessionId});
        co_return;
    }
    LiveSession &live = m_host.session(run.sessionId);
    const Result<void> adopted = co_await live.adopt(run);
    if (!adopted && adopted.error().code == ErrorCode::SandboxUnavailable) {
        // Nothing is known of its computer: the run waits for the container engine, and nobody starts a second one.
        m_parts.feed.noteRun(*owned);
        retryLater(run);
        co_return;
    }
    if (!adopted) {
        live.recorder().setRun(run.id, run.attempt);
        settleLost(*owned, adopted.error());
        co_return;
    }
    // Requests that were read and not stored as approvals (their transaction failed with the engine) are asked again.
    live.recorder().event(QStringLiteral("EngineRestarted"), tr("re-attached to the running harness"));
    m_executor.follow(*owned);
    if (owned->state == RunState::Running)
        m_host.deliver(run.id);
    m_parts.feed.noteRun(*owned);
}

void Rescuer::retryLater(const Run &run)
{
    m_parts.clock.callAt(m_parts.clock.now().addMSecs(rescueRetryMs), this, [this, id = run.id] {
        const Result<Run> now = m_parts.stores.runs.get(id);
        if (now && (now->state == RunState::Running || now->state == RunState::Paused))
            rescueAgain(*now);
    });
}

QCoro::Task<> Rescuer::rescueAgain(Run run)
{
    const RunningTask task(m_parts.tasks);
    co_await rescueRun(run);
}

void Rescuer::settleLost(const Run &run, const Error &error)
{
    LiveSession &live = m_host.session(run.sessionId);
    if (run.state == RunState::Paused) {
        m_desk.markNativeLost(live.recorder(), run.id);
        live.note(BlockKind::Warning, tr("Native execution lost: its process ended while no console was running. The run stays "
                                         "paused. A decision is kept; Continue resumes the conversation."));
        m_parts.feed.noteRun(run);
        return;
    }
    const bool prompted = std::any_of(run.steps.begin(), run.steps.end(),
                                      [](const RunStep &step) { return step.name == u"prompt sent"; });
    Result<Run> moved = fail(ErrorCode::Internal, {});
    if (!prompted || run.attempt < run.maxAttempts) {
        // The harness never saw the prompt (or an attempt is left): it goes back to the head of its line.
        moved = m_parts.stores.runs.move(run.id, run.attempt, RunState::Running, RunState::Pending, {});
    } else {
        RunPatch patch;
        patch.endedAt = m_parts.clock.now();
        patch.errorCode = toString(ErrorCode::HarnessFailed);
        patch.errorMessage = tr("The console and the harness both ended while this turn was running (%1). It was not run again "
                                "by itself, since its tools may have acted already. Look at the workspace, then requeue it.")
                                 .arg(error.message);
        moved = m_parts.stores.runs.move(run.id, run.attempt, RunState::Running, RunState::Error, patch);
        if (moved) {
            Block block;
            block.kind = BlockKind::Failure;
            block.key = QStringLiteral("failure:%1:%2").arg(run.id.value).arg(run.attempt);
            block.text = *patch.errorMessage;
            live.recorder().add(block);
        }
    }
    if (moved)
        m_parts.feed.noteRun(*moved);
    else
        m_parts.feed.noteNotice({Notice::Level::Error, tr("Run %1 could not be settled after a crash.").arg(run.id.value),
                                 moved.error().message, run.sessionId});
}

} // namespace engine
