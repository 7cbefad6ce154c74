#pragma once

#include <QByteArray>
#include <QIODevice>
#include <QString>
#include <optional>

struct archive;

namespace sandbox {

// Writes a tar archive, as Docker's Engine takes it, to an open device. Every entry belongs to `owner` (uid and gid).
class TarWriter final
{
public:
    explicit TarWriter(QIODevice &to);
    ~TarWriter();
    TarWriter(const TarWriter &) = delete;
    TarWriter &operator=(const TarWriter &) = delete;

    void addFolder(const QString &path, int mode, int owner = 0);
    void addFile(const QString &path, const QByteArray &content, int mode, int owner = 0);
    // A file of this machine, or a folder with everything below it; modes are kept, links are followed.
    void addFrom(const QString &path, const QString &source, int owner = 0);
    // A symbolic link, as it is.
    void addLink(const QString &path, const QString &target, int owner = 0);
    // Ends the archive; false with `error()` when anything failed.
    bool finish();
    QString error() const { return m_error; }

private:
    void addHeader(const QString &path, int type, int mode, qint64 size, int owner);
    void fail(const QString &message);

    QIODevice &m_to;
    archive *m_archive = nullptr;
    QString m_error;
};

// The content of the first regular file; empty when there is none or the archive is cut.
std::optional<QByteArray> firstFileOfTar(const QByteArray &tar);

} // namespace sandbox
