#pragma once

#include "sandbox/protocol/frames.h"
#include "sandbox/worker/fd.h"

#include <cstdint>
#include <functional>
#include <map>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {

// The harness's way to its model: a port of the loopback whose connections travel as frames to the attached engine.
// Nothing here knows what is said on them. Without an attached engine nobody is accepted, so that a connection waits;
// those that were open then are reset. See "Gateway" in sandbox/README.md.
class Gateway
{
public:
    using Send = std::function<void(FrameType, std::string_view)>;

    explicit Gateway(Send send) : m_send(std::move(send)) {}

    // 0: any free port. False with a message for a person.
    bool listen(int port, std::string &error);
    int port() const { return m_port; } // 0: there is no gateway

    // The engine went, or another one came.
    void resetAll();
    void collect(std::vector<pollfd> &to, bool isAttached) const;
    // The same descriptors in the same order, after the wait.
    void dispatch(const pollfd *fds, std::size_t count);
    // Frames of the attached engine; false for malformed ones. One of an unknown stream is late and passed over.
    bool take(const Frame &frame);

private:
    struct Stream
    {
        Fd socket;
        std::string toClient;       // what the socket does not take yet
        std::uint32_t mayRead = 0;  // bytes that the engine still takes
        bool readEnded = false;     // the client said all
        bool writeEnding = false;   // the engine said all; closed for writing when toClient is empty
        bool writeEnded = false;
    };
    using Streams = std::map<std::uint32_t, Stream>;

    void acceptClients();
    void readFrom(std::uint32_t id, Stream &stream);
    // False when the client is gone.
    bool writeTo(std::uint32_t id, Stream &stream);
    void settle(Streams::iterator at);
    void reset(Streams::iterator at);

    Send m_send;
    Fd m_listener;
    int m_port = 0;
    std::uint32_t m_lastId = 0;
    Streams m_streams;
};

} // namespace sandbox
