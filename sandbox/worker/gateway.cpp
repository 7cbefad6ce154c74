#include "sandbox/worker/gateway.h"

#include "sandbox/worker/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace sandbox {

namespace {

constexpr std::size_t maxClients = 64;
constexpr int gatewayBacklog = 256;
// Above what the harness's output may fill, so that a flood of it does not starve the model's requests.
constexpr std::size_t outboxRoomBytes = 2 * 1024 * 1024;
char gatewayBuffer[gatewayChunkBytes]; // the worker has one thread

// Closing then sends a reset instead of a clean end.
void armReset(int socket)
{
    const linger abrupt{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
}

void sendNumber(Connection &to, FrameType type, std::uint32_t stream, std::uint32_t number)
{
    to.send(type, encodeGatewayNumber(stream, number));
}

} // namespace

bool GatewayEntrance::listen(int port, std::string &error)
{
    if (port < 0)
        return true;
    m_listener = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(m_listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(std::uint16_t(port));
    socklen_t size = sizeof address;
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    if (::bind(m_listener.get(), generic, size) != 0 || ::listen(m_listener.get(), gatewayBacklog) != 0 ||
        ::getsockname(m_listener.get(), generic, &size) != 0) {
        error = "signalbox-worker: the model gateway's port " + std::to_string(port) +
                " of 127.0.0.1 cannot be listened on: " + std::strerror(errno) + ". Choose another port, or 0.";
        return false;
    }
    m_port = ntohs(address.sin_port);
    return true;
}

void GatewayEntrance::collect(std::vector<pollfd> &fds, const Connection *attached)
{
    m_firstPolled = fds.size();
    m_polled.clear();
    const bool accepts = attached && m_clients.size() < maxClients;
    fds.push_back({accepts ? m_listener.get() : -1, POLLIN, 0});
    const bool room = attached && attached->unsentBytes() < outboxRoomBytes;
    for (Client &client : m_clients) {
        const bool reads = room && client.mayRead();
        const bool writes = !client.outbox.empty();
        // Once our side is ended, a hang-up may come before the last bytes were read: not looked at then.
        const bool blind = !reads && !writes && client.writeEnded;
        fds.push_back({blind ? -1 : client.socket.get(), short((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0});
        m_polled.push_back(&client);
    }
}

void GatewayEntrance::dispatch(const std::vector<pollfd> &fds, Connection *attached)
{
    // A channel that was lost in this round took its clients with it.
    if (!attached || m_polled.size() != m_clients.size())
        return;
    for (std::size_t i = 0; i < m_polled.size(); ++i) {
        Client &client = *m_polled[i];
        const short events = fds[m_firstPolled + 1 + i].revents;
        if (events & POLLIN && !client.gone)
            read(client, *attached);
        if (events & POLLOUT && !client.gone)
            write(client, *attached);
        if (!(events & POLLIN) && events & (POLLERR | POLLHUP | POLLNVAL) && !client.gone)
            reset(client, *attached);
    }
    removeGone();
    if (fds[m_firstPolled].revents)
        accept(*attached);
}

void GatewayEntrance::accept(Connection &attached)
{
    while (m_clients.size() < maxClients) {
        Fd socket(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket.isOpen())
            return;
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        Client &client = m_clients.emplace_back();
        client.id = m_nextId++;
        client.socket = std::move(socket);
        attached.send(FrameType::GatewayOpened, encodeGatewayHead(client.id));
    }
}

void GatewayEntrance::read(Client &client, Connection &attached)
{
    const std::size_t most = std::min<std::size_t>(client.credit, sizeof gatewayBuffer);
    if (most == 0)
        return;
    const ssize_t got = ::recv(client.socket.get(), gatewayBuffer, most, MSG_DONTWAIT);
    if (got < 0) {
        if (errno != EAGAIN && errno != EINTR)
            reset(client, attached);
        return;
    }
    if (got == 0) {
        client.readEnded = true;
        attached.send(FrameType::GatewayEnded, encodeGatewayHead(client.id));
        client.gone = client.writeEnded;
        return;
    }
    client.credit -= std::uint32_t(got);
    std::string payload = encodeGatewayHead(client.id);
    payload.append(gatewayBuffer, std::size_t(got));
    attached.send(FrameType::GatewayReceived, payload);
}

void GatewayEntrance::write(Client &client, Connection &attached)
{
    std::size_t sent = 0;
    while (sent < client.outbox.size()) {
        const ssize_t wrote = ::send(client.socket.get(), client.outbox.data() + sent, client.outbox.size() - sent,
                                     MSG_DONTWAIT | MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            break;
        if (wrote < 0) {
            reset(client, attached);
            return;
        }
        sent += std::size_t(wrote);
    }
    client.outbox.erase(0, sent);
    if (sent > 0)
        sendNumber(attached, FrameType::GatewayTaken, client.id, std::uint32_t(sent));
    if (client.outbox.empty() && client.endAsked && !client.writeEnded) {
        ::shutdown(client.socket.get(), SHUT_WR);
        client.writeEnded = true;
        client.gone = client.readEnded;
    }
}

void GatewayEntrance::reset(Client &client, Connection &attached)
{
    attached.send(FrameType::GatewayWasReset, encodeGatewayHead(client.id));
    client.gone = true;
}

void GatewayEntrance::removeGone()
{
    m_clients.remove_if([](const Client &client) { return client.gone; });
}

GatewayEntrance::Client *GatewayEntrance::find(std::uint32_t id)
{
    const auto at = std::find_if(m_clients.begin(), m_clients.end(),
                                 [id](const Client &client) { return client.id == id && !client.gone; });
    return at == m_clients.end() ? nullptr : &*at;
}

bool GatewayEntrance::apply(const Frame &frame, Connection &attached)
{
    GatewayPayload payload;
    if (!GatewayPayload::decode(frame.payload, payload))
        return false;
    std::uint32_t number = 0;
    const bool isCredit = frame.type == FrameType::GatewayCredit;
    const bool isData = frame.type == FrameType::GatewayData;
    if (isCredit ? !payload.number(number) : !isData && !payload.rest.empty())
        return false;
    Client *client = find(payload.stream);
    if (!client)
        return payload.rest.size() <= gatewayCreditBytes; // crossed with the client's end
    if (isCredit) {
        if (number > gatewayCreditBytes - client->credit)
            return false;
        client->credit += number;
        return true;
    }
    if (frame.type == FrameType::GatewayReset) {
        armReset(client->socket.get());
        client->gone = true;
    } else if (isData) {
        if (client->endAsked || payload.rest.size() > gatewayCreditBytes - client->outbox.size())
            return false;
        client->outbox.append(payload.rest);
        write(*client, attached);
    } else {
        client->endAsked = true;
        write(*client, attached);
    }
    // Those that are gone are removed after the next poll: the list of polled ones points at them until then.
    return true;
}

void GatewayEntrance::resetAll()
{
    for (Client &client : m_clients)
        armReset(client.socket.get());
    m_clients.clear();
    m_polled.clear();
}

} // namespace sandbox
