#include "sandbox/worker/spawn.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace sandbox {

namespace {

enum class SpawnStage : int { Prepare, Folder, Program };

struct SpawnFailure
{
    SpawnStage stage = SpawnStage::Prepare;
    int error = 0;
};

struct PipePair
{
    Fd read;
    Fd write;
};

bool makePipe(PipePair &to)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return false;
    to.read = Fd(ends[0]);
    to.write = Fd(ends[1]);
    return true;
}

[[noreturn]] void failChild(int report, SpawnStage stage)
{
    const SpawnFailure failure{stage, errno};
    [[maybe_unused]] const ssize_t wrote = ::write(report, &failure, sizeof failure);
    ::_exit(127);
}

void resetSignals()
{
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::vector<char *> pointers(std::vector<std::string> &texts)
{
    std::vector<char *> result;
    for (std::string &text : texts)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

std::string describeSpawn(const SpawnFailure &failure, const LaunchPayload &launch)
{
    const std::string why = std::strerror(failure.error);
    switch (failure.stage) {
    case SpawnStage::Folder:
        return "The harness was not started: its working folder " + launch.workingFolder + " cannot be entered (" +
               why + "). Create the folder, allow access to it, or choose another one for the session.";
    case SpawnStage::Program:
        return "The harness was not started: the program " + launch.argv.front() + " cannot be run (" + why +
               "). Check the program's path in the agent's settings and that it is installed.";
    case SpawnStage::Prepare:
        break;
    }
    return "The harness was not started: the system refused to make a process for it (" + why +
           "). End other programs or raise the limit of processes and open files.";
}

} // namespace

bool spawnHarness(const LaunchPayload &launch, mode_t umaskOfHarness, Spawned &to, std::string &error)
{
    PipePair input, output, errorOutput, report;
    if (!makePipe(input) || !makePipe(output) || !makePipe(errorOutput) || !makePipe(report)) {
        error = describeSpawn({SpawnStage::Prepare, errno}, launch);
        return false;
    }
    std::vector<std::string> arguments = launch.argv;
    std::vector<std::string> variables;
    for (const auto &[name, value] : launch.environment)
        variables.push_back(name + "=" + value);
    const std::vector<char *> argv = pointers(arguments);
    const std::vector<char *> environment = pointers(variables);

    const pid_t worker = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
        error = describeSpawn({SpawnStage::Prepare, errno}, launch);
        return false;
    }
    if (pid == 0) {
        ::setsid();
        resetSignals();
        ::umask(umaskOfHarness);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != worker)
            ::_exit(127); // the worker died before the line above
        if (::dup2(input.read.get(), 0) < 0 || ::dup2(output.write.get(), 1) < 0 ||
            ::dup2(errorOutput.write.get(), 2) < 0)
            failChild(report.write.get(), SpawnStage::Prepare);
        if (!launch.workingFolder.empty() && ::chdir(launch.workingFolder.c_str()) != 0)
            failChild(report.write.get(), SpawnStage::Folder);
        ::execve(argv[0], argv.data(), environment.data());
        failChild(report.write.get(), SpawnStage::Program);
    }
    report.write.close();
    SpawnFailure failure;
    ssize_t got = 0;
    do
        got = ::read(report.read.get(), &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    if (got == ssize_t(sizeof failure)) {
        ::waitpid(pid, nullptr, 0);
        error = describeSpawn(failure, launch);
        return false;
    }
    for (const Fd *end : {&input.write, &output.read, &errorOutput.read})
        ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    ::fcntl(output.read.get(), F_SETPIPE_SZ, 1024 * 1024); // fewer wake-ups; a refusal changes nothing
    to.pid = pid;
    to.input = std::move(input.write);
    to.output = std::move(output.read);
    to.errorOutput = std::move(errorOutput.read);
    return true;
}

} // namespace sandbox
