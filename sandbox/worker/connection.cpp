#include "sandbox/worker/connection.h"

#include <cerrno>
#include <unistd.h>

namespace sandbox {

namespace {

constexpr std::size_t pumpUntilBytes = 1024 * 1024;
// A peer that asks and never reads the answers is not read any more.
constexpr std::size_t maxOutboxBytes = 8 * 1024 * 1024;
constexpr std::size_t socketReadBytes = 256 * 1024;
char chunkBuffer[outputChunkBytes]; // the worker has one thread

} // namespace

Connection::Connection(Fd socket, std::int64_t deadlineMs) : m_input(std::move(socket)), m_deadline(deadlineMs) {}

Connection::Connection(Fd input, Fd output, std::int64_t deadlineMs)
    : m_input(std::move(input)), m_output(std::move(output)), m_deadline(deadlineMs)
{
}

bool Connection::mayRead() const
{
    return m_state != State::Closing && m_outbox.size() - m_sent < maxOutboxBytes;
}

bool Connection::readSome()
{
    char *space = m_decoder.space(socketReadBytes);
    ssize_t got = 0;
    do
        got = ::read(m_input.get(), space, socketReadBytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN;
    m_decoder.filled(std::size_t(got));
    return got > 0;
}

bool Connection::flush()
{
    while (hasUnsent()) {
        const ssize_t wrote = ::write(outputFd(), m_outbox.data() + m_sent, m_outbox.size() - m_sent);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == EAGAIN;
        m_sent += std::size_t(wrote);
    }
    m_outbox.clear();
    m_sent = 0;
    return m_state != State::Closing;
}

void Connection::send(FrameType type, std::string_view payload)
{
    if (m_state != State::Closing)
        appendFrame(m_outbox, type, payload);
}

void Connection::close(FrameType type, Reason reason, const std::string &text, std::int64_t deadlineMs)
{
    if (m_state == State::Closing)
        return;
    send(type, ReasonPayload{reason, text}.encode());
    m_state = State::Closing;
    m_deadline = deadlineMs;
}

void Connection::attach(std::uint64_t outputFrom, std::uint64_t errorFrom)
{
    m_state = State::Attached;
    m_deadline = 0;
    m_decoder.setCap(maxToWorkerBytes);
    m_outputCursor = outputFrom;
    m_errorCursor = errorFrom;
    m_exitSent = false;
}

void Connection::restart()
{
    m_outputCursor = m_errorCursor = 0;
    m_exitSent = false;
}

bool Connection::pumpStream(FrameType type, const Journal &journal, std::uint64_t &cursor, std::uint64_t launch)
{
    if (m_outbox.size() - m_sent >= pumpUntilBytes)
        return false;
    const std::size_t got = journal.read(cursor, chunkBuffer, sizeof chunkBuffer);
    if (got == 0)
        return cursor >= journal.end();
    if (m_sent > pumpUntilBytes / 2) {
        m_outbox.erase(0, m_sent);
        m_sent = 0;
    }
    appendFrame(m_outbox, type, ChunkPayload{launch, cursor, {}}.encodeHead(), std::string_view(chunkBuffer, got));
    cursor += got;
    return cursor >= journal.end();
}

bool Connection::pump(const Journal &output, const Journal &errorOutput, std::uint64_t launch)
{
    bool all = false;
    bool room = true;
    while (!all && room) {
        const bool outputDone = pumpStream(FrameType::Output, output, m_outputCursor, launch);
        const bool errorDone = pumpStream(FrameType::ErrorOutput, errorOutput, m_errorCursor, launch);
        all = outputDone && errorDone;
        room = m_outbox.size() - m_sent < pumpUntilBytes;
    }
    return all;
}

} // namespace sandbox
