#pragma once

#include "sandbox/files.h"
#include "sandbox/protocol/frames.h"

#include <QCoroFuture>
#include <QFuture>
#include <QPromise>
#include <QQueue>
#include <functional>
#include <memory>

namespace sandbox {

// One file request as the engine sees it: what came, and who waits for more. Engine thread; shared by the channel and the
// coroutine, reader or writer that uses it.
struct FileRequest
{
    using Write = std::function<void(FrameType, std::string_view, std::string_view)>;
    struct Indexed
    {
        int index = 0;
        FileResult result;
    };
    struct Data
    {
        int index = 0;
        QByteArray bytes;
    };

    quint32 id = 0;
    std::shared_ptr<Write> write; // empty function: the channel is gone
    std::shared_ptr<FileStatistics> statistics;
    Listing listing;
    QList<Indexed> results;
    QQueue<Data> data;
    quint32 given = 0;    // of a reader: bytes of the chunk answered last
    qint64 underWay = 0;  // of a writer: sent and not taken
    std::string head;     // of a writer: a begun file whose first bytes have not come
    int begun = 0;        // of a writer: files
    std::optional<Result<void>> outcome;
    std::unique_ptr<QPromise<void>> waiting;

    void send(FrameType type, std::string_view head, std::string_view tail = {}) const;
    void end(const Result<void> &how);
    void wake();
    // Answers at the next wake().
    QFuture<void> next();
    // Of a reader and a writer, which may be gone before these end.
    static QCoro::Task<Result<std::optional<FileChunk>>> nextChunk(std::shared_ptr<FileRequest> request);
    static QCoro::Task<Result<void>> put(std::shared_ptr<FileRequest> request, QByteArray bytes);
    static QCoro::Task<Result<QList<FileResult>>> finish(std::shared_ptr<FileRequest> request);
    static QCoro::Task<Result<void>> untilDone(std::shared_ptr<FileRequest> request);
    static QList<FileResult> inOrder(const QList<Indexed> &results, qsizetype count);
    static Error errorOf(FileFailure failure, const QString &reason);
};

class ChannelReader final : public FileReader
{
public:
    explicit ChannelReader(std::shared_ptr<FileRequest> request) : m_request(std::move(request)) {}
    ~ChannelReader() override;
    QCoro::Task<Result<std::optional<FileChunk>>> next() override;

private:
    std::shared_ptr<FileRequest> m_request;
};

class ChannelWriter final : public FileWriter
{
public:
    explicit ChannelWriter(std::shared_ptr<FileRequest> request) : m_request(std::move(request)) {}
    ~ChannelWriter() override;
    QCoro::Task<Result<void>> begin(NewFile file) override;
    QCoro::Task<Result<void>> write(QByteArray bytes) override;
    QCoro::Task<Result<QList<FileResult>>> finish() override;

private:
    std::shared_ptr<FileRequest> m_request;
};

} // namespace sandbox
