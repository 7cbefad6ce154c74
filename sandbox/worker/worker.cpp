#include "sandbox/worker/worker.h"

#include "sandbox/worker/processtree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

namespace sandbox {

namespace {

constexpr std::size_t maxConnections = 32;
constexpr std::int64_t greetingMs = 10 * 1000;
constexpr std::int64_t killGiveUpMs = 5 * 1000; // a process the kernel will not let go of must not hold everything up
constexpr std::int64_t killPassMs = 10;
constexpr std::int64_t journalRetryMs = 1000;
constexpr int pumpRounds = 8;

Fd openSignals()
{
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT})
        sigaddset(&wanted, number);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN); // a journal over a file size limit is a full disk, not our death
    return Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

} // namespace

struct Worker::PollSet
{
    enum Place { Signals, Listener, Input, Output, ErrorOutput, FirstConnection };

    std::vector<pollfd> fds;
    std::vector<Connection *> connections;

    void add(int fd, short events) { fds.push_back({events ? fd : -1, events, 0}); }
};

Worker::Worker(WorkerOptions options, Endpoint endpoint, GatewayEntrance gateway, mode_t umaskOfHarness)
    : m_options(std::move(options)), m_endpoint(std::move(endpoint)), m_gateway(std::move(gateway)),
      m_files(m_options.fileRoots),
      m_harness(m_options.journalFolder, m_options.journalCap, umaskOfHarness), m_signals(openSignals()),
      m_idleSince(monotonicMs())
{
    if (m_options.stdioLink)
        adoptStdio();
}

// The streams that the maker of a container holds are a peer like an accepted one. Null takes their numbers, so that no
// file opened later is mistaken for them.
void Worker::adoptStdio()
{
    Fd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    Fd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; ++fd)
        ::dup2(null, fd);
    if (null > 2)
        ::close(null);
    if (!input.isOpen() || !output.isOpen())
        return;
    ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(output.get(), F_SETPIPE_SZ, 1024 * 1024); // fewer wake-ups; a refusal changes nothing
    m_connections.emplace_back(std::move(input), std::move(output), monotonicMs() + greetingMs);
}

void Worker::run()
{
    while (!m_shutdown || m_killing)
        pollOnce();
    for (Connection &connection : m_connections) {
        connection.close(FrameType::Closed, Reason::ShuttingDown, "The worker was ended.", 0);
        connection.flush();
    }
    m_endpoint.remove();
}

void Worker::pollOnce()
{
    PollSet set;
    collect(set);
    const int ready = ::poll(set.fds.data(), set.fds.size(), timeoutMs(monotonicMs()));
    if (ready > 0)
        dispatch(set);
    const std::int64_t now = monotonicMs();
    if (m_retryAt && now >= m_retryAt) {
        m_retryAt = 0;
        m_harness.output().retry();
        m_harness.errorOutput().retry();
    }
    if (m_killing)
        killPass(now);
    advance();
    if (isIdleTooLong(now))
        beginShutdown();
}

void Worker::collect(PollSet &set)
{
    set.add(m_signals.get(), POLLIN);
    set.add(m_endpoint.fd(), m_connections.size() < maxConnections ? POLLIN : 0);
    set.add(m_harness.input().fd(), m_harness.input().wantsWrite() ? POLLOUT : 0);
    set.add(m_harness.output().fd(), m_harness.output().wantsRead() ? POLLIN : 0);
    set.add(m_harness.errorOutput().fd(), m_harness.errorOutput().wantsRead() ? POLLIN : 0);
    for (Connection &connection : m_connections) {
        const bool writes = connection.hasUnsent() || (&connection == m_attached && !m_allQueued);
        // Without any wanted event a hang-up is still reported, which is what is wanted here.
        const short reading = connection.mayRead() ? POLLIN : 0;
        const short writing = writes ? POLLOUT : 0;
        const bool isSocket = connection.inputFd() == connection.outputFd();
        set.fds.push_back({connection.inputFd(), short(reading | (isSocket ? writing : 0)), 0});
        set.connections.push_back(&connection);
    }
    m_gateway.collect(set.fds, m_attached);
    // The writing ends of connections over two pipes only end the wait. That nobody reads is told by the write itself.
    for (Connection *connection : set.connections) {
        if (connection->inputFd() != connection->outputFd())
            set.add(connection->outputFd(), connection->hasUnsent() || (connection == m_attached && !m_allQueued) ? POLLOUT : 0);
    }
}

int Worker::timeoutMs(std::int64_t now) const
{
    if (m_files.isRunnable(m_attached))
        return 0;
    std::int64_t next = -1;
    const auto consider = [&next](std::int64_t when) { next = next < 0 ? when : std::min(next, when); };
    if (m_killing)
        consider(now + killPassMs);
    if (m_retryAt)
        consider(m_retryAt);
    for (const Connection &connection : m_connections) {
        if (connection.deadline())
            consider(connection.deadline());
    }
    if (!m_attached && m_harness.state() == HarnessState::Unused)
        consider(m_idleSince + m_options.unusedMs);
    if (!m_attached && m_harness.state() == HarnessState::Ended)
        consider(m_idleSince + m_options.endedMs);
    return next < 0 ? -1 : int(std::clamp<std::int64_t>(next - now, 0, 60 * 60 * 1000));
}

void Worker::dispatch(const PollSet &set)
{
    if (set.fds[PollSet::Signals].revents)
        readSignals();
    if (set.fds[PollSet::Input].revents)
        writeInput();
    // A reaped harness leaves only what drain() allows, so these look at the streams' own state again.
    if (set.fds[PollSet::Output].revents)
        m_harness.output().readSome();
    if (set.fds[PollSet::ErrorOutput].revents)
        m_harness.errorOutput().readSome();
    for (std::size_t i = 0; i < set.connections.size(); ++i) {
        Connection *connection = set.connections[i];
        const short events = set.fds[PollSet::FirstConnection + i].revents;
        if (events & POLLIN && connection->mayRead())
            readFrom(connection);
        else if (events & (POLLERR | POLLHUP | POLLNVAL))
            drop(connection);
    }
    m_gateway.dispatch(set.fds, m_attached);
    if (set.fds[PollSet::Listener].revents)
        acceptPeers();
}

void Worker::acceptPeers()
{
    Fd peer = m_endpoint.acceptPeer();
    if (peer.isOpen())
        m_connections.emplace_back(std::move(peer), monotonicMs() + greetingMs);
}

void Worker::readSignals()
{
    signalfd_siginfo info{};
    while (::read(m_signals.get(), &info, sizeof info) == ssize_t(sizeof info)) {
        // As PID 1 of a container only the outside may end us: its signals come from no process that we can see.
        const bool foreign = ::getpid() != 1 || info.ssi_pid == 0;
        if (info.ssi_signo == SIGTERM && foreign)
            beginShutdown();
    }
    reapChildren();
}

void Worker::reapChildren()
{
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != m_harness.pid() || !m_harness.isAlive())
            continue;
        for (const std::string &id : m_harness.reaped(status)) {
            if (m_attached)
                m_attached->send(FrameType::InputRefused,
                                 InputPayload::encodeHead(id) + "the harness ended before it was written");
        }
    }
}

void Worker::writeInput()
{
    std::vector<std::string> written;
    const bool open = m_harness.input().write(written);
    if (m_attached) {
        for (const std::string &id : written)
            m_attached->send(FrameType::InputWritten, InputPayload::encodeHead(id));
    }
    if (open)
        return;
    for (const std::string &id : m_harness.input().stop()) {
        if (m_attached)
            m_attached->send(FrameType::InputRefused, InputPayload::encodeHead(id) + "the harness closed its input");
    }
}

void Worker::advance()
{
    const std::int64_t now = monotonicMs();
    if (m_files.isRunnable(m_attached))
        m_files.work(*m_attached);
    // A stream that hit its cap or the end of a pipe may be waiting without an event.
    if (m_harness.state() == HarnessState::Draining) {
        m_harness.output().readSome();
        m_harness.errorOutput().readSome();
    }
    if (m_harness.finish())
        m_idleSince = now;
    if (!m_retryAt && (m_harness.output().isStalled() || m_harness.errorOutput().isStalled()))
        m_retryAt = now + journalRetryMs;

    if (m_attached && m_harness.launchCount() > 0) {
        for (int round = 0; round < pumpRounds && m_attached; ++round) {
            m_allQueued = m_attached->pump(m_harness.output().journal(), m_harness.errorOutput().journal(),
                                           m_harness.launchCount());
            if (m_allQueued && m_harness.state() == HarnessState::Ended && !m_killing && !m_attached->isExitSent()) {
                m_attached->send(FrameType::Exit,
                                 LaunchNumber{m_harness.launchCount(), m_harness.exitCode()}.encodeExit());
                m_attached->setExitSent();
            }
            if (!m_attached->flush())
                drop(m_attached);
            else if (m_allQueued || m_attached->hasUnsent())
                break;
        }
    }
    for (auto at = m_connections.begin(); at != m_connections.end();) {
        Connection *connection = &*at++;
        const bool late = connection->deadline() && now >= connection->deadline();
        if (late || !connection->flush())
            drop(connection);
    }
}

void Worker::killPass(std::int64_t now)
{
    const std::vector<pid_t> living = descendantsOf(::getpid());
    for (const pid_t pid : living)
        ::kill(pid, SIGKILL);
    reapChildren();
    if ((living.empty() && !m_harness.isAlive()) || now >= m_killDeadline)
        m_killing = false;
}

void Worker::beginShutdown()
{
    if (m_shutdown)
        return;
    m_shutdown = true;
    m_killing = true;
    m_killDeadline = monotonicMs() + killGiveUpMs;
}

bool Worker::isIdleTooLong(std::int64_t now) const
{
    if (m_attached)
        return false;
    return (m_harness.state() == HarnessState::Unused && now - m_idleSince >= m_options.unusedMs) ||
           (m_harness.state() == HarnessState::Ended && now - m_idleSince >= m_options.endedMs);
}

void Worker::drop(Connection *connection)
{
    if (connection == m_attached)
        detached();
    m_connections.remove_if([connection](const Connection &other) { return &other == connection; });
}

void Worker::detached()
{
    m_attached = nullptr;
    m_allQueued = true;
    m_idleSince = monotonicMs();
    m_gateway.resetAll();
    m_files.reset();
}

} // namespace sandbox
