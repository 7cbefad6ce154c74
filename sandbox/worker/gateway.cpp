#include "sandbox/worker/gateway.h"

#include "sandbox/protocol/bytes.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace sandbox {

namespace {

constexpr std::size_t maxStreams = 64;
constexpr int backlog = 512;
constexpr std::size_t gatewayReadBytes = 64 * 1024;

std::string streamId(std::uint32_t id)
{
    return ByteWriter().u32(id).bytes();
}

} // namespace

bool Gateway::listen(int port, std::string &error)
{
    Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(std::uint16_t(port));
    socklen_t size = sizeof address;
    const int yes = 1;
    if (listener.isOpen())
        ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!listener.isOpen() || ::bind(listener.get(), reinterpret_cast<sockaddr *>(&address), size) != 0 ||
        ::listen(listener.get(), backlog) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &size) != 0) {
        error = "signalbox-worker: cannot listen on port " + std::to_string(port) + " of 127.0.0.1 (" +
                std::strerror(errno) + ")";
        return false;
    }
    m_listener = std::move(listener);
    m_port = ntohs(address.sin_port);
    return true;
}

void Gateway::resetAll()
{
    for (auto &[id, stream] : m_streams) {
        // Not a quiet end: the client must not take half a reply for a whole one.
        const linger now{1, 0};
        ::setsockopt(stream.socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    m_streams.clear();
}

void Gateway::collect(std::vector<pollfd> &to, bool isAttached) const
{
    if (m_port == 0)
        return;
    const bool accepts = isAttached && m_streams.size() < maxStreams;
    to.push_back({accepts ? m_listener.get() : -1, POLLIN, 0});
    for (const auto &[id, stream] : m_streams) {
        const short reading = !stream.readEnded && stream.mayRead > 0 ? POLLIN : 0;
        const short writing = stream.toClient.empty() ? 0 : POLLOUT;
        // With nothing wanted a hang-up would be told again and again; it is seen when there is credit.
        to.push_back({reading || writing ? stream.socket.get() : -1, short(reading | writing), 0});
    }
}

void Gateway::dispatch(const pollfd *fds, std::size_t count)
{
    if (m_port == 0 || count == 0)
        return;
    std::size_t place = 1;
    for (auto at = m_streams.begin(); at != m_streams.end() && place < count; ++place) {
        const auto here = at++;
        const short events = fds[place].revents;
        if (!events)
            continue;
        bool alive = true;
        if (events & POLLOUT)
            alive = writeTo(here->first, here->second);
        if (alive && events & (POLLIN | POLLHUP | POLLERR))
            readFrom(here->first, here->second);
        if (!alive)
            reset(here);
        else
            settle(here);
    }
    if (fds[0].revents)
        acceptClients();
}

void Gateway::acceptClients()
{
    while (m_streams.size() < maxStreams) {
        Fd client(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!client.isOpen())
            return;
        const int yes = 1;
        ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        const std::uint32_t id = ++m_lastId;
        Stream stream;
        stream.socket = std::move(client);
        stream.mayRead = gatewayWindowBytes;
        m_streams.emplace(id, std::move(stream));
        m_send(FrameType::GatewayOpen, streamId(id));
    }
}

void Gateway::readFrom(std::uint32_t id, Stream &stream)
{
    if (stream.readEnded || stream.mayRead == 0)
        return;
    char bytes[gatewayReadBytes];
    const ssize_t got = ::recv(stream.socket.get(), bytes, std::min<std::size_t>(sizeof bytes, stream.mayRead), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        stream.readEnded = true;
        m_send(FrameType::GatewayEnd, streamId(id));
        if (got < 0)
            stream.writeEnded = true; // a broken connection takes nothing either
        return;
    }
    stream.mayRead -= std::uint32_t(got);
    m_send(FrameType::GatewayData, streamId(id) + std::string(bytes, std::size_t(got)));
}

bool Gateway::writeTo(std::uint32_t id, Stream &stream)
{
    std::size_t total = 0;
    while (total < stream.toClient.size()) {
        const ssize_t wrote =
            ::send(stream.socket.get(), stream.toClient.data() + total, stream.toClient.size() - total, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno != EAGAIN)
            return false;
        if (wrote < 0)
            break;
        total += std::size_t(wrote);
    }
    stream.toClient.erase(0, total);
    if (total > 0)
        m_send(FrameType::GatewayCredit, ByteWriter().u32(id).u32(std::uint32_t(total)).bytes());
    if (stream.toClient.empty() && stream.writeEnding && !stream.writeEnded) {
        ::shutdown(stream.socket.get(), SHUT_WR);
        stream.writeEnded = true;
    }
    return true;
}

// A stream is over when both sides said all.
void Gateway::settle(Streams::iterator at)
{
    if (at->second.readEnded && at->second.writeEnded)
        m_streams.erase(at);
}

void Gateway::reset(Streams::iterator at)
{
    m_send(FrameType::GatewayReset, streamId(at->first));
    m_streams.erase(at);
}

bool Gateway::take(const Frame &frame)
{
    ByteReader reader(frame.payload);
    const std::uint32_t id = reader.u32();
    if (frame.payload.size() < 4)
        return false;
    const auto at = m_streams.find(id);
    switch (frame.type) {
    case FrameType::GatewayData: {
        const std::string_view bytes = frame.payload.substr(4);
        if (at == m_streams.end())
            return true;
        if (at->second.writeEnding || at->second.toClient.size() + bytes.size() > gatewayWindowBytes)
            return false; // more than it was given credit for
        at->second.toClient.append(bytes);
        if (!writeTo(id, at->second))
            reset(at);
        return true;
    }
    case FrameType::GatewayEnd:
        if (at == m_streams.end())
            return true;
        at->second.writeEnding = true;
        if (!writeTo(id, at->second))
            reset(at);
        else
            settle(at);
        return frame.payload.size() == 4;
    case FrameType::GatewayReset:
        if (at != m_streams.end()) {
            const linger now{1, 0};
            ::setsockopt(at->second.socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
            m_streams.erase(at);
        }
        return frame.payload.size() == 4;
    case FrameType::GatewayCredit: {
        const std::uint32_t bytes = reader.u32();
        if (!reader.done() || bytes > gatewayWindowBytes)
            return false;
        if (at != m_streams.end())
            at->second.mayRead = std::min(at->second.mayRead + bytes, gatewayWindowBytes);
        return true;
    }
    default:
        return false;
    }
}

} // namespace sandbox
