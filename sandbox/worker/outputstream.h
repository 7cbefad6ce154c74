#pragma once

#include "sandbox/worker/journal.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sandbox {

// One output pipe of the harness and its journal.
class OutputStream
{
public:
    // False with errno when no journal can be made.
    bool prepare(const std::string &journalFolder);
    void start(Fd pipe, std::uint64_t cap);
    // Moves what the pipe holds into the journal, a bounded piece at a time.
    void readSome();
    // The harness is dead: what it had written by now is still read, what a left-over descendant adds is not.
    void drain();
    void trim(std::uint64_t offset);
    // A full disk may have room again.
    void retry();
    void close();

    bool wantsRead() const { return m_pipe.isOpen() && m_unsaved.empty() && m_journal.held() < m_cap; }
    bool isStalled() const { return !m_unsaved.empty(); }
    bool isDone() const { return m_unsaved.empty() && (!m_pipe.isOpen() || (m_draining && m_drainLeft == 0)); }
    int fd() const { return m_pipe.get(); }
    const Journal &journal() const { return m_journal; }

private:
    void save(const char *bytes, std::size_t count);

    Fd m_pipe;
    Journal m_journal;
    std::uint64_t m_cap = 0;
    std::string m_unsaved;
    bool m_draining = false;
    std::size_t m_drainLeft = 0;
};

} // namespace sandbox
