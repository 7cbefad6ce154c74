#pragma once

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/inputqueue.h"
#include "sandbox/worker/outputstream.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sandbox {

enum class HarnessState {
    Unused,   // no launch yet
    Running,  // the process lives
    Draining, // it was reaped; what it wrote is being read
    Ended     // everything it wrote is in the journals, the exit code is known
};

// The child process of this worker, its three pipes, and its lock file.
class Harness
{
public:
    Harness(std::string journalFolder, std::uint64_t journalCap, mode_t umaskOfHarness);

    // False with a message for a person; the earlier launch stays as it was.
    bool launch(const LaunchPayload &launch, std::string &error);
    void signal(int number) const;
    // The process was reaped. Answers the ids of inputs that were not written.
    std::vector<std::string> reaped(int status);
    // From Draining to Ended once both streams are read; true when that happened now.
    bool finish();

    HarnessState state() const { return m_state; }
    bool isAlive() const { return m_state == HarnessState::Running; }
    pid_t pid() const { return m_pid; }
    int exitCode() const { return m_exitCode; }
    std::uint64_t launchCount() const { return m_launchCount; }
    InputQueue &input() { return m_input; }
    const InputQueue &input() const { return m_input; }
    OutputStream &output() { return m_output; }
    const OutputStream &output() const { return m_output; }
    OutputStream &errorOutput() { return m_errorOutput; }
    const OutputStream &errorOutput() const { return m_errorOutput; }

private:
    bool takeLock(const std::string &path, Fd &to, std::string &error) const;

    std::string m_journalFolder;
    std::uint64_t m_journalCap = 0;
    mode_t m_umask = 022;
    HarnessState m_state = HarnessState::Unused;
    pid_t m_pid = -1;
    int m_exitCode = 0;
    std::uint64_t m_launchCount = 0;
    InputQueue m_input;
    OutputStream m_output;
    OutputStream m_errorOutput;
    Fd m_lock;
};

} // namespace sandbox
