#include "sandbox/worker/harness.h"

#include "sandbox/worker/spawn.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace sandbox {

Harness::Harness(std::string journalFolder, std::uint64_t journalCap, mode_t umaskOfHarness)
    : m_journalFolder(std::move(journalFolder)), m_journalCap(journalCap), m_umask(umaskOfHarness)
{
}

bool Harness::takeLock(const std::string &path, Fd &to, std::string &error) const
{
    if (path.empty())
        return true;
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file.isOpen() && errno == ENOENT) {
        // A new computer: the harness's own folder is made by its first start.
        ::mkdir(path.substr(0, path.rfind('/')).c_str(), 0700);
        file = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    }
    if (!file.isOpen()) {
        error = "The harness was not started: its lock file " + path + " cannot be opened (" + std::strerror(errno) +
                "). Allow access to its folder.";
        return false;
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        error = "The harness was not started: lock file " + path +
                " is held by another process, so the same conversation is already open elsewhere. End that one first.";
        return false;
    }
    to = std::move(file);
    return true;
}

bool Harness::launch(const LaunchPayload &launch, std::string &error)
{
    if (m_state == HarnessState::Running || m_state == HarnessState::Draining) {
        error = "The harness was not started: process " + std::to_string(m_pid) +
                " of this session has not ended yet. End it first.";
        return false;
    }
    if (launch.argv.empty() || launch.argv.front().empty() || launch.argv.front().front() != '/') {
        error = "The harness was not started: its program must be named by an absolute path.";
        return false;
    }
    Fd lock;
    if (!takeLock(launch.lockFile, lock, error))
        return false;
    OutputStream output, errorOutput;
    if (!output.prepare(m_journalFolder) || !errorOutput.prepare(m_journalFolder)) {
        error = std::string("The harness was not started: no journal can be made for its output (") +
                std::strerror(errno) + "). Free disk space or memory.";
        return false;
    }
    Spawned spawned;
    if (!spawnHarness(launch, m_umask, spawned, error))
        return false;
    m_output = std::move(output);
    m_errorOutput = std::move(errorOutput);
    m_output.start(std::move(spawned.output), m_journalCap);
    m_errorOutput.start(std::move(spawned.errorOutput), m_journalCap);
    m_input.start(std::move(spawned.input));
    m_lock = std::move(lock);
    m_pid = spawned.pid;
    m_exitCode = 0;
    ++m_launchCount;
    m_state = HarnessState::Running;
    return true;
}

void Harness::signal(int number) const
{
    if (isAlive() && number > 0 && number < NSIG)
        ::kill(m_pid, number);
}

std::vector<std::string> Harness::reaped(int status)
{
    m_exitCode = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    m_state = HarnessState::Draining;
    m_lock.close();
    m_output.drain();
    m_errorOutput.drain();
    return m_input.stop();
}

bool Harness::finish()
{
    if (m_state != HarnessState::Draining || !m_output.isDone() || !m_errorOutput.isDone())
        return false;
    m_output.close();
    m_errorOutput.close();
    m_state = HarnessState::Ended;
    return true;
}

} // namespace sandbox
