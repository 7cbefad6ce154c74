#include "sandbox/worker/relay.h"

#include "sandbox/worker/endpoint.h"
#include "sandbox/worker/fd.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <vector>

namespace sandbox {

namespace {

constexpr std::size_t flowBytes = 256 * 1024;

// One direction: at most a buffer in between.
struct Flow
{
    int from = -1;
    int to = -1;
    std::vector<char> bytes = std::vector<char>(flowBytes);
    std::size_t begin = 0;
    std::size_t end = 0;
    bool over = false; // the reading side ended

    bool isEmpty() const { return begin == end; }

    void read()
    {
        const ssize_t got = ::read(from, bytes.data(), bytes.size());
        if (got > 0)
            end = std::size_t(got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            over = true;
    }

    // False when nobody takes it any more.
    bool write()
    {
        const ssize_t wrote = ::write(to, bytes.data() + begin, end - begin);
        if (wrote < 0)
            return errno == EAGAIN || errno == EINTR;
        begin += std::size_t(wrote);
        if (isEmpty())
            begin = end = 0;
        return true;
    }
};

bool copyBothWays(Flow &in, Flow &out)
{
    bool halfClosed = false;
    while (!(out.over && out.isEmpty())) {
        pollfd fds[4] = {{in.isEmpty() && !in.over ? in.from : -1, POLLIN, 0},
                         {in.isEmpty() ? -1 : in.to, POLLOUT, 0},
                         {out.isEmpty() && !out.over ? out.from : -1, POLLIN, 0},
                         {out.isEmpty() ? -1 : out.to, POLLOUT, 0}};
        if (::poll(fds, 4, -1) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents)
            in.read();
        if (fds[2].revents)
            out.read();
        if ((fds[1].revents && !in.write()) || (fds[3].revents && !out.write()))
            return false;
        if (in.over && in.isEmpty() && !halfClosed) {
            ::shutdown(in.to, SHUT_WR);
            halfClosed = true;
        }
    }
    return true;
}

} // namespace

int relay(const std::string &path)
{
    sockaddr_un address{};
    socklen_t size = 0;
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!toAddress(path, address, size) || !socket.isOpen() ||
        ::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), size) != 0) {
        std::fprintf(stderr, "signalbox-worker: no worker answers at %s (%s)\n", path.c_str(), std::strerror(errno));
        return 1;
    }
    ::signal(SIGPIPE, SIG_IGN);
    for (const int fd : {socket.get(), STDIN_FILENO, STDOUT_FILENO})
        ::fcntl(fd, F_SETFL, O_NONBLOCK);
    Flow in{STDIN_FILENO, socket.get()};
    Flow out{socket.get(), STDOUT_FILENO};
    return copyBothWays(in, out) ? 0 : 1;
}

} // namespace sandbox
