#include "sandbox/link/channelfiles.h"

#include "sandbox/link/filestreams.h"

namespace sandbox {

namespace {

std::vector<std::string> toPaths(const QList<QByteArray> &paths)
{
    std::vector<std::string> to;
    to.reserve(std::size_t(paths.size()));
    for (const QByteArray &path : paths)
        to.push_back(path.toStdString());
    return to;
}

FileResult toResult(const ResultItem &item)
{
    return {item.failure, QString::fromStdString(item.reason), item.status, QByteArray::fromStdString(item.hash)};
}

QCoro::Task<Result<Listing>> awaitListing(std::shared_ptr<FileRequest> request)
{
    const Result<void> done = co_await FileRequest::untilDone(request);
    if (!done)
        co_return tl::unexpected<Error>(done.error());
    co_return std::move(request->listing);
}

// A result of each of `count`, in their order.
QCoro::Task<Result<QList<FileResult>>> awaitResults(std::shared_ptr<FileRequest> request, qsizetype count)
{
    const Result<void> done = co_await FileRequest::untilDone(request);
    if (!done)
        co_return tl::unexpected<Error>(done.error());
    co_return FileRequest::inOrder(request->results, count);
}

QCoro::Task<Result<QList<FailedChange>>> awaitChanges(std::shared_ptr<FileRequest> request)
{
    const Result<void> done = co_await FileRequest::untilDone(request);
    if (!done)
        co_return tl::unexpected<Error>(done.error());
    QList<FailedChange> failed;
    for (const FileRequest::Indexed &each : request->results)
        failed.append({each.index, each.result});
    co_return failed;
}

} // namespace

ChannelFiles::ChannelFiles(Write write)
    : m_write(std::make_shared<Write>(std::move(write))), m_statistics(std::make_shared<FileStatistics>())
{
}

ChannelFiles::~ChannelFiles()
{
    fail({Failure::Unreachable, QStringLiteral("The channel to the worker was given up."), {}});
}

std::shared_ptr<FileRequest> ChannelFiles::begin()
{
    auto request = std::make_shared<FileRequest>();
    request->id = m_next++;
    request->write = m_write;
    request->statistics = m_statistics;
    ++m_statistics->requests;
    if (m_failed)
        request->end(tl::unexpected<Error>(*m_failed));
    else
        m_requests.insert(request->id, request);
    return request;
}

void ChannelFiles::fail(const Error &error)
{
    if (m_failed)
        return;
    m_failed = error;
    *m_write = {};
    const auto requests = std::exchange(m_requests, {});
    for (const std::shared_ptr<FileRequest> &request : requests)
        request->end(tl::unexpected<Error>(error));
}

QCoro::Task<Result<Listing>> ChannelFiles::list(QString root, QList<QByteArray> only)
{
    const std::shared_ptr<FileRequest> request = begin();
    request->send(FrameType::FilesList, ListPayload{request->id, root.toStdString(), toPaths(only)}.encode());
    return awaitListing(request);
}

QCoro::Task<Result<QList<FileResult>>> ChannelFiles::hash(QString root, QList<QByteArray> paths)
{
    const std::shared_ptr<FileRequest> request = begin();
    m_statistics->hashedFiles += quint64(paths.size());
    request->send(FrameType::FilesHash, HashPayload{request->id, root.toStdString(), toPaths(paths)}.encode());
    return awaitResults(request, paths.size());
}

QCoro::Task<Result<QList<FailedChange>>> ChannelFiles::change(QString root, QList<FileChange> changes)
{
    const std::shared_ptr<FileRequest> request = begin();
    ChangePayload payload{request->id, root.toStdString(), {}};
    for (const FileChange &change : changes)
        payload.changes.push_back(
            {change.kind, change.path.toStdString(), change.mode, change.target.toStdString()});
    request->send(FrameType::FilesChange, payload.encode());
    return awaitChanges(request);
}

std::unique_ptr<FileReader> ChannelFiles::read(QString root, QList<FilePart> parts)
{
    const std::shared_ptr<FileRequest> request = begin();
    m_statistics->readFiles += quint64(parts.size());
    ReadPayload payload{request->id, root.toStdString(), {}};
    for (const FilePart &part : parts)
        payload.parts.push_back({part.path.toStdString(), part.offset, part.most});
    request->send(FrameType::FilesRead, payload.encode());
    return std::make_unique<ChannelReader>(request);
}

std::unique_ptr<FileWriter> ChannelFiles::write()
{
    return std::make_unique<ChannelWriter>(begin());
}

bool ChannelFiles::apply(const Frame &frame)
{
    switch (frame.type) {
    case FrameType::FilesListed:
        return applyListed(frame);
    case FrameType::FilesResults:
        return applyResults(frame);
    case FrameType::FilesData:
        return applyData(frame);
    case FrameType::FilesTaken:
        return applyTaken(frame);
    case FrameType::FilesDone:
        return applyDone(frame);
    default:
        return false;
    }
}

// Frames of a request that was cancelled are late and dropped.
bool ChannelFiles::applyListed(const Frame &frame)
{
    ListedPayload listed;
    if (!ListedPayload::decode(frame.payload, listed))
        return false;
    m_statistics->listedEntries += listed.items.size();
    const std::shared_ptr<FileRequest> request = m_requests.value(listed.request);
    for (std::size_t i = 0; request && i < listed.items.size(); ++i) {
        const ListedItem &item = listed.items[i];
        request->listing.entries.append({QByteArray::fromStdString(item.path), item.kind, item.status,
                                         QByteArray::fromStdString(item.target)});
    }
    return true;
}

bool ChannelFiles::applyResults(const Frame &frame)
{
    ResultsPayload results;
    if (!ResultsPayload::decode(frame.payload, results))
        return false;
    if (const std::shared_ptr<FileRequest> request = m_requests.value(results.request)) {
        for (const ResultItem &item : results.items)
            request->results.append({int(item.index), toResult(item)});
        request->wake();
    }
    return true;
}

bool ChannelFiles::applyData(const Frame &frame)
{
    FileDataPayload data;
    if (!FileDataPayload::decode(frame.payload, data))
        return false;
    m_statistics->readBytes += data.bytes.size();
    if (const std::shared_ptr<FileRequest> request = m_requests.value(data.request)) {
        request->data.enqueue({int(data.index), QByteArray(data.bytes.data(), qsizetype(data.bytes.size()))});
        request->wake();
    }
    return true;
}

bool ChannelFiles::applyTaken(const Frame &frame)
{
    quint32 id = 0, bytes = 0;
    if (!decodeFilesNumber(frame.payload, id, bytes))
        return false;
    if (const std::shared_ptr<FileRequest> request = m_requests.value(id)) {
        request->underWay -= bytes;
        request->wake();
    }
    return true;
}

bool ChannelFiles::applyDone(const Frame &frame)
{
    FilesDonePayload done;
    if (!FilesDonePayload::decode(frame.payload, done))
        return false;
    const std::shared_ptr<FileRequest> request = m_requests.take(done.request);
    if (!request)
        return true;
    request->listing.clock = done.clock;
    if (done.failure == FileFailure::None)
        request->end({});
    else
        request->end(tl::unexpected<Error>(FileRequest::errorOf(done.failure, QString::fromStdString(done.reason))));
    return true;
}

} // namespace sandbox
