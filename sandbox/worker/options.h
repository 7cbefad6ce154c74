#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sandbox {

// Command line of signalbox-worker.
struct WorkerOptions
{
    std::string listen; // path of a Unix socket, or @name for an abstract one
    std::string session;
    std::uint32_t generation = 1;
    std::string pidFile;       // locked while the worker lives; empty: none (a container's PID 1)
    std::string recordFile;    // removed with the rest when the worker ends by itself; empty: none
    std::string journalFolder; // where the unlinked journals live; empty: in memory
    std::uint64_t journalCap = 256ull * 1024 * 1024; // unacknowledged bytes per stream
    uid_t owner = 0;                                 // the only uid that is listened to; default: the worker's own
    std::int64_t unusedMs = 10ll * 60 * 1000;
    std::int64_t endedMs = 24ll * 60 * 60 * 1000;
    int gatewayPort = -1;     // of the model gateway's entrance; 0: any free one, -1: none
    std::vector<std::string> fileRoots; // below which the engine may read and write files
    bool foreground = false;  // stay in the caller's process: PID 1, debugging
    bool stdioLink = false;   // standard input and output are a connected peer from the start
};

// False with a message for a person.
bool parseOptions(int argc, char **argv, WorkerOptions &to, std::string &error);

} // namespace sandbox
