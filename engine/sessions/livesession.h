#pragma once

#include "engine/engineoptions.h"
#include "engine/gateway/gateway.h"
#include "engine/harness/driver.h"
#include "engine/harness/linesplitter.h"
#include "engine/recorder.h"
#include "engine/sessions/computerplace.h"
#include "engine/sessions/transcriber.h"
#include "sandbox/sandbox.h"

#include <QCoroTask>
#include <QElapsedTimer>
#include <QFuture>
#include <QPointer>
#include <QPromise>

namespace engine {

// Counts the coroutines under way, so that the engine does not go from under one. Engine thread.
class RunningTask final
{
public:
    explicit RunningTask(int &count) : m_count(count) { ++m_count; }
    ~RunningTask() { --m_count; }
    RunningTask(const RunningTask &) = delete;
    RunningTask &operator=(const RunningTask &) = delete;

private:
    int &m_count;
};

// Shared by every live session; owned by the engine, outlives them.
struct SessionParts
{
    Stores &stores;
    Feed &feed;
    Clock &clock;
    ToolHost &tools;
    ProgramFinder &programs;
    const EngineOptions &options;
    std::function<sandbox::Provider *(const Agent &)> providerFor;
    int &tasks; // see RunningTask
    QByteArray gatewaySecret; // what the tokens of this installation's sessions are made from
};

struct TurnOutcome
{
    enum class Kind {
        Ended,   // the harness said so; see `ended`
        Lost,    // the native process died or another conversation answered; see `error`
        Detached // the engine lets go of the session; the harness goes on
    };
    Kind kind = Kind::Ended;
    TurnEnded ended;
    Error error;
};

// One session's harness process as the engine holds it: worker channel, driver, recorder. States and what a crash does
// to each stand in engine/README.md. Engine thread; owned by SessionHost.
class LiveSession final : public QObject
{
    Q_OBJECT

public:
    // The step of a run whose native process was lost and whose conversation goes on in another one.
    static constexpr QLatin1String resumedStep{"resumed natively"};
    // What the model is told then, instead of the prompt it has already.
    static QString resumeText();

    enum class State { Closed, Preparing, Ready, Turn, Ending };

    LiveSession(SessionParts parts, SessionId id);
    ~LiveSession() override;

    const SessionId &id() const { return m_id; }
    State state() const { return m_state; }
    bool isPreparing() const { return m_preparing != nullptr; }
    bool isWarm() const { return m_state == State::Ready || m_state == State::Turn; }
    QDateTime idleSince() const { return m_idleSince; }
    bool storageFailed() const { return m_storageFailed; }
    // The harness stopped retrying a refused key when the engine told it to.
    bool credentialRefused() const { return m_credentialRefused; }

    // A harness process that takes a prompt: the living one, one adopted from an engine that died, one resumed, or a
    // new one. Several callers share one preparation.
    QFuture<Result<void>> ready();
    // Re-attaches to a process with a turn under way, without starting anything. Absent process: an error.
    QCoro::Task<Result<void>> adopt(Run run);
    // The same for a process that waits for a prompt; one that is gone is cleared away.
    QCoro::Task<> adoptIdle();
    // Writes the prompt; the future answers once. Only in state Ready.
    QFuture<TurnOutcome> startTurn(const Run &run, const QString &text, bool showPrompt);
    // The outcome of a turn that adopt() took over.
    QFuture<TurnOutcome> outcome();
    // Answers an open request with a stored decision; false: it is not open in the living process.
    bool deliver(const Approval &approval);
    // A request that the store refused: the harness is told no and the turn is stopped (unless its run was over).
    void denyUnstored(const QString &nativeRequestId, const Error &reason);
    bool hasOpenRequest(const QString &nativeRequestId) const;
    void interrupt();
    void setModel(const QString &model);
    void setPermissionMode(const QString &mode);
    // Ends the process politely, then not; answers when it is gone.
    QCoro::Task<> end();
    // Flushes and lets go; the harness goes on under its worker.
    void detach();
    // Somebody paused or resumed the computer; a paused one is resumed before it is given a prompt.
    void computerWasPaused(bool paused) { m_paused = paused; }
    Recorder &recorder() { return m_recorder; }
    // Size and hash of the conversation as they are now.
    QCoro::Task<Result<NativeIdentity>> snapshotNative();
    void note(BlockKind kind, const QString &text);

signals:
    void stateChanged();
    // The channel opened: how the process came about ("adopted", "resumed", "started") and how long it took.
    void prepared(const QString &how, qint64 ms);
    void permissionRequested(const engine::PermissionRequested &request);
    void permissionWithdrawn(const QString &nativeRequestId);
    void decisionWritten(const engine::ApprovalId &id);
    void toolEnded(const engine::ToolEnded &tool);
    void firstText();
    void firstLine();
    void identityConfirmed(const QString &nativeSessionId);
    void nativeLost();
    // The channel broke and was opened again: a decision that was made meanwhile is still to be carried.
    void reconnected();

private:
    QCoro::Task<> prepare();
    QCoro::Task<Result<void>> prepareProcess();
    QCoro::Task<Result<void>> openChannel(bool create);
    QCoro::Task<Result<LaunchContext>> launchContext(bool resume);
    QCoro::Task<Result<void>> launchHarness();
    QCoro::Task<Result<void>> wakeComputer();
    QFuture<bool> idle();
    QCoro::Task<Result<void>> untilIdle();
    Result<void> checkCredential(const LaunchContext &context) const;
    QCoro::Task<Result<bool>> mustResume();
    void connectChannel();
    void openGateway();
    // Its model is reached through the gateway, and the key stays here.
    bool usesGateway() const;
    static QByteArray gatewayToken(const QByteArray &secret, const SessionId &session);
    void pointAtGateway(LaunchContext &context) const;
    Result<void> rebuild();
    QString promptName(const Run &run) const;
    void addPrompt(const Run &run, const QString &text);
    void setState(State state);
    void receive(sandbox::Stream stream, quint64 offset, const QByteArray &bytes);
    void receiveLine(const SplitLine &line);
    void run(const DriverOutput &output);
    void await(const QList<Deadline> &deadlines);
    Result<void> conversationOpened(const ConversationOpened &opened);
    void apply(const HarnessEvent &event);
    void send(const QList<InputLine> &inputs);
    void inputWritten(const QString &id);
    void turnEnded(const TurnEnded &ended);
    void processExited(int code);
    void channelClosed(const sandbox::Error &error);
    QCoro::Task<> reconnect(sandbox::Error error);
    void processLost(const Error &error);
    void finishTurn(const TurnOutcome &outcome);
    void settleStart(const Result<void> &result);
    QFuture<Result<void>> startSettled(int timeoutMs, const QString &what);

    SessionParts m_parts;
    SessionId m_id;
    Recorder m_recorder;
    Transcriber m_transcriber;
    State m_state = State::Closed;
    Agent m_agent;
    Session m_session;
    sandbox::Provider *m_provider = nullptr;
    sandbox::Computer m_computer;
    std::shared_ptr<NativePlace> m_place;
    std::unique_ptr<sandbox::Channel> m_channel;
    std::unique_ptr<Gateway> m_gateway; // goes before its channel
    std::unique_ptr<HarnessDriver> m_driver;
    LineSplitter m_splitter;
    quint64 m_outputSeen = 0; // next byte expected of each stream
    quint64 m_errorSeen = 0;
    QByteArray m_errorTail;
    QHash<QString, QByteArray> m_unwritten; // inputs the worker has not confirmed, by id
    QStringList m_decisionIds;
    std::shared_ptr<QPromise<Result<void>>> m_preparing;
    std::shared_ptr<QPromise<Result<void>>> m_starting;
    std::shared_ptr<QPromise<Result<void>>> m_exiting;
    std::shared_ptr<QPromise<TurnOutcome>> m_turn;
    QString m_how;
    QDateTime m_idleSince;
    bool m_paused = false;
    bool m_exited = true;
    bool m_storageFailed = false;
    bool m_credentialRefused = false;
    bool m_detached = false;
    bool m_firstTextSeen = false;
    bool m_firstLineSeen = false;
};

} // namespace engine
