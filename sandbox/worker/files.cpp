#include "sandbox/worker/files.h"

#include "sandbox/worker/filereading.h"
#include "sandbox/worker/filewriting.h"

#include <algorithm>

namespace sandbox {

namespace {

constexpr std::size_t maxFileTasks = 16;
constexpr std::int64_t sliceNs = 2'000'000;
// Above what the harness's output may fill, so that neither starves the other.
constexpr std::size_t fileOutboxBytes = 2 * 1024 * 1024;

} // namespace

FileService::FileService(std::vector<std::string> roots) : m_roots(std::move(roots)) {}

FileService::~FileService() = default;

FileService::Tasks::iterator FileService::find(std::uint32_t request)
{
    return std::find_if(m_tasks.begin(), m_tasks.end(),
                        [request](const std::unique_ptr<FileTask> &task) { return task->request() == request; });
}

bool FileService::command(const Frame &frame, Connection &attached)
{
    switch (frame.type) {
    case FrameType::FilesList:
        return start<ListTask, ListPayload>(frame, attached);
    case FrameType::FilesHash:
        return start<HashTask, HashPayload>(frame, attached);
    case FrameType::FilesRead:
        return start<ReadTask, ReadPayload>(frame, attached);
    case FrameType::FilesChange:
        return start<ChangeTask, ChangePayload>(frame, attached);
    case FrameType::FilesPut:
        return put(frame, attached);
    case FrameType::FilesPutData:
        return putMore(frame);
    case FrameType::FilesFinish:
        return putFinish(frame, attached);
    case FrameType::FilesCredit:
        return credit(frame);
    case FrameType::FilesCancel:
        return cancel(frame);
    default:
        return false;
    }
}

bool FileService::refuse(std::uint32_t request, Connection &attached)
{
    FilesDonePayload done;
    done.request = request;
    done.failure = FileFailure::Busy;
    done.reason = "The worker has " + std::to_string(maxFileTasks) + " file requests already; wait for one to end.";
    attached.send(FrameType::FilesDone, done.encode());
    return true;
}

template<class Task, class Payload> bool FileService::start(const Frame &frame, Connection &attached)
{
    Payload asked;
    if (!Payload::decode(frame.payload, asked) || find(asked.request) != m_tasks.end())
        return false;
    if (m_tasks.size() >= maxFileTasks)
        return refuse(asked.request, attached);
    m_tasks.push_back(std::make_unique<Task>(std::move(asked), m_roots, attached));
    return true;
}

bool FileService::put(const Frame &frame, Connection &attached)
{
    PutPayload put;
    if (!PutPayload::decode(frame.payload, put))
        return false;
    auto at = find(put.request);
    if (at == m_tasks.end()) {
        // Above the limit of the others: its bytes may follow already, so it cannot be refused any more.
        if (m_tasks.size() >= 2 * maxFileTasks)
            return false;
        m_tasks.push_back(std::make_unique<PutTask>(put.request, m_roots, attached));
        at = std::prev(m_tasks.end());
    }
    auto *task = dynamic_cast<PutTask *>(at->get());
    return task && task->begin(put);
}

// What comes for a request that has ended is late and dropped.
bool FileService::putMore(const Frame &frame)
{
    std::uint32_t request = 0;
    std::string_view bytes;
    if (!decodeFilesRest(frame.payload, request, bytes))
        return false;
    const auto at = find(request);
    auto *task = at == m_tasks.end() ? nullptr : dynamic_cast<PutTask *>(at->get());
    return at == m_tasks.end() || (task && task->take(bytes));
}

bool FileService::putFinish(const Frame &frame, Connection &attached)
{
    std::uint32_t request = 0;
    if (!decodeFilesHead(frame.payload, request))
        return false;
    const auto at = find(request);
    if (at == m_tasks.end()) { // not one file was put
        FilesDonePayload done;
        done.request = request;
        attached.send(FrameType::FilesDone, done.encode());
        return true;
    }
    auto *task = dynamic_cast<PutTask *>(at->get());
    return task && task->finishAsked();
}

bool FileService::credit(const Frame &frame)
{
    std::uint32_t request = 0, bytes = 0;
    if (!decodeFilesNumber(frame.payload, request, bytes))
        return false;
    const auto at = find(request);
    auto *task = at == m_tasks.end() ? nullptr : dynamic_cast<ReadTask *>(at->get());
    return at == m_tasks.end() || (task && task->addCredit(bytes));
}

bool FileService::cancel(const Frame &frame)
{
    std::uint32_t request = 0;
    if (!decodeFilesHead(frame.payload, request))
        return false;
    const auto at = find(request);
    if (at != m_tasks.end()) {
        (*at)->cancel();
        m_tasks.erase(at);
    }
    return true;
}

bool FileService::isRunnable(const Connection *attached) const
{
    return attached && attached->unsentBytes() < fileOutboxBytes &&
           std::any_of(m_tasks.begin(), m_tasks.end(), [](const auto &task) { return task->isRunnable(); });
}

void FileService::work(Connection &attached)
{
    const Slice slice(sliceNs);
    for (std::size_t looked = 0; looked < m_tasks.size() && !slice.isOver();) {
        if (attached.unsentBytes() >= fileOutboxBytes)
            return;
        FileTask &task = *m_tasks.front();
        if (task.isRunnable() && task.work(slice)) {
            task.finish();
            m_tasks.pop_front();
            continue;
        }
        m_tasks.splice(m_tasks.end(), m_tasks, m_tasks.begin());
        ++looked;
    }
}

void FileService::reset()
{
    m_tasks.clear();
}

} // namespace sandbox
