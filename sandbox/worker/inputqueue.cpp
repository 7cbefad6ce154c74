#include "sandbox/worker/inputqueue.h"

#include <cerrno>

namespace sandbox {

namespace {

constexpr std::size_t maxWaitingBytes = 128 * 1024 * 1024;

} // namespace

void InputQueue::start(Fd pipe)
{
    *this = InputQueue();
    m_pipe = std::move(pipe);
}

InputQueue::Accepted InputQueue::accept(std::string_view id, std::string_view bytes)
{
    std::string key(id);
    if (m_writtenIds.count(key))
        return Accepted::Written;
    if (m_queuedIds.count(key))
        return Accepted::Repeated;
    if (!m_pipe.isOpen() || m_closing)
        return Accepted::Closed;
    if (m_waitingBytes + bytes.size() > maxWaitingBytes)
        return Accepted::Full;
    m_waitingBytes += bytes.size();
    m_queuedIds.insert(key);
    m_waiting.push_back({std::move(key), std::string(bytes)});
    return Accepted::Queued;
}

void InputQueue::closeWhenWritten()
{
    m_closing = true;
    closeIfDone();
}

bool InputQueue::write(std::vector<std::string> &written)
{
    while (wantsWrite()) {
        Entry &front = m_waiting.front();
        const std::size_t left = front.bytes.size() - m_frontWritten;
        const ssize_t wrote = left ? ::write(m_pipe.get(), front.bytes.data() + m_frontWritten, left) : 0;
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == EAGAIN;
        m_frontWritten += std::size_t(wrote);
        m_waitingBytes -= std::size_t(wrote);
        if (m_frontWritten < front.bytes.size())
            continue;
        m_queuedIds.erase(front.id);
        m_writtenIds.insert(front.id);
        m_lastWritten = front.id;
        written.push_back(std::move(front.id));
        m_waiting.pop_front();
        m_frontWritten = 0;
    }
    closeIfDone();
    return true;
}

void InputQueue::closeIfDone()
{
    if (m_closing && m_waiting.empty())
        m_pipe.close();
}

std::vector<std::string> InputQueue::stop()
{
    std::vector<std::string> unwritten;
    for (Entry &entry : m_waiting)
        unwritten.push_back(std::move(entry.id));
    m_waiting.clear();
    m_queuedIds.clear();
    m_frontWritten = m_waitingBytes = 0;
    m_pipe.close();
    return unwritten;
}

} // namespace sandbox
