#pragma once

#include "sandbox/files.h"
#include "workerbench.h"

#include <QCryptographicHash>
#include <QFile>

namespace sandbox {

// A worker with one folder for files, reached through its channel.
class FileBench
{
public:
    explicit FileBench(const QStringList &moreRoots = {})
    {
        root = bench.folder.filePath(QStringLiteral("workspace"));
        QDir().mkpath(root);
        ComputerSpec spec;
        spec.sessionId = QStringLiteral("s1");
        spec.workspace = root;
        spec.fileRoots = moreRoots;
        const auto made = QCoro::waitFor(bench.provider.ensure(spec));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        computer = *made;
        reopen(1);
    }

    void reopen(quint64 epoch)
    {
        channel.reset();
        channel = bench.open(computer, epoch);
        if (!channel)
            qFatal("%s", qPrintable(bench.lastError.message));
        heard.listen(channel.get());
    }

    FileAccess &files() { return *channel->files(); }
    QString path(const QString &name) const { return root + u'/' + name; }

    void put(const QString &name, const QByteArray &bytes) const
    {
        QDir().mkpath(QFileInfo(path(name)).path());
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("%s cannot be written", qPrintable(file.fileName()));
    }

    QByteArray get(const QString &name) const
    {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(absent)");
    }

    Result<Listing> list(const QList<QByteArray> &only = {}) { return QCoro::waitFor(files().list(root, only)); }

    // "kind path" of each, sorted.
    QStringList listed(const QList<QByteArray> &only = {})
    {
        const auto listing = list(only);
        if (!listing)
            return {listing.error().message};
        QStringList lines;
        for (const FileEntry &entry : listing->entries)
            lines.append(QStringLiteral("fdlsx")[int(entry.kind) - 1] + u' ' + QString::fromUtf8(entry.path));
        lines.sort();
        return lines;
    }

    FileResult hash(const QByteArray &path)
    {
        const auto results = QCoro::waitFor(files().hash(root, {path}));
        return results ? results->first() : FileResult{FileFailure::System, results.error().message, {}, {}};
    }

    struct Read
    {
        QList<QByteArray> bytes;
        QList<FileResult> results;
    };

    Result<Read> read(const QList<FilePart> &parts)
    {
        return QCoro::waitFor(readAll(files().read(root, parts), parts.size()));
    }

    FileResult write(const QByteArray &path, const QByteArray &bytes, quint32 mode = 0644)
    {
        const auto results = QCoro::waitFor(writeOne(files().write(), root, path, bytes, mode));
        return results ? results->first() : FileResult{FileFailure::System, results.error().message, {}, {}};
    }

    // The failure of the one change, or None.
    FileFailure change(const FileChange &change)
    {
        const auto failed = QCoro::waitFor(files().change(root, {change}));
        if (!failed)
            return FileFailure::System;
        return failed->isEmpty() ? FileFailure::None : failed->first().result.failure;
    }

    static QCoro::Task<Result<Read>> readAll(std::unique_ptr<FileReader> reader, qsizetype count)
    {
        Read read;
        read.bytes.resize(count);
        read.results.resize(count);
        while (true) {
            const Result<std::optional<FileChunk>> chunk = co_await reader->next();
            if (!chunk)
                co_return tl::unexpected<Error>(chunk.error());
            if (!*chunk)
                co_return read;
            read.bytes[(*chunk)->index] += (*chunk)->bytes;
            if ((*chunk)->end)
                read.results[(*chunk)->index] = *(*chunk)->end;
        }
    }

    static QCoro::Task<Result<QList<FileResult>>> writeOne(std::unique_ptr<FileWriter> writer, QString root,
                                                           QByteArray path, QByteArray bytes, quint32 mode)
    {
        NewFile file;
        file.root = root;
        file.path = path;
        file.mode = mode;
        file.size = quint64(bytes.size());
        const Result<void> begun = co_await writer->begin(file);
        if (!begun)
            co_return tl::unexpected<Error>(begun.error());
        const Result<void> written = co_await writer->write(bytes);
        if (!written)
            co_return tl::unexpected<Error>(written.error());
        Result<QList<FileResult>> results = co_await writer->finish();
        co_return results;
    }

    WorkerBench bench;
    Computer computer;
    std::unique_ptr<Channel> channel;
    Heard heard;
    QString root;
};

inline QByteArray sha256(const QByteArray &bytes)
{
    return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256);
}

} // namespace sandbox
