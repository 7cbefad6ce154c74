#include "sandbox/link/filestreams.h"

namespace sandbox {

void FileRequest::send(FrameType type, std::string_view head, std::string_view tail) const
{
    if (*write)
        (*write)(type, head, tail);
}

void FileRequest::end(const Result<void> &how)
{
    outcome = how;
    wake();
}

void FileRequest::wake()
{
    if (!waiting)
        return;
    const std::unique_ptr<QPromise<void>> promise = std::move(waiting);
    promise->finish();
}

QFuture<void> FileRequest::next()
{
    waiting = std::make_unique<QPromise<void>>();
    waiting->start();
    return waiting->future();
}

QCoro::Task<Result<void>> FileRequest::untilDone(std::shared_ptr<FileRequest> request)
{
    while (!request->outcome) {
        const QFuture<void> woken = request->next();
        co_await woken;
    }
    co_return *request->outcome;
}

QList<FileResult> FileRequest::inOrder(const QList<Indexed> &results, qsizetype count)
{
    const FileResult missing{FileFailure::System, QStringLiteral("the worker did not answer for this file"), {}, {}};
    QList<FileResult> ordered(count, missing);
    for (const Indexed &each : results) {
        if (each.index >= 0 && each.index < count)
            ordered[each.index] = each.result;
    }
    return ordered;
}

Error FileRequest::errorOf(FileFailure failure, const QString &reason)
{
    switch (failure) {
    case FileFailure::Absent:
        return {Failure::Absent, reason, {}};
    case FileFailure::Busy:
        return {Failure::Busy, reason, {}};
    case FileFailure::None:
    case FileFailure::Refused:
    case FileFailure::Changed:
    case FileFailure::Full:
    case FileFailure::System:
    case FileFailure::Cancelled:
        break;
    }
    return {Failure::Refused, reason, {}};
}

ChannelReader::~ChannelReader()
{
    if (!m_request->outcome)
        m_request->send(FrameType::FilesCancel, encodeFilesHead(m_request->id));
}

QCoro::Task<Result<std::optional<FileChunk>>> ChannelReader::next()
{
    return FileRequest::nextChunk(m_request);
}

// Bytes of a part come before its result, and results before the next part's bytes; the frames keep that order, so the
// smaller index is first, and of one part the bytes.
QCoro::Task<Result<std::optional<FileChunk>>> FileRequest::nextChunk(std::shared_ptr<FileRequest> request)
{
    if (request->given > 0)
        request->send(FrameType::FilesCredit, encodeFilesNumber(request->id, std::exchange(request->given, 0)));
    while (true) {
        const bool hasData = !request->data.isEmpty();
        const bool hasResult = !request->results.isEmpty();
        if (hasData && (!hasResult || request->data.head().index <= request->results.first().index)) {
            Data data = request->data.dequeue();
            request->given = quint32(data.bytes.size());
            co_return std::optional<FileChunk>(FileChunk{data.index, std::move(data.bytes), std::nullopt});
        }
        if (hasResult) {
            const Indexed done = request->results.takeFirst();
            co_return std::optional<FileChunk>(FileChunk{done.index, {}, done.result});
        }
        if (request->outcome) {
            if (!*request->outcome)
                co_return tl::unexpected<Error>(request->outcome->error());
            co_return std::optional<FileChunk>();
        }
        const QFuture<void> woken = request->next();
        co_await woken;
    }
}

ChannelWriter::~ChannelWriter()
{
    if (!m_request->outcome)
        m_request->send(FrameType::FilesCancel, encodeFilesHead(m_request->id));
}

// The frame waits for the first bytes, so that a small file is one frame.
QCoro::Task<Result<void>> ChannelWriter::begin(NewFile file)
{
    if (!m_request->head.empty())
        m_request->send(FrameType::FilesPut, std::exchange(m_request->head, {}));
    PutPayload put;
    put.request = m_request->id;
    put.index = quint32(m_request->begun++);
    put.root = file.root.toStdString();
    put.path = file.path.toStdString();
    put.mode = file.mode;
    put.modified = file.modified;
    put.size = file.size;
    put.durable = file.durable;
    m_request->head = put.encodeHead();
    ++m_request->statistics->writtenFiles;
    if (m_request->outcome && !*m_request->outcome)
        co_return *m_request->outcome;
    co_return Result<void>{};
}

QCoro::Task<Result<void>> ChannelWriter::write(QByteArray bytes)
{
    return FileRequest::put(m_request, bytes);
}

QCoro::Task<Result<void>> FileRequest::put(std::shared_ptr<FileRequest> request, QByteArray bytes)
{
    for (qsizetype from = 0; from < bytes.size();) {
        while (request->underWay >= qint64(fileWindowBytes) && !request->outcome) {
            const QFuture<void> woken = request->next();
            co_await woken;
        }
        if (request->outcome)
            co_return *request->outcome;
        const qsizetype room = qMin<qsizetype>(qsizetype(fileChunkBytes), qsizetype(fileWindowBytes - request->underWay));
        const std::string_view piece(bytes.constData() + from, std::size_t(qMin(room, bytes.size() - from)));
        if (!request->head.empty())
            request->send(FrameType::FilesPut, std::exchange(request->head, {}), piece);
        else
            request->send(FrameType::FilesPutData, encodeFilesHead(request->id), piece);
        request->underWay += qint64(piece.size());
        request->statistics->writtenBytes += piece.size();
        from += qsizetype(piece.size());
    }
    co_return Result<void>{};
}

QCoro::Task<Result<QList<FileResult>>> ChannelWriter::finish()
{
    return FileRequest::finish(m_request);
}

QCoro::Task<Result<QList<FileResult>>> FileRequest::finish(std::shared_ptr<FileRequest> request)
{
    const int count = request->begun;
    if (!request->head.empty())
        request->send(FrameType::FilesPut, std::exchange(request->head, {}));
    request->send(FrameType::FilesFinish, encodeFilesHead(request->id));
    const Result<void> done = co_await untilDone(request);
    if (!done)
        co_return tl::unexpected<Error>(done.error());
    co_return inOrder(request->results, count);
}

} // namespace sandbox
