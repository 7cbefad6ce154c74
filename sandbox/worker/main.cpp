#include "sandbox/worker/describe.h"
#include "sandbox/worker/relay.h"
#include "sandbox/worker/worker.h"

#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace {

constexpr int exitAlreadyRunning = 3;

void closeInherited()
{
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
#endif
    for (int fd = 3; fd < 4096; ++fd)
        ::close(fd);
}

// The caller returns once the worker is ready; the worker belongs to nobody's session or terminal.
// In the process that stays: the pipe to report on. In the caller: does not return.
int detach()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    const pid_t middle = ::fork();
    if (middle < 0)
        return -1;
    if (middle > 0) {
        ::close(ends[1]);
        char ready = 0;
        const bool started = ::read(ends[0], &ready, 1) == 1;
        ::waitpid(middle, nullptr, 0);
        if (!started)
            std::fputs("signalbox-worker: the system refused to make a process for it\n", stderr);
        ::_exit(started ? 0 : 1);
    }
    ::setsid();
    const pid_t worker = ::fork();
    if (worker != 0)
        ::_exit(worker < 0 ? 1 : 0);
    return ends[1];
}

void leaveTerminal()
{
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; ++fd)
        ::dup2(null, fd);
    if (null > 2)
        ::close(null);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "attach")
        return sandbox::relay(argv[2]);
    if (argc == 2 && std::string_view(argv[1]) == "describe") {
        std::fputs(sandbox::describeContainer().c_str(), stdout);
        return 0;
    }
    sandbox::WorkerOptions options;
    std::string error;
    if (!sandbox::parseOptions(argc, argv, options, error)) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return 2;
    }
    closeInherited();
    const mode_t umaskOfHarness = ::umask(077);
    sandbox::Endpoint endpoint;
    switch (endpoint.take(options, error)) {
    case sandbox::Endpoint::Taken::Yes:
        break;
    case sandbox::Endpoint::Taken::AlreadyRunning:
        return exitAlreadyRunning;
    case sandbox::Endpoint::Taken::Failed:
        std::fprintf(stderr, "%s\n", error.c_str());
        return 1;
    }
    sandbox::GatewayEntrance gateway;
    if (!gateway.listen(options.gatewayPort, error)) {
        std::fprintf(stderr, "%s\n", error.c_str());
        endpoint.remove();
        return 1;
    }
    int report = -1;
    if (!options.foreground) {
        report = detach();
        if (report < 0) {
            std::perror("signalbox-worker");
            return 1;
        }
    }
    // Orphans of the harness come to us; nothing of our memory and journals can be opened through /proc.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_DUMPABLE, 0);
    ::prctl(PR_SET_NAME, "signalbox-work");
    if (!endpoint.writePid() || ::chdir("/") != 0)
        ::_exit(1);
    if (report >= 0) {
        leaveTerminal();
        [[maybe_unused]] const ssize_t wrote = ::write(report, "k", 1);
        ::close(report);
    }
    sandbox::Worker(std::move(options), std::move(endpoint), std::move(gateway), umaskOfHarness).run();
    // Not through exit(): nothing is left to flush, and a sanitizer's leak check cannot trace a closed process.
    ::_exit(0);
}
