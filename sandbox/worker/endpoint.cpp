#include "sandbox/worker/endpoint.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace sandbox {

namespace {

// Clock ticks since boot; with the pid it names a process for good.
unsigned long long ownStartTime()
{
    FILE *file = std::fopen("/proc/self/stat", "re");
    if (!file)
        return 0;
    char line[1024] = {};
    const std::size_t got = std::fread(line, 1, sizeof line - 1, file);
    std::fclose(file);
    line[got] = 0;
    const char *field = std::strrchr(line, ')');
    unsigned long long start = 0;
    for (int i = 2; field && i < 22; ++i)
        field = std::strchr(field + 1, ' ');
    if (field)
        std::sscanf(field, "%llu", &start);
    return start;
}

bool isSameFile(int fd, const std::string &path)
{
    struct stat opened
    {
    }, named{};
    return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

} // namespace

bool toAddress(const std::string &path, sockaddr_un &address, socklen_t &size)
{
    address = {};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path)
        return false;
    std::memcpy(address.sun_path, path.data(), path.size());
    size = sizeof address;
    if (path.front() == '@') {
        address.sun_path[0] = 0;
        size = socklen_t(offsetof(sockaddr_un, sun_path) + path.size());
    }
    return true;
}

Endpoint::Taken Endpoint::take(const WorkerOptions &options, std::string &error)
{
    m_options = options;
    if (!options.pidFile.empty()) {
        const Taken locked = lockPidFile(error);
        if (locked != Taken::Yes)
            return locked;
    }
    return listen(error) ? Taken::Yes : Taken::Failed;
}

Endpoint::Taken Endpoint::lockPidFile(std::string &error)
{
    const std::string &path = m_options.pidFile;
    // An ending worker may remove the file between our open and our lock: then it is made anew.
    for (int attempt = 0; attempt < 100; ++attempt) {
        Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (!file.isOpen()) {
            error = "signalbox-worker: " + path + " cannot be made (" + std::strerror(errno) + ")";
            return Taken::Failed;
        }
        // Of the open file, so it passes on to the process that stays; others may look at it without taking it.
        struct flock lock
        {
        };
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0)
            return Taken::AlreadyRunning;
        if (!isSameFile(file.get(), path))
            continue;
        m_pidFile = std::move(file);
        return Taken::Yes;
    }
    error = "signalbox-worker: " + path + " is removed again and again by another process";
    return Taken::Failed;
}

bool Endpoint::listen(std::string &error)
{
    const std::string &path = m_options.listen;
    sockaddr_un address{};
    socklen_t size = 0;
    if (!toAddress(path, address, size)) {
        error = "signalbox-worker: socket path " + path + " is longer than the system allows";
        return false;
    }
    if (path.front() != '@')
        ::unlink(path.c_str()); // whoever made it is dead: we hold the lock
    Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener.isOpen() || ::bind(listener.get(), reinterpret_cast<sockaddr *>(&address), size) != 0 ||
        ::listen(listener.get(), 64) != 0) {
        error = "signalbox-worker: cannot listen on " + path + " (" + std::strerror(errno) + ")";
        return false;
    }
    m_listener = std::move(listener);
    return true;
}

bool Endpoint::writePid()
{
    if (!m_pidFile.isOpen())
        return true;
    const std::string line = std::to_string(::getpid()) + " " + std::to_string(ownStartTime()) + "\n";
    return ::ftruncate(m_pidFile.get(), 0) == 0 &&
           ::pwrite(m_pidFile.get(), line.data(), line.size(), 0) == ssize_t(line.size());
}

void Endpoint::remove()
{
    if (m_options.listen.front() != '@')
        ::unlink(m_options.listen.c_str());
    if (!m_options.recordFile.empty())
        ::unlink(m_options.recordFile.c_str());
    if (m_pidFile.isOpen())
        ::unlink(m_options.pidFile.c_str());
    m_listener.close();
}

Fd Endpoint::acceptPeer() const
{
    Fd peer(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!peer.isOpen())
        return peer;
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
        credentials.uid != m_options.owner)
        return Fd();
    const int wanted = 1024 * 1024;
    ::setsockopt(peer.get(), SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
    return peer;
}

} // namespace sandbox
