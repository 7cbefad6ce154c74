#pragma once

#include "sandbox/files.h"
#include "sandbox/protocol/frames.h"

#include <QHash>
#include <functional>
#include <memory>

namespace sandbox {

struct FileRequest;

// The engine's half of the file requests of one channel. Engine thread. Readers and writers may outlive it: they fail.
class ChannelFiles final : public FileAccess
{
public:
    using Write = std::function<void(FrameType, std::string_view, std::string_view)>;

    explicit ChannelFiles(Write write);
    ~ChannelFiles() override;
    // False when the worker broke the protocol.
    bool apply(const Frame &frame);
    // The channel ended.
    void fail(const Error &error);

    QCoro::Task<Result<Listing>> list(QString root, QList<QByteArray> only) override;
    QCoro::Task<Result<QList<FileResult>>> hash(QString root, QList<QByteArray> paths) override;
    std::unique_ptr<FileReader> read(QString root, QList<FilePart> parts) override;
    std::unique_ptr<FileWriter> write() override;
    QCoro::Task<Result<QList<FailedChange>>> change(QString root, QList<FileChange> changes) override;
    FileStatistics statistics() const override { return *m_statistics; }

private:
    std::shared_ptr<FileRequest> begin();
    bool applyListed(const Frame &frame);
    bool applyResults(const Frame &frame);
    bool applyData(const Frame &frame);
    bool applyTaken(const Frame &frame);
    bool applyDone(const Frame &frame);

    // Shared with what may outlive this; the write inside is emptied at the end.
    std::shared_ptr<Write> m_write;
    std::shared_ptr<FileStatistics> m_statistics;
    QHash<quint32, std::shared_ptr<FileRequest>> m_requests;
    std::optional<Error> m_failed;
    quint32 m_next = 1;
};

} // namespace sandbox
