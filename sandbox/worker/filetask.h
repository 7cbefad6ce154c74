#pragma once

#include "sandbox/protocol/filemessages.h"
#include "sandbox/worker/connection.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace sandbox {

// The time that file work may take between two looks at everything else.
class Slice
{
public:
    explicit Slice(std::int64_t nanoseconds) : m_end(now() + nanoseconds) {}
    bool isOver() const { return now() >= m_end; }

private:
    static std::int64_t now()
    {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
    }

    std::int64_t m_end;
};

// One request about files, worked off in slices.
class FileTask
{
public:
    FileTask(std::uint32_t request, Connection &to) : m_request(request), m_to(to) {}
    virtual ~FileTask() = default;
    // Waits for nothing from the engine.
    virtual bool isRunnable() const { return true; }
    // True when it is done; finish() then tells the engine.
    virtual bool work(const Slice &slice) = 0;
    void finish();
    void cancel();

    std::uint32_t request() const { return m_request; }

protected:
    void addResult(ResultItem result);
    void addProblem(std::uint32_t index, const FileFailure failure, const std::string &reason);
    void flushResults();
    void end(FileFailure failure, const std::string &reason);
    void send(FrameType type, std::string_view payload) { m_to.send(type, payload); }

    FilesDonePayload m_done;

private:
    std::uint32_t m_request = 0;
    Connection &m_to;
    ResultsPayload m_results;
    std::size_t m_resultBytes = 0;
};

} // namespace sandbox
