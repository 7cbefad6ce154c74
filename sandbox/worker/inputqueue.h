#pragma once

#include "sandbox/worker/fd.h"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sandbox {

// The harness's stdin: each id is written once per launch, in order, without ever blocking.
class InputQueue
{
public:
    enum class Accepted { Queued, Repeated, Written, Closed, Full };

    void start(Fd pipe);
    Accepted accept(std::string_view id, std::string_view bytes);
    void closeWhenWritten();
    // Writes what the pipe takes. Ids whose last byte was written are appended to `written`; false when the harness
    // closed its end, then stop() tells what was not written.
    bool write(std::vector<std::string> &written);
    // Closes the pipe; answers the ids that were not, or not wholly, written.
    std::vector<std::string> stop();

    bool wantsWrite() const { return m_pipe.isOpen() && !m_waiting.empty(); }
    int fd() const { return m_pipe.get(); }
    const std::string &lastWritten() const { return m_lastWritten; }

private:
    struct Entry
    {
        std::string id;
        std::string bytes;
    };

    void closeIfDone();

    Fd m_pipe;
    std::deque<Entry> m_waiting;
    std::size_t m_frontWritten = 0;
    std::size_t m_waitingBytes = 0;
    bool m_closing = false;
    std::unordered_set<std::string> m_queuedIds;
    std::unordered_set<std::string> m_writtenIds;
    std::string m_lastWritten;
};

} // namespace sandbox
