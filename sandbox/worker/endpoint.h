#pragma once

#include "sandbox/worker/fd.h"
#include "sandbox/worker/options.h"

#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace sandbox {

// Of a path or, with a leading @, an abstract name. False when it is too long.
bool toAddress(const std::string &path, sockaddr_un &address, socklen_t &size);

// The worker's name in the outside world: the locked pid file and the listening socket. A worker lives exactly as
// long as that lock is held.
class Endpoint
{
public:
    enum class Taken { Yes, AlreadyRunning, Failed };

    Taken take(const WorkerOptions &options, std::string &error);
    // By the process that stays.
    bool writePid();
    // Every file that was made, the locked one last.
    void remove();
    // An accepted peer of the owner's uid; not open when there is none.
    Fd acceptPeer() const;
    int fd() const { return m_listener.get(); }

private:
    Taken lockPidFile(std::string &error);
    bool listen(std::string &error);

    WorkerOptions m_options;
    Fd m_pidFile;
    Fd m_listener;
};

} // namespace sandbox
