#include "sandbox/worker/filetask.h"

namespace sandbox {

namespace {

constexpr std::size_t flushResultsAtBytes = 64 * 1024;

} // namespace

void FileTask::addResult(ResultItem result)
{
    m_resultBytes += 64 + result.reason.size() + result.hash.size();
    m_results.items.push_back(std::move(result));
    if (m_resultBytes >= flushResultsAtBytes)
        flushResults();
}

void FileTask::addProblem(std::uint32_t index, const FileFailure failure, const std::string &reason)
{
    ResultItem result;
    result.index = index;
    result.failure = failure;
    result.reason = reason;
    addResult(std::move(result));
}

void FileTask::flushResults()
{
    if (m_results.items.empty())
        return;
    m_results.request = m_request;
    send(FrameType::FilesResults, m_results.encode());
    m_results.items.clear();
    m_resultBytes = 0;
}

void FileTask::end(FileFailure failure, const std::string &reason)
{
    m_done.failure = failure;
    m_done.reason = reason;
}

void FileTask::finish()
{
    flushResults();
    m_done.request = m_request;
    send(FrameType::FilesDone, m_done.encode());
}

void FileTask::cancel()
{
    end(FileFailure::Cancelled, "The request was cancelled.");
    finish();
}

} // namespace sandbox
