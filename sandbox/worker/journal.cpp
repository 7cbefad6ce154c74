#include "sandbox/worker/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>

namespace sandbox {

namespace {

constexpr std::uint64_t punchBlock = 1024 * 1024;

int openUnnamed(const std::string &folder)
{
    if (!folder.empty()) {
        const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
        if (fd >= 0)
            return fd;
        std::string name = folder + "/.journal-XXXXXX";
        const int named = ::mkostemp(name.data(), O_CLOEXEC);
        if (named >= 0) {
            ::unlink(name.c_str());
            return named;
        }
    }
    return ::memfd_create("signalbox-journal", MFD_CLOEXEC);
}

} // namespace

bool Journal::open(const std::string &folder)
{
    Fd file(openUnnamed(folder));
    if (!file.isOpen())
        return false;
    m_file = std::move(file);
    m_oldest = m_end = m_punched = 0;
    m_tail.clear();
    return true;
}

std::size_t Journal::append(const char *bytes, std::size_t count)
{
    std::size_t taken = 0;
    while (taken < count) {
        const ssize_t wrote = ::pwrite(m_file.get(), bytes + taken, count - taken, off_t(m_end + taken));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break;
        taken += std::size_t(wrote);
    }
    m_end += taken;
    m_tail.assign(bytes, taken);
    return taken;
}

std::size_t Journal::read(std::uint64_t offset, char *to, std::size_t count) const
{
    if (offset < m_oldest || offset >= m_end)
        return 0;
    const std::size_t wanted = std::size_t(std::min<std::uint64_t>(count, m_end - offset));
    const std::uint64_t tailStart = m_end - m_tail.size();
    if (offset >= tailStart) {
        std::memcpy(to, m_tail.data() + (offset - tailStart), wanted);
        return wanted;
    }
    ssize_t got = 0;
    do
        got = ::pread(m_file.get(), to, wanted, off_t(offset));
    while (got < 0 && errno == EINTR);
    return got > 0 ? std::size_t(got) : 0;
}

void Journal::trim(std::uint64_t offset)
{
    m_oldest = std::max(m_oldest, std::min(offset, m_end));
    const std::uint64_t whole = m_oldest / punchBlock * punchBlock;
    if (whole <= m_punched)
        return;
    // A file system without holes keeps the blocks until the next launch; nothing else changes.
    ::fallocate(m_file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(m_punched), off_t(whole - m_punched));
    m_punched = whole;
}

} // namespace sandbox
