#pragma once

#include "sandbox/channel.h"
#include "sandbox/protocol/filemessages.h"

#include <QCoroTask>
#include <QList>
#include <memory>
#include <optional>

namespace sandbox {

// Paths are bytes as they are on the computer's disk, relative to a root; a root is an absolute path there.
struct FileEntry
{
    QByteArray path;
    FileKind kind = FileKind::File;
    FileStatus status;
    QByteArray target; // of a link; of a skipped or failed one: why
};

struct Listing
{
    QList<FileEntry> entries; // in no order
    qint64 clock = 0;         // the computer's when the list was begun, nanoseconds since 1970 UTC
};

struct FileResult
{
    FileFailure failure = FileFailure::None;
    QString reason;
    FileStatus status;
    QByteArray hash; // SHA-256, 32 bytes

    bool isOk() const { return failure == FileFailure::None; }
};

struct FilePart
{
    QByteArray path;
    quint64 offset = 0;
    quint64 most = ~quint64(0);
};

// Some bytes of a part, or its end.
struct FileChunk
{
    int index = 0; // of the part
    QByteArray bytes;
    std::optional<FileResult> end;
};

// Parts in the order asked, each its bytes and then its end. Asking for the next one frees the room of the one before,
// so at most 4 MiB are under way. Dropping the reader cancels what is left.
class FileReader
{
public:
    virtual ~FileReader() = default;
    // Empty after the last part's end.
    virtual QCoro::Task<Result<std::optional<FileChunk>>> next() = 0;
};

struct NewFile
{
    QString root;
    QByteArray path; // its folder exists
    quint32 mode = 0644;
    qint64 modified = 0; // nanoseconds since 1970 UTC; 0: now
    quint64 size = 0;
    bool durable = false; // on the disk before it takes the old one's place
};

// Files one after the other: begin(), its bytes with write(), the next begin(). A file that could not be written is told
// by its result and takes no other with it. Dropping the writer cancels the file being written.
class FileWriter
{
public:
    virtual ~FileWriter() = default;
    virtual QCoro::Task<Result<void>> begin(NewFile file) = 0;
    // Waits while 4 MiB are under way.
    virtual QCoro::Task<Result<void>> write(QByteArray bytes) = 0;
    // A result of each file in the order begun.
    virtual QCoro::Task<Result<QList<FileResult>>> finish() = 0;
};

struct FileChange
{
    ChangeKind kind = ChangeKind::MakeFolder;
    QByteArray path; // empty with MakeFolder: the root itself and what leads to it
    quint32 mode = 0755;
    QByteArray target; // of a link
};

struct FailedChange
{
    int index = 0;
    FileResult result;
};

// Since the channel was opened.
struct FileStatistics
{
    quint64 requests = 0;
    quint64 listedEntries = 0;
    quint64 hashedFiles = 0;
    quint64 readFiles = 0;
    quint64 readBytes = 0;
    quint64 writtenFiles = 0;
    quint64 writtenBytes = 0;
};

// Files of a computer, through its channel. Engine thread. Every request fails when the channel closes (Unreachable, or
// the channel's own reason); what was asked and not answered then may or may not have happened.
class FileAccess
{
public:
    virtual ~FileAccess() = default;
    // `only`, when not empty: just these paths and what is below them.
    virtual QCoro::Task<Result<Listing>> list(QString root, QList<QByteArray> only) = 0;
    // A result of each, in their order.
    virtual QCoro::Task<Result<QList<FileResult>>> hash(QString root, QList<QByteArray> paths) = 0;
    virtual std::unique_ptr<FileReader> read(QString root, QList<FilePart> parts) = 0;
    virtual std::unique_ptr<FileWriter> write() = 0;
    // In order, each whether or not those before it failed. Answers those that failed.
    virtual QCoro::Task<Result<QList<FailedChange>>> change(QString root, QList<FileChange> changes) = 0;
    virtual FileStatistics statistics() const = 0;
};

} // namespace sandbox
