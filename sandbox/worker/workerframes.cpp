#include "sandbox/worker/processtree.h"
#include "sandbox/worker/worker.h"

#include "sandbox/protocol/bytes.h"

#include <algorithm>
#include <csignal>
#include <ctime>

namespace sandbox {

namespace {

constexpr std::int64_t closingMs = 5 * 1000;
constexpr int leftOverPasses = 200; // of a millisecond each

std::string foreignVersion(std::uint16_t version)
{
    return "The console speaks version " + std::to_string(version) + " of the worker protocol, this worker version " +
           std::to_string(protocolVersion) +
           ". Let the session end and start it anew, so that it gets a worker of the console's own version.";
}

} // namespace

void Worker::refuse(Connection *connection, Reason reason, const std::string &text)
{
    const bool greeted = connection->state() == Connection::State::Attached;
    if (connection == m_attached)
        detached();
    connection->close(greeted ? FrameType::Closed : FrameType::Refused, reason, text, monotonicMs() + closingMs);
}

void Worker::readFrom(Connection *connection)
{
    if (!connection->readSome()) {
        drop(connection);
        return;
    }
    Frame frame;
    while (connection->mayRead()) {
        const FrameDecoder::Step step = connection->decoder().next(frame);
        if (step == FrameDecoder::Step::NeedMore)
            return;
        if (step == FrameDecoder::Step::Broken) {
            refuse(connection, Reason::Protocol, "The worker received " + connection->decoder().error() + ".");
            return;
        }
        const bool understood =
            connection->state() == Connection::State::Greeting ? greet(connection, frame) : command(connection, frame);
        if (!understood) {
            refuse(connection, Reason::Protocol,
                   "The worker received a malformed or unexpected frame of type " + std::to_string(int(frame.type)) +
                       ".");
            return;
        }
    }
}

bool Worker::greet(Connection *connection, const Frame &frame)
{
    if (frame.type == FrameType::Hello)
        return hello(connection, frame);
    if (frame.type == FrameType::Probe)
        return probe(connection, frame);
    if (frame.type == FrameType::Shutdown)
        return shutdownAsked(connection, frame);
    if (frame.type == FrameType::Ping && frame.payload.size() == 8) {
        connection->send(FrameType::Pong, frame.payload);
        return true;
    }
    return false;
}

bool Worker::command(Connection *connection, const Frame &frame)
{
    ByteReader reader(frame.payload);
    switch (frame.type) {
    case FrameType::Launch:
        return launch(connection, frame);
    case FrameType::Input:
        return acceptInput(connection, frame);
    case FrameType::CloseInput:
        m_harness.input().closeWhenWritten();
        return frame.payload.empty();
    case FrameType::Ack:
        return acknowledge(connection, frame);
    case FrameType::Signal: {
        const int number = int(reader.u32());
        if (reader.done())
            m_harness.signal(number);
        return reader.done();
    }
    case FrameType::Kill:
        m_killing = true;
        m_killDeadline = monotonicMs() + closingMs;
        killPass(monotonicMs());
        return frame.payload.empty();
    case FrameType::Shutdown:
        return shutdownAsked(connection, frame);
    case FrameType::Ping:
        connection->send(FrameType::Pong, frame.payload);
        return frame.payload.size() == 8;
    case FrameType::Pong:
        return true;
    case FrameType::FilesList:
    case FrameType::FilesHash:
    case FrameType::FilesRead:
    case FrameType::FilesCredit:
    case FrameType::FilesCancel:
    case FrameType::FilesPut:
    case FrameType::FilesPutData:
    case FrameType::FilesFinish:
    case FrameType::FilesChange:
        return m_files.command(frame, *connection);
    case FrameType::GatewayData:
    case FrameType::GatewayEnd:
    case FrameType::GatewayReset:
    case FrameType::GatewayCredit:
        return m_gateway.apply(frame, *connection);
    case FrameType::Hello:
    case FrameType::Probe:
    case FrameType::Welcome:
    case FrameType::Refused:
    case FrameType::Launched:
    case FrameType::LaunchFailed:
    case FrameType::Output:
    case FrameType::ErrorOutput:
    case FrameType::InputWritten:
    case FrameType::InputRefused:
    case FrameType::Exit:
    case FrameType::Closed:
    case FrameType::Status:
    case FrameType::GatewayOpened:
    case FrameType::GatewayReceived:
    case FrameType::GatewayEnded:
    case FrameType::GatewayWasReset:
    case FrameType::GatewayTaken:
    case FrameType::FilesListed:
    case FrameType::FilesResults:
    case FrameType::FilesData:
    case FrameType::FilesTaken:
    case FrameType::FilesDone:
        break;
    }
    return false;
}

bool Worker::hello(Connection *connection, const Frame &frame)
{
    HelloPayload hello;
    if (!HelloPayload::decode(frame.payload, hello))
        return false;
    if (hello.version != protocolVersion) {
        refuse(connection, Reason::Version, foreignVersion(hello.version));
        return true;
    }
    if (m_shutdown) {
        refuse(connection, Reason::ShuttingDown, "The worker is ending.");
        return true;
    }
    if (hello.session != m_options.session || hello.generation != m_options.generation) {
        refuse(connection, Reason::Stale,
               "This worker belongs to session " + m_options.session + ", generation " +
                   std::to_string(m_options.generation) + "; asked for was session " + hello.session + ", generation " +
                   std::to_string(hello.generation) + ".");
        return true;
    }
    if (m_welcomedOne && hello.epoch <= m_epoch) {
        refuse(connection, Reason::Stale,
               "A console with epoch " + std::to_string(m_epoch) + " holds or held this worker; epoch " +
                   std::to_string(hello.epoch) + " is not newer.");
        return true;
    }
    const Journal &output = m_harness.output().journal();
    const Journal &errorOutput = m_harness.errorOutput().journal();
    if (hello.receivedOutput > output.end() || hello.receivedError > errorOutput.end()) {
        refuse(connection, Reason::Protocol,
               "The console says that it holds " + std::to_string(hello.receivedOutput) + " and " +
                   std::to_string(hello.receivedError) + " bytes of output and error output, but the harness wrote " +
                   std::to_string(output.end()) + " and " + std::to_string(errorOutput.end()) + ".");
        return true;
    }
    if (m_attached)
        refuse(m_attached, Reason::TakenOver,
               "Another console with the newer epoch " + std::to_string(hello.epoch) + " took the session over.");
    m_epoch = hello.epoch;
    m_welcomedOne = true;
    m_attached = connection;
    connection->attach(std::max(hello.receivedOutput, output.oldest()),
                       std::max(hello.receivedError, errorOutput.oldest()));
    connection->send(FrameType::Welcome, welcome());
    return true;
}

std::string Worker::welcome() const
{
    WelcomePayload welcome;
    welcome.capabilities = {"approvals", "journal"};
    if (m_gateway.port() > 0)
        welcome.capabilities.push_back(gatewayCapability + std::to_string(m_gateway.port()));
    if (m_files.isOffered())
        welcome.capabilities.push_back(filesCapability);
    welcome.generation = m_options.generation;
    welcome.launched = m_harness.launchCount() > 0;
    welcome.exited = m_harness.state() == HarnessState::Ended && !m_killing;
    welcome.exitCode = welcome.exited ? m_harness.exitCode() : 0;
    welcome.pid = welcome.launched ? m_harness.pid() : 0;
    welcome.launch = m_harness.launchCount();
    welcome.lastInputId = m_harness.input().lastWritten();
    welcome.endOutput = m_harness.output().journal().end();
    welcome.endError = m_harness.errorOutput().journal().end();
    welcome.oldestOutput = m_harness.output().journal().oldest();
    welcome.oldestError = m_harness.errorOutput().journal().oldest();
    return welcome.encode();
}

bool Worker::probe(Connection *connection, const Frame &frame)
{
    std::uint16_t version = 0;
    if (!decodeProbe(frame.payload, version))
        return false;
    StatusPayload status;
    status.session = m_options.session;
    status.generation = m_options.generation;
    status.workerPid = ::getpid();
    status.launched = m_harness.launchCount() > 0;
    status.exited = m_harness.state() == HarnessState::Ended;
    connection->send(FrameType::Status, status.encode());
    return true;
}

bool Worker::shutdownAsked(Connection *connection, const Frame &frame)
{
    ShutdownPayload asked;
    if (!ShutdownPayload::decode(frame.payload, asked))
        return false;
    if (asked.session != m_options.session || asked.generation != m_options.generation)
        refuse(connection, Reason::Stale, "Another session's worker was to be ended; this one goes on.");
    else
        beginShutdown();
    return true;
}

bool Worker::launch(Connection *connection, const Frame &frame)
{
    LaunchPayload launch;
    if (!LaunchPayload::decode(frame.payload, launch))
        return false;
    std::string error;
    std::erase_if(launch.environment, [](const auto &variable) { return variable.first == workerVariable; });
    launch.environment.emplace_back(workerVariable, m_options.listen);
    if (m_harness.state() == HarnessState::Ended && !endLeftOvers())
        error = "The harness was not started: processes of the earlier one cannot be ended. Remove the sandbox.";
    if (!error.empty() || m_killing || m_shutdown || !m_harness.launch(launch, error)) {
        if (error.empty())
            error = "The harness was not started: the earlier one is just being ended. Try again.";
        connection->send(FrameType::LaunchFailed, error);
        return true;
    }
    connection->restart();
    connection->send(FrameType::Launched, LaunchNumber{m_harness.launchCount(), m_harness.pid()}.encodeLaunched());
    return true;
}

// Tools that an ended harness left running would work beside those of the next one.
bool Worker::endLeftOvers()
{
    for (int pass = 0; pass < leftOverPasses; ++pass) {
        const std::vector<pid_t> living = descendantsOf(::getpid());
        if (living.empty())
            return true;
        for (const pid_t pid : living)
            ::kill(pid, SIGKILL);
        const timespec moment{0, 1000 * 1000};
        ::nanosleep(&moment, nullptr);
        reapChildren();
    }
    return false;
}

bool Worker::acceptInput(Connection *connection, const Frame &frame)
{
    InputPayload input;
    if (!InputPayload::decode(frame.payload, input))
        return false;
    const std::string head = InputPayload::encodeHead(input.id);
    switch (m_harness.input().accept(input.id, input.rest)) {
    case InputQueue::Accepted::Queued:
        writeInput();
        break;
    case InputQueue::Accepted::Repeated:
        break;
    case InputQueue::Accepted::Written:
        connection->send(FrameType::InputWritten, head);
        break;
    case InputQueue::Accepted::Closed:
        connection->send(FrameType::InputRefused,
                         head + (m_harness.isAlive() ? "the harness's input is closed" : "no harness is running"));
        break;
    case InputQueue::Accepted::Full:
        connection->send(FrameType::InputRefused, head + "too much input waits: the harness does not read");
        break;
    }
    return true;
}

bool Worker::acknowledge(Connection *connection, const Frame &frame)
{
    AckPayload ack;
    if (!AckPayload::decode(frame.payload, ack))
        return false;
    // Of an earlier launch: late. Beyond what was sent: a lie that would lose output.
    if (ack.launch != m_harness.launchCount() || ack.output > connection->sentOutput() ||
        ack.errorOutput > connection->sentError())
        return true;
    m_harness.output().trim(ack.output);
    m_harness.errorOutput().trim(ack.errorOutput);
    m_harness.output().retry();
    m_harness.errorOutput().retry();
    return true;
}

} // namespace sandbox
