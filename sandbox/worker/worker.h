#pragma once

#include "sandbox/worker/connection.h"
#include "sandbox/worker/endpoint.h"
#include "sandbox/worker/files.h"
#include "sandbox/worker/gateway.h"
#include "sandbox/worker/harness.h"
#include "sandbox/worker/options.h"

#include <list>
#include <poll.h>
#include <vector>

namespace sandbox {

// The one loop of signalbox-worker: listens, owns the harness, talks the protocol of sandbox/README.md.
class Worker
{
public:
    Worker(WorkerOptions options, Endpoint endpoint, GatewayEntrance gateway, mode_t umaskOfHarness);
    // Returns when the worker is to end; nothing of it is left then.
    void run();

private:
    struct PollSet;

    // worker.cpp
    void adoptStdio();
    void pollOnce();
    void collect(PollSet &set);
    int timeoutMs(std::int64_t now) const;
    void dispatch(const PollSet &set);
    void acceptPeers();
    void readSignals();
    void reapChildren();
    void writeInput();
    void advance();
    void killPass(std::int64_t now);
    void beginShutdown();
    bool isIdleTooLong(std::int64_t now) const;
    void drop(Connection *connection);
    void detached();
    // workerframes.cpp
    void readFrom(Connection *connection);
    bool greet(Connection *connection, const Frame &frame);
    bool command(Connection *connection, const Frame &frame);
    bool hello(Connection *connection, const Frame &frame);
    bool probe(Connection *connection, const Frame &frame);
    bool shutdownAsked(Connection *connection, const Frame &frame);
    bool launch(Connection *connection, const Frame &frame);
    bool acceptInput(Connection *connection, const Frame &frame);
    bool acknowledge(Connection *connection, const Frame &frame);
    void refuse(Connection *connection, Reason reason, const std::string &text);
    std::string welcome() const;
    bool endLeftOvers();

    WorkerOptions m_options;
    Endpoint m_endpoint;
    GatewayEntrance m_gateway;
    FileService m_files;
    Harness m_harness;
    Fd m_signals;
    std::list<Connection> m_connections;
    Connection *m_attached = nullptr;
    std::uint64_t m_epoch = 0;
    bool m_welcomedOne = false;
    bool m_allQueued = true; // the attached one was sent, or has waiting, everything there is
    bool m_killing = false;
    bool m_shutdown = false;
    std::int64_t m_killDeadline = 0;
    std::int64_t m_idleSince = 0; // when nobody was attached any more
    std::int64_t m_retryAt = 0;   // a stalled journal is tried again; 0: none is stalled
};

} // namespace sandbox
