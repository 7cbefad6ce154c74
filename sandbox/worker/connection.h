#pragma once

#include "sandbox/protocol/frames.h"
#include "sandbox/protocol/messages.h"
#include "sandbox/worker/fd.h"
#include "sandbox/worker/journal.h"

#include <cstdint>
#include <string>

namespace sandbox {

// One connected peer: bytes in, frames out, and how far it was sent the journals. Never blocks.
class Connection
{
public:
    enum class State {
        Greeting, // no HELLO yet
        Attached, // the one that gets output and may command
        Closing   // only what waits is still written
    };

    Connection(Fd socket, std::int64_t deadlineMs);
    // Over two pipes; both must not block.
    Connection(Fd input, Fd output, std::int64_t deadlineMs);

    // False when the peer is gone.
    bool readSome();
    bool flush();
    void send(FrameType type, std::string_view payload = {});
    // A last frame with the reason, then only writing until the deadline.
    void close(FrameType type, Reason reason, const std::string &text, std::int64_t deadlineMs);
    void attach(std::uint64_t outputFrom, std::uint64_t errorFrom);
    void restart();
    // Frames from the journals while there is room to write; true when everything was queued.
    bool pump(const Journal &output, const Journal &errorOutput, std::uint64_t launch);

    State state() const { return m_state; }
    int inputFd() const { return m_input.get(); }
    // The same as inputFd() for a socket.
    int outputFd() const { return m_output.isOpen() ? m_output.get() : m_input.get(); }
    FrameDecoder &decoder() { return m_decoder; }
    std::int64_t deadline() const { return m_deadline; } // 0: none
    bool hasUnsent() const { return m_sent < m_outbox.size(); }
    std::size_t unsentBytes() const { return m_outbox.size() - m_sent; }
    bool mayRead() const;
    bool isExitSent() const { return m_exitSent; }
    void setExitSent() { m_exitSent = true; }
    std::uint64_t sentOutput() const { return m_outputCursor; }
    std::uint64_t sentError() const { return m_errorCursor; }

private:
    bool pumpStream(FrameType type, const Journal &journal, std::uint64_t &cursor, std::uint64_t launch);

    Fd m_input;
    Fd m_output; // not open: m_input is a socket
    State m_state = State::Greeting;
    FrameDecoder m_decoder{maxGreetingBytes};
    std::string m_outbox;
    std::size_t m_sent = 0;
    std::int64_t m_deadline = 0;
    std::uint64_t m_outputCursor = 0;
    std::uint64_t m_errorCursor = 0;
    bool m_exitSent = false;
};

} // namespace sandbox
