#include "sandbox/worker/outputstream.h"

#include <algorithm>
#include <cerrno>
#include <sys/ioctl.h>

namespace sandbox {

namespace {

constexpr std::size_t readBytes = 256 * 1024;
char readBuffer[readBytes]; // the worker has one thread

} // namespace

bool OutputStream::prepare(const std::string &journalFolder)
{
    return m_journal.open(journalFolder);
}

void OutputStream::start(Fd pipe, std::uint64_t cap)
{
    m_pipe = std::move(pipe);
    m_cap = cap;
    m_unsaved.clear();
    m_draining = false;
    m_drainLeft = 0;
}

void OutputStream::readSome()
{
    if (!wantsRead())
        return;
    const std::size_t wanted = m_draining ? std::min(readBytes, m_drainLeft) : readBytes;
    ssize_t got = 0;
    do
        got = wanted ? ::read(m_pipe.get(), readBuffer, wanted) : 0;
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        save(readBuffer, std::size_t(got));
        if (m_draining)
            m_drainLeft -= std::size_t(got);
        return;
    }
    if (got < 0 && errno == EAGAIN) {
        m_drainLeft = 0;
        return;
    }
    m_pipe.close();
}

void OutputStream::save(const char *bytes, std::size_t count)
{
    const std::size_t taken = m_journal.append(bytes, count);
    if (taken < count)
        m_unsaved.assign(bytes + taken, count - taken);
}

void OutputStream::drain()
{
    m_draining = true;
    int waiting = 0;
    if (m_pipe.isOpen() && ::ioctl(m_pipe.get(), FIONREAD, &waiting) == 0 && waiting > 0)
        m_drainLeft = std::size_t(waiting);
}

void OutputStream::trim(std::uint64_t offset)
{
    m_journal.trim(offset);
}

void OutputStream::retry()
{
    if (m_unsaved.empty())
        return;
    const std::string again = std::move(m_unsaved);
    m_unsaved.clear();
    save(again.data(), again.size());
}

void OutputStream::close()
{
    m_pipe.close();
}

} // namespace sandbox
