// How a LiveSession comes by its process: reuse, adopt, resume or start.
#include "engine/sessions/livesession.h"

#include <QCoroFuture>
#include <QCoroTimer>
#include <QPointer>
#include <QSet>

namespace engine {
namespace {

constexpr int idleTimeoutMs = 10 * 1000;
constexpr int reconnectTries = 5;
constexpr int unavailablePauseMs = 500;
constexpr int longestUnavailableMs = 10 * 60 * 1000;

Error fromSandbox(const sandbox::Error &error)
{
    const ErrorCode code = error.failure == sandbox::Failure::Unreachable ? ErrorCode::WorkerUnreachable
                           : error.failure == sandbox::Failure::Unavailable ? ErrorCode::SandboxUnavailable
                           : error.failure == sandbox::Failure::NotSupported ? ErrorCode::NotSupported
                           : error.failure == sandbox::Failure::Stale        ? ErrorCode::Stale
                                                                             : ErrorCode::SandboxFailed;
    return {code, error.message, error.detail};
}

} // namespace

QFuture<Result<void>> LiveSession::ready()
{
    if (!m_preparing) {
        m_preparing = std::make_shared<QPromise<Result<void>>>();
        m_preparing->start();
        const QFuture<Result<void>> future = m_preparing->future();
        prepare();
        return future;
    }
    return m_preparing->future();
}

QCoro::Task<> LiveSession::prepare()
{
    const RunningTask task(m_parts.tasks);
    QElapsedTimer timer;
    timer.start();
    m_how.clear();
    Result<void> result = co_await prepareProcess();
    // Whatever a start in its middle saw when the engine let go of it is no failure of the run: the next engine takes it up.
    if (m_detached)
        result = fail(ErrorCode::ShuttingDown, tr("The engine is closing."));
    const auto preparing = std::exchange(m_preparing, {});
    if (result)
        emit prepared(m_how, timer.elapsed());
    else if (m_state == State::Preparing)
        setState(State::Closed);
    if (!preparing)
        co_return;
    preparing->addResult(result);
    preparing->finish();
}

QCoro::Task<Result<void>> LiveSession::prepareProcess()
{
    if (m_state == State::Ready && m_channel) {
        const Result<void> awake = co_await wakeComputer();
        if (!awake)
            co_return awake;
        m_how = QStringLiteral("warm");
        co_return Result<void>{};
    }
    if (m_state == State::Turn || m_state == State::Ending) {
        const Result<void> idle = co_await untilIdle();
        if (!idle)
            co_return idle;
        if (m_state == State::Ready) {
            m_how = QStringLiteral("warm");
            co_return Result<void>{};
        }
    }
    setState(State::Preparing);
    const Result<void> opened = co_await openChannel(true);
    if (!opened)
        co_return opened;
    if (m_state == State::Ready || m_state == State::Turn) {
        m_how = QStringLiteral("adopted");
        co_return Result<void>{};
    }
    co_return co_await launchHarness();
}

// True once the session is Ready or Closed, false when that took too long.
QFuture<bool> LiveSession::idle()
{
    auto promise = std::make_shared<QPromise<bool>>();
    promise->start();
    auto *watch = new QObject(this);
    const auto finish = [promise, watch = QPointer<QObject>(watch)](bool isIdle) {
        if (!watch)
            return;
        delete watch;
        promise->addResult(isIdle);
        promise->finish();
    };
    connect(this, &LiveSession::stateChanged, watch, [this, finish] {
        if (m_state == State::Ready || m_state == State::Closed)
            QMetaObject::invokeMethod(this, [finish] { finish(true); }, Qt::QueuedConnection);
    });
    m_parts.clock.callAt(m_parts.clock.now().addMSecs(idleTimeoutMs), this, [finish] { finish(false); });
    return promise->future();
}

// A cancelled turn or an ending process is given a moment; then the process is killed.
QCoro::Task<Result<void>> LiveSession::untilIdle()
{
    const QFuture<bool> waiting = idle();
    const bool isIdle = co_await waiting;
    if (isIdle)
        co_return Result<void>{};
    if (m_channel)
        m_channel->killHarness();
    co_return fail(ErrorCode::HarnessFailed,
                   tr("The harness of session %1 did not end its last turn within %2 s and was killed. Send the prompt "
                      "again: the conversation is resumed.")
                       .arg(m_id.value)
                       .arg(idleTimeoutMs / 1000));
}

// A process that waits in a paused computer takes no prompt.
QCoro::Task<Result<void>> LiveSession::wakeComputer()
{
    if (!m_paused)
        co_return Result<void>{};
    const auto resumed = co_await m_provider->resume(m_computer);
    if (!resumed)
        co_return tl::unexpected<Error>(fromSandbox(resumed.error()));
    m_paused = false;
    co_return Result<void>{};
}

QCoro::Task<Result<void>> LiveSession::openChannel(bool create)
{
    Result<Session> session = m_parts.stores.sessions.get(m_id);
    if (!session)
        co_return tl::unexpected<Error>(session.error());
    m_session = *session;
    Result<Agent> agent = m_parts.stores.agents.get(m_session.agentId);
    if (!agent)
        co_return tl::unexpected<Error>(agent.error());
    m_agent = *agent;
    m_recorder.addSecret(m_parts.options.environment.value(m_agent.keyVariable));
    m_provider = m_parts.providerFor(m_agent);
    if (!m_provider)
        co_return fail(ErrorCode::NotSupported, tr("Agent %1 asks for sandbox provider \"%2\", which this build does not have.")
                                                    .arg(m_agent.name, m_agent.provider));
    const Result<std::optional<ChannelState>> stored = m_parts.stores.sessions.channelState(m_id);
    if (!stored)
        co_return tl::unexpected<Error>(stored.error());
    ChannelState state = stored->value_or(ChannelState{});

    // "Absent" alone leads to a new computer, under the next generation; any other doubt is an error.
    if (state.generation < m_session.generation)
        state.generation = m_session.generation;
    auto found = co_await m_provider->find(m_id.value, state.generation);
    if (!found)
        co_return tl::unexpected<Error>(fromSandbox(found.error()));
    const bool alive = *found && (*found)->state != sandbox::ComputerState::Absent &&
                       (*found)->state != sandbox::ComputerState::Stopped;
    if (!alive && !create)
        co_return fail(ErrorCode::WorkerUnreachable,
                       *found && !(*found)->why.isEmpty()
                           ? tr("The computer of session %1 has ended: %2.").arg(m_id.value, (*found)->why)
                           : tr("The worker of session %1 is gone.").arg(m_id.value));
    if (!alive && state.launch > 0) {
        state = ChannelState{state.epoch, state.generation + 1, 0, 0, 0};
        const Result<void> moved = m_parts.stores.sessions.setGeneration(m_id, state.generation);
        if (!moved)
            co_return moved;
    }
    sandbox::ComputerSpec spec;
    spec.sessionId = m_id.value;
    spec.generation = state.generation;
    spec.workspace = m_session.workspace;
    spec.image = m_agent.computer.image;
    spec.limits.memoryBytes = qint64(m_agent.computer.memoryMb) * 1024 * 1024;
    spec.limits.cpus = m_agent.computer.cpus;
    spec.limits.processes = m_agent.computer.processes;
    spec.limits.temporaryBytes = qint64(m_agent.computer.temporaryMb) * 1024 * 1024;
    spec.labels.insert(QStringLiteral("recording"), m_agent.recording);
    spec.labels.insert(QStringLiteral("speed"), QString::number(m_agent.replaySpeed));
    auto computer = co_await m_provider->ensure(spec);
    if (!computer)
        co_return tl::unexpected<Error>(fromSandbox(computer.error()));
    m_computer = *computer;
    m_paused = false;
    if (m_provider->capabilities().isolation)
        m_place = std::make_shared<ComputerPlace>(*m_provider, m_computer, m_agent, m_session.workspace,
                                                  m_parts.options.dataFolder);
    else
        m_place = std::make_shared<HostPlace>(m_parts.programs, m_agent, m_session, m_parts.options.dataFolder);
    state.epoch += 1;
    const Result<void> kept = m_parts.stores.sessions.setChannelState(m_id, state);
    if (!kept)
        co_return kept;
    auto channel = co_await m_provider->open(m_computer, state.epoch, {state.outputOffset, state.errorOffset});
    if (!channel)
        co_return tl::unexpected<Error>(fromSandbox(channel.error()));
    if (m_detached)
        co_return fail(ErrorCode::ShuttingDown, tr("The engine is closing."));
    m_gateway.reset();
    m_channel = std::move(*channel);
    connectChannel();
    openGateway();

    const sandbox::Welcome &welcome = m_channel->welcome();
    if (!welcome.capabilities.contains(QStringLiteral("approvals"))) {
        m_gateway.reset();
        m_channel.reset();
        co_return fail(ErrorCode::NotSupported, tr("The worker of session %1 cannot carry approvals, so the agent is not "
                                                   "started. Update signalbox-worker.")
                                                    .arg(m_id.value));
    }
    if (welcome.launchCount < state.launch)
        state.launch = welcome.launchCount; // we died between counting a launch and asking for it
    m_recorder.setChannel(state);
    m_exited = !welcome.launched || welcome.exited;
    if (welcome.launched && welcome.launchCount == state.launch && (!welcome.exited || m_turn || !create)) {
        const Result<void> rebuilt = rebuild();
        if (!rebuilt)
            co_return rebuilt;
    }
    co_return Result<void>{};
}

void LiveSession::connectChannel()
{
    sandbox::Channel *channel = m_channel.get();
    connect(channel, &sandbox::Channel::received, this, &LiveSession::receive);
    connect(channel, &sandbox::Channel::inputWritten, this, &LiveSession::inputWritten);
    connect(channel, &sandbox::Channel::inputRefused, this, [this](const QString &id, const QString &reason) {
        m_unwritten.remove(id);
        m_decisionIds.removeOne(id);
        m_recorder.event(QStringLiteral("InputRefused"), id + QStringLiteral(": ") + reason);
    });
    connect(channel, &sandbox::Channel::exited, this, &LiveSession::processExited);
    connect(channel, &sandbox::Channel::closed, this, &LiveSession::channelClosed);
    connect(channel, &sandbox::Channel::launched, this, [this](qint64 pid) {
        m_exited = false;
        m_recorder.event(QStringLiteral("HarnessStarted"), QString::number(pid));
    });
    connect(channel, &sandbox::Channel::launchFailed, this, [this](const QString &message) {
        settleStart(fail(ErrorCode::HarnessFailed, message));
    });
}

// A new driver is fed what was recorded of this process. What it wants to answer and was not recorded as written goes
// out again under the same ids; the worker applies each once.
Result<void> LiveSession::rebuild()
{
    m_driver = makeDriver(m_agent.harness, m_parts.tools);
    m_exited = false; // its exit is still to be told, also when it happened meanwhile
    m_splitter.reset(m_recorder.channel().outputOffset);
    m_outputSeen = m_recorder.channel().outputOffset;
    m_errorSeen = m_recorder.channel().errorOffset;
    m_unwritten.clear();
    m_decisionIds.clear();
    LaunchContext context;
    context.agent = m_agent;
    context.session = m_session;
    context.workspace = m_session.workspace;
    QList<InputLine> generated = m_driver->begin(context).inputs;
    std::optional<ConversationOpened> unstored;
    QSet<QByteArray> written;
    const ChannelState &state = m_recorder.channel();
    const Result<void> read = m_parts.stores.events.rawOfLaunch(m_id, state.generation, state.launch, [&](const RawLine &line) {
        switch (line.direction) {
        case RawLine::Direction::ToHarness:
            m_driver->replayInput(line.bytes);
            written.insert(line.bytes);
            break;
        case RawLine::Direction::FromHarness: {
            const DriverOutput output = m_driver->feed(line.bytes);
            generated += output.inputs;
            for (const HarnessEvent &event : output.events) {
                m_transcriber.rebuild(event, line.at);
                if (const auto *opened = std::get_if<ConversationOpened>(&event); opened && !unstored)
                    unstored = *opened;
            }
            break;
        }
        case RawLine::Direction::FromHarnessError:
            m_errorTail = QByteArray(m_errorTail + line.bytes).right(64 * 1024);
            break;
        }
        return true;
    });
    if (!read)
        return read;
    QList<InputLine> missing;
    for (const InputLine &input : std::as_const(generated)) {
        if (!written.contains(input.bytes.trimmed()) && !m_driver->isRecorded(input))
            missing.append(input);
    }
    if (unstored) {
        if (const Result<void> stored = conversationOpened(*unstored); !stored)
            return stored;
    }
    send(missing);
    await(m_driver->openDeadlines());
    setState(m_driver->phase() == DriverPhase::Turn    ? State::Turn
             : m_driver->phase() == DriverPhase::Ready ? State::Ready
                                                       : State::Preparing);
    return {};
}

QCoro::Task<Result<void>> LiveSession::adopt(Run run)
{
    m_recorder.setRun(run.id, run.attempt);
    m_turn = std::make_shared<QPromise<TurnOutcome>>();
    m_turn->start();
    setState(State::Preparing);
    const Result<void> opened = co_await openChannel(false);
    if (!opened) {
        m_turn.reset();
        setState(State::Closed);
        co_return opened;
    }
    if (!m_driver) {
        m_turn.reset();
        setState(State::Closed);
        co_return fail(ErrorCode::WorkerUnreachable, tr("The worker of session %1 holds another process.").arg(m_id.value));
    }
    // The prompt may have been committed and never written: the same id makes it apply once.
    if (m_driver->phase() != DriverPhase::Turn) {
        setState(State::Turn);
        const bool resumed = std::any_of(run.steps.begin(), run.steps.end(),
                                         [](const RunStep &step) { return step.name == resumedStep; });
        if (!resumed)
            addPrompt(run, run.prompt);
        this->run(m_driver->prompt(promptName(run), resumed ? resumeText() : run.prompt));
    }
    setState(State::Turn);
    m_transcriber.publishLive();
    m_how = QStringLiteral("adopted");
    co_return Result<void>{};
}

QCoro::Task<> LiveSession::adoptIdle()
{
    const RunningTask task(m_parts.tasks);
    if (m_state != State::Closed)
        co_return;
    setState(State::Preparing);
    const Result<void> opened = co_await openChannel(false);
    if (opened && m_driver && m_state == State::Ready)
        co_return;
    if (m_channel && !m_exited)
        m_channel->killHarness();
    m_driver.reset();
    m_exited = true;
    co_await end();
}

// The channel broke while the process should live: it is opened again; only a worker that is gone ends the turn.
QCoro::Task<> LiveSession::reconnect(sandbox::Error error)
{
    const RunningTask task(m_parts.tasks);
    QPointer<LiveSession> self(this);
    int unavailableMs = 0;
    for (int attempt = 0; attempt < reconnectTries; ++attempt) {
        const State before = m_state;
        const Result<void> opened = co_await openChannel(false);
        if (!self || m_detached)
            co_return;
        if (opened && m_driver) {
            m_recorder.event(QStringLiteral("WorkerReconnected"));
            if (m_turn)
                setState(State::Turn);
            else if (before == State::Ready)
                setState(State::Ready);
            emit reconnected();
            co_return;
        }
        if (!opened && opened.error().code == ErrorCode::WorkerUnreachable) {
            error = {sandbox::Failure::Unreachable, opened.error().message, error.detail};
            break; // the provider says that it is gone
        }
        if (!opened && opened.error().code == ErrorCode::SandboxUnavailable) {
            // That the provider does not answer says nothing of the computer, which may well work on.
            if (unavailableMs == 0)
                note(BlockKind::Warning, tr("The container engine does not answer. The turn goes on as soon as it does: %1")
                                             .arg(opened.error().message));
            if (unavailableMs < longestUnavailableMs)
                attempt = -1;
            unavailableMs += unavailablePauseMs;
            co_await QCoro::sleepFor(std::chrono::milliseconds(unavailablePauseMs));
            if (!self || m_detached)
                co_return;
        }
    }
    m_exited = true;
    m_driver.reset();
    m_unwritten.clear();
    m_decisionIds.clear();
    if (m_exiting) {
        m_exiting->addResult(Result<void>{});
        m_exiting->finish();
        m_exiting.reset();
    }
    processLost({ErrorCode::WorkerUnreachable,
                 tr("The worker of session %1 is gone and its harness with it: %2").arg(m_id.value, error.message),
                 error.detail});
}

} // namespace engine
