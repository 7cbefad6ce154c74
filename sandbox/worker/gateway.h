#pragma once

#include "sandbox/protocol/frames.h"
#include "sandbox/protocol/gatewayframes.h"
#include "sandbox/worker/fd.h"

#include <list>
#include <poll.h>
#include <string>
#include <vector>

namespace sandbox {

class Connection;

// Entrance of the model gateway: a loopback port whose connections travel as streams over the attached channel.
// Never blocks. Only the worker's loop calls it.
class GatewayEntrance
{
public:
    // With -1 there is none. False with a message for a person.
    bool listen(int port, std::string &error);
    int port() const { return m_port; } // 0: none
    // Appends what it waits for; dispatch() is given the same list after the poll.
    void collect(std::vector<pollfd> &fds, const Connection *attached);
    void dispatch(const std::vector<pollfd> &fds, Connection *attached);
    // A frame of the attached engine; false when it breaks the protocol.
    bool apply(const Frame &frame, Connection &attached);
    // The channel is gone: clients see a reset and try again.
    void resetAll();

private:
    struct Client
    {
        std::uint32_t id = 0;
        Fd socket;
        std::string outbox; // to the client; at most a credit
        std::uint32_t credit = gatewayCreditBytes; // what may still be sent to the engine
        bool readEnded = false;
        bool endAsked = false;
        bool writeEnded = false;
        bool gone = false;
        bool mayRead() const { return !readEnded && credit > 0; }
    };

    void accept(Connection &attached);
    void read(Client &client, Connection &attached);
    void write(Client &client, Connection &attached);
    void reset(Client &client, Connection &attached);
    void removeGone();
    Client *find(std::uint32_t id);

    Fd m_listener;
    int m_port = 0;
    std::list<Client> m_clients;
    std::uint32_t m_nextId = 1;
    std::size_t m_firstPolled = 0;
    std::vector<Client *> m_polled;
};

} // namespace sandbox
