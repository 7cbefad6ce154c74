#include "engine/sessions/livesession.h"

#include <QCoroFuture>
#include <QPointer>

namespace engine {
namespace {

constexpr qsizetype errorTailBytes = 64 * 1024;
constexpr int askedToEndMs = 2500;

template <class... Ts> struct eventVisitor : Ts...
{
    using Ts::operator()...;
};
template <class... Ts> eventVisitor(Ts...) -> eventVisitor<Ts...>;

template <class T> QFuture<T> futureOf(const T &value)
{
    QPromise<T> promise;
    promise.start();
    promise.addResult(value);
    promise.finish();
    return promise.future();
}

} // namespace

LiveSession::LiveSession(SessionParts parts, SessionId id)
    : m_parts(std::move(parts)), m_id(std::move(id)), m_recorder(m_parts.stores, m_parts.feed, m_parts.clock, m_id),
      m_transcriber(m_recorder, m_parts.feed, m_parts.stores, m_parts.clock, m_id)
{
    connect(&m_recorder, &Recorder::stored, this, [this](sandbox::Offsets offsets) {
        if (m_channel)
            m_channel->acknowledge(offsets);
    });
    connect(&m_recorder, &Recorder::storageFailed, this, [this](const Error &error) {
        m_parts.feed.noteNotice({Notice::Level::Error,
                                 tr("The store refuses to record session %1. Nothing is lost: it is kept in memory and "
                                    "tried again until the store accepts it.")
                                     .arg(m_id.value),
                                 error.message, m_id});
    });
}

LiveSession::~LiveSession()
{
    // Nobody is left waiting for an answer that can't come.
    if (const auto preparing = std::exchange(m_preparing, {})) {
        preparing->addResult(fail(ErrorCode::ShuttingDown, tr("The session is gone.")));
        preparing->finish();
    }
    settleStart(fail(ErrorCode::ShuttingDown, tr("The session is gone.")));
    finishTurn({TurnOutcome::Kind::Detached, {}, {}});
}

void LiveSession::setState(State state)
{
    if (m_state == state)
        return;
    m_state = state;
    if (state == State::Ready)
        m_idleSince = m_parts.clock.now();
    m_parts.feed.noteSession(m_id);
    emit stateChanged();
}

void LiveSession::note(BlockKind kind, const QString &text)
{
    Block block;
    block.kind = kind;
    block.text = text;
    m_recorder.add(block);
}

// ---- bytes in ----

void LiveSession::receive(sandbox::Stream stream, quint64 offset, const QByteArray &bytes)
{
    quint64 &seen = stream == sandbox::Stream::Output ? m_outputSeen : m_errorSeen;
    if (offset + quint64(bytes.size()) <= seen)
        return; // sent again after a reconnect
    const QByteArray fresh = offset < seen ? bytes.mid(qsizetype(seen - offset)) : bytes;
    seen = offset + quint64(bytes.size());

    if (stream == sandbox::Stream::ErrorOutput) {
        m_errorTail = QByteArray(m_errorTail + fresh).right(errorTailBytes);
        m_recorder.received(RawLine::Direction::FromHarnessError, fresh);
        m_recorder.setOffsets({m_recorder.channel().outputOffset, m_errorSeen});
        return;
    }
    for (const SplitLine &line : m_splitter.feed(fresh))
        receiveLine(line);
}

void LiveSession::receiveLine(const SplitLine &line)
{
    if (line.bytes.isEmpty()) {
        m_recorder.setOffsets({line.endOffset, m_errorSeen});
        return;
    }
    if (!m_firstLineSeen && m_state == State::Turn) {
        m_firstLineSeen = true;
        emit firstLine();
    }
    m_recorder.received(RawLine::Direction::FromHarness, line.bytes);
    m_recorder.setOffsets({line.endOffset, m_errorSeen});
    if (m_driver)
        run(m_driver->feed(line.bytes));
}

void LiveSession::run(const DriverOutput &output)
{
    send(output.inputs);
    await(output.deadlines);
    if (output.closeInput && m_channel)
        m_channel->closeInput();
    for (const HarnessEvent &event : output.events)
        apply(event);
}

void LiveSession::await(const QList<Deadline> &deadlines)
{
    const quint64 launch = m_recorder.channel().launch;
    for (const Deadline &deadline : deadlines) {
        m_parts.clock.callAt(m_parts.clock.now().addMSecs(deadline.ms), this, [this, launch, id = deadline.id] {
            if (m_driver && m_recorder.channel().launch == launch)
                run(m_driver->expired(id));
        });
    }
}

// The harness names a conversation that it began itself: from now on it is this session's.
Result<void> LiveSession::conversationOpened(const ConversationOpened &opened)
{
    if (opened.nativeSessionId == m_session.native.nativeSessionId)
        return {};
    NativeIdentity native;
    native.nativeSessionId = opened.nativeSessionId;
    native.transcriptPath = opened.path;
    const Result<void> stored = m_parts.stores.sessions.setNative(m_id, native);
    if (stored)
        m_session.native = native;
    return stored;
}

void LiveSession::apply(const HarnessEvent &event)
{
    m_transcriber.apply(event);
    std::visit(eventVisitor{
                   [this](const HarnessReady &) { settleStart({}); },
                   [this](const StartFailed &failed) {
                       settleStart(fail(failed.noConversation ? ErrorCode::NativeResumeFailed : ErrorCode::HarnessFailed,
                                        failed.message));
                   },
                   [this](const ConversationOpened &opened) {
                       if (const Result<void> stored = conversationOpened(opened); !stored)
                           settleStart(stored); // a conversation that the store does not know could not be resumed
                   },
                   [this](const HarnessBroken &broken) {
                       processLost(Error{ErrorCode::HarnessFailed, broken.message, {}});
                       if (m_channel)
                           m_channel->killHarness();
                   },
                   [this](const TurnStarted &started) { emit identityConfirmed(started.nativeSessionId); },
                   [this](const IdentityMismatch &mismatch) {
                       processLost(Error{ErrorCode::NativeResumeFailed,
                                         tr("The harness answered as conversation %1, but session %2 belongs to "
                                            "conversation %3. The turn was stopped and nothing was switched. Start "
                                            "fresh if the old conversation is to be given up.")
                                             .arg(mismatch.found, m_id.value, mismatch.expected),
                                         {}});
                       if (m_channel)
                           m_channel->killHarness();
                   },
                   [this](const TextDelta &) {
                       if (!m_firstTextSeen) {
                           m_firstTextSeen = true;
                           emit firstText();
                       }
                   },
                   [this](const TextCompleted &) {
                       if (!m_firstTextSeen && m_state == State::Turn) {
                           m_firstTextSeen = true;
                           emit firstText();
                       }
                   },
                   [this](const PermissionRequested &request) { emit permissionRequested(request); },
                   [this](const PermissionWithdrawn &withdrawn) { emit permissionWithdrawn(withdrawn.requestId); },
                   [this](const ToolEnded &tool) { emit toolEnded(tool); },
                   [this](const RetryAnnounced &retry) {
                       // The harness would try a refused key for minutes (facts: 401 is retried ten times).
                       if (retry.status == 401 && !m_credentialRefused) {
                           m_credentialRefused = true;
                           interrupt();
                       }
                   },
                   [this](const TurnEnded &ended) { turnEnded(ended); },
                   [](const auto &) {},
               },
               event);
}

// ---- lines out ----

void LiveSession::send(const QList<InputLine> &inputs)
{
    for (const InputLine &input : inputs) {
        m_unwritten.insert(input.id, input.bytes);
        if (m_channel)
            m_channel->send(input.id, input.bytes);
    }
}

void LiveSession::inputWritten(const QString &id)
{
    // Recorded only now: what is not in the record is sent again after a crash, under the same id.
    const QByteArray bytes = m_unwritten.take(id);
    if (bytes.isEmpty())
        return;
    m_recorder.received(RawLine::Direction::ToHarness, bytes.trimmed());
    if (m_decisionIds.removeOne(id))
        emit decisionWritten(ApprovalId{id});
}

QFuture<TurnOutcome> LiveSession::startTurn(const Run &run, const QString &text, bool showPrompt)
{
    if (m_detached)
        return futureOf(TurnOutcome{TurnOutcome::Kind::Detached, {}, {}}); // the engine let go before the caller came to it
    Q_ASSERT(m_state == State::Ready);
    m_recorder.setRun(run.id, run.attempt);
    if (m_gateway)
        m_gateway->setRun(run.id);
    m_firstTextSeen = false;
    m_firstLineSeen = false;
    m_storageFailed = false;
    m_credentialRefused = false;
    m_turn = std::make_shared<QPromise<TurnOutcome>>();
    m_turn->start();
    if (showPrompt)
        addPrompt(run, text);
    setState(State::Turn);
    this->run(m_driver->prompt(promptName(run), text));
    return m_turn->future();
}

QString LiveSession::resumeText()
{
    return tr("Your process ended while you waited for a decision. Continue with the task; repeat the step that was "
              "interrupted if it is still needed.");
}

// Names the line for the worker and the harness. Of this launch alone: newer harnesses pass over a line whose id the
// conversation holds already, and a resumed turn is a line of its own.
QString LiveSession::promptName(const Run &run) const
{
    return QStringLiteral("%1:%2:%3").arg(run.id.value).arg(run.attempt).arg(m_recorder.channel().launch) + u':' +
           QString::number(m_recorder.channel().generation);
}

void LiveSession::addPrompt(const Run &run, const QString &text)
{
    Block prompt;
    prompt.kind = BlockKind::Prompt;
    prompt.key = QStringLiteral("prompt:%1:%2").arg(run.id.value).arg(run.attempt);
    prompt.text = text;
    prompt.toolName = run.requestedBy;
    m_recorder.add(prompt);
}

QFuture<TurnOutcome> LiveSession::outcome()
{
    if (m_turn)
        return m_turn->future();
    return futureOf(TurnOutcome{TurnOutcome::Kind::Lost, {}, {ErrorCode::HarnessFailed, tr("No turn is under way."), {}}});
}

bool LiveSession::hasOpenRequest(const QString &nativeRequestId) const
{
    if (!m_driver)
        return false;
    const QList<PermissionRequested> open = m_driver->openRequests();
    return std::any_of(open.begin(), open.end(),
                       [&](const PermissionRequested &request) { return request.requestId == nativeRequestId; });
}

bool LiveSession::deliver(const Approval &approval)
{
    if (m_unwritten.contains(approval.id.value))
        return true; // on its way
    if (!hasOpenRequest(approval.nativeRequestId))
        return false;
    m_decisionIds.append(approval.id.value);
    DriverOutput output;
    switch (approval.state) {
    case ApprovalState::Approved:
        output = m_driver->allow(approval.id.value, approval.nativeRequestId,
                                 approval.editedInput.isEmpty() ? approval.input : approval.editedInput);
        break;
    case ApprovalState::Denied:
        output = m_driver->deny(approval.id.value, approval.nativeRequestId,
                                approval.note.isEmpty() ? tr("A person denied this.") : approval.note);
        break;
    case ApprovalState::Expired:
        output = m_driver->deny(approval.id.value, approval.nativeRequestId,
                                tr("The request timed out: nobody decided in time."));
        break;
    case ApprovalState::Pending:
    case ApprovalState::Cancelled:
        output = m_driver->deny(approval.id.value, approval.nativeRequestId,
                                approval.note.isEmpty() ? tr("The request was cancelled.") : approval.note);
        break;
    }
    run(output);
    return true;
}

void LiveSession::denyUnstored(const QString &nativeRequestId, const Error &reason)
{
    run(m_driver->deny(QStringLiteral("unstored:") + nativeRequestId, nativeRequestId,
                       tr("This request could not be put before a person: %1").arg(reason.message)));
    if (reason.code == ErrorCode::Conflict)
        return;
    m_storageFailed = true;
    interrupt();
}

void LiveSession::interrupt()
{
    if (m_driver && m_state == State::Turn)
        run(m_driver->interrupt());
}

void LiveSession::setModel(const QString &model)
{
    if (m_driver && isWarm())
        run(m_driver->setModel(model));
}

void LiveSession::setPermissionMode(const QString &mode)
{
    if (m_driver && isWarm())
        run(m_driver->setPermissionMode(mode));
}

// ---- ends ----

void LiveSession::turnEnded(const TurnEnded &ended)
{
    m_credentialRefused = m_credentialRefused || (ended.isError && ended.apiStatus == 401);
    m_transcriber.closeOpen(tr("The turn ended before this tool reported back."));
    if (m_state == State::Turn)
        setState(State::Ready);
    finishTurn({TurnOutcome::Kind::Ended, ended, {}});
}

void LiveSession::finishTurn(const TurnOutcome &outcome)
{
    if (!m_turn)
        return;
    const auto turn = std::exchange(m_turn, {});
    turn->addResult(outcome);
    turn->finish();
}

void LiveSession::processExited(int code)
{
    if (std::exchange(m_exited, true))
        return; // of a launch that is over for us
    const QByteArray rest = m_splitter.rest();
    if (!rest.trimmed().isEmpty() && m_driver) {
        m_recorder.received(RawLine::Direction::FromHarness, rest);
        run(m_driver->feed(rest));
    }
    m_recorder.event(QStringLiteral("HarnessExited"), QString::number(code));
    const QString tail = QString::fromUtf8(m_errorTail.right(2000)).trimmed();
    QString reason = code > 128 ? tr("The harness was ended by signal %1").arg(code - 128)
                                : tr("The harness ended by itself with exit code %1").arg(code);
    reason += tail.isEmpty() ? tr(" and wrote nothing to its error output.") : tr(". Its last words: %1").arg(tail);
    const bool wanted = m_state == State::Ending || m_state == State::Ready;
    if (m_starting && m_driver)
        run(m_driver->processExited(code, m_errorTail)); // tells why the start failed
    settleStart(fail(ErrorCode::HarnessFailed, reason));
    m_driver.reset();
    m_unwritten.clear();
    m_decisionIds.clear();
    if (m_exiting) {
        m_exiting->addResult(Result<void>{});
        m_exiting->finish();
        m_exiting.reset();
    }
    if (wanted) {
        if (m_state == State::Ready)
            setState(State::Closed); // Ending lasts until the computer is gone too
        return;
    }
    processLost({ErrorCode::HarnessFailed, reason, tail});
}

void LiveSession::processLost(const Error &error)
{
    settleStart(tl::unexpected<Error>(error));
    m_transcriber.closeOpen(tr("The harness ended before this tool reported back."));
    const bool inTurn = m_turn != nullptr;
    setState(State::Closed);
    if (inTurn) {
        emit nativeLost();
        finishTurn({TurnOutcome::Kind::Lost, {}, error});
    }
}

void LiveSession::settleStart(const Result<void> &result)
{
    if (!m_starting)
        return;
    const auto starting = std::exchange(m_starting, {});
    starting->addResult(result);
    starting->finish();
}

QCoro::Task<> LiveSession::end()
{
    const RunningTask task(m_parts.tasks);
    QPointer<LiveSession> self(this); // a second caller may be done first and delete the session
    if (m_exiting) {
        const QFuture<Result<void>> ending = m_exiting->future();
        co_await ending;
        co_return;
    }
    if (!m_channel || m_exited) {
        if (isPreparing())
            co_return; // it is being made anew
        m_gateway.reset();
        m_channel.reset();
        if (m_provider && !m_computer.id.isEmpty()) {
            setState(State::Ending);
            const sandbox::Computer computer = std::exchange(m_computer, {});
            co_await m_provider->destroy(computer);
            if (!self)
                co_return;
        }
        setState(State::Closed);
        co_return;
    }
    setState(State::Ending);
    m_exiting = std::make_shared<QPromise<Result<void>>>();
    m_exiting->start();
    QFuture<Result<void>> exited = m_exiting->future();
    if (m_driver)
        run(m_driver->endSession());
    m_parts.clock.callAt(m_parts.clock.now().addMSecs(askedToEndMs), this, [self, pending = std::weak_ptr(m_exiting)] {
        if (self && pending.lock() && self->m_channel)
            self->m_channel->killHarness();
    });
    co_await exited;
    if (!self || m_detached)
        co_return;
    const Result<void> flushed = m_recorder.flush();
    if (!flushed)
        qWarning("recording the end of session %s failed: %s", qPrintable(m_id.value), qPrintable(flushed.error().message));
    m_gateway.reset();
    m_channel.reset();
    const sandbox::Computer computer = std::exchange(m_computer, {});
    co_await m_provider->destroy(computer);
    if (self)
        setState(State::Closed);
}

void LiveSession::detach()
{
    m_detached = true;
    if (const Result<void> flushed = m_recorder.flush(); !flushed)
        qWarning("session %s: not recorded at shutdown, the worker keeps it: %s", qPrintable(m_id.value),
                 qPrintable(flushed.error().message));
    m_gateway.reset();
    m_channel.reset();
    settleStart(fail(ErrorCode::ShuttingDown, tr("The engine is closing.")));
    if (const auto exiting = std::exchange(m_exiting, {})) {
        exiting->addResult(Result<void>{});
        exiting->finish();
    }
    finishTurn({TurnOutcome::Kind::Detached, {}, {}});
}

void LiveSession::channelClosed(const sandbox::Error &error)
{
    if (m_detached)
        return;
    // The channel object is the sender: it goes when its signal has been handled.
    m_gateway.reset();
    m_channel.release()->deleteLater();
    if (m_exited) {
        if (m_state != State::Ending)
            setState(State::Closed); // Ending lasts until the computer is gone too
        return;
    }
    m_recorder.event(QStringLiteral("WorkerDisconnected"), error.message);
    reconnect(error);
}

} // namespace engine
