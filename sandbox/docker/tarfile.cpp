#include "sandbox/docker/tarfile.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <archive.h>
#include <archive_entry.h>
#include <memory>

namespace sandbox {

namespace {

constexpr qint64 copyAtOnce = 1024 * 1024;

la_ssize_t writeToDevice(archive *, void *device, const void *bytes, size_t count)
{
    return static_cast<QIODevice *>(device)->write(static_cast<const char *>(bytes), qint64(count));
}

int modeOf(const QFileInfo &file)
{
    return file.isDir() || file.isExecutable() ? 0755 : 0644;
}

} // namespace

TarWriter::TarWriter(QIODevice &to) : m_to(to), m_archive(archive_write_new())
{
    archive_write_set_format_gnutar(m_archive);
    archive_write_set_bytes_in_last_block(m_archive, 1);
    if (archive_write_open(m_archive, &m_to, nullptr, writeToDevice, nullptr) != ARCHIVE_OK)
        fail(QString::fromUtf8(archive_error_string(m_archive)));
}

TarWriter::~TarWriter()
{
    archive_write_free(m_archive);
}

void TarWriter::fail(const QString &message)
{
    if (m_error.isEmpty())
        m_error = message;
}

void TarWriter::addHeader(const QString &path, int type, int mode, qint64 size, int owner)
{
    archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, path.toUtf8().constData());
    archive_entry_set_filetype(entry, static_cast<unsigned int>(type));
    archive_entry_set_perm(entry, static_cast<mode_t>(mode));
    archive_entry_set_size(entry, size);
    archive_entry_set_uid(entry, owner);
    archive_entry_set_gid(entry, owner);
    archive_entry_set_mtime(entry, 0, 0); // the same content gives the same archive
    if (archive_write_header(m_archive, entry) != ARCHIVE_OK)
        fail(path + QStringLiteral(": ") + QString::fromUtf8(archive_error_string(m_archive)));
    archive_entry_free(entry);
}

void TarWriter::addFolder(const QString &path, int mode, int owner)
{
    addHeader(path.endsWith(u'/') ? path : path + u'/', AE_IFDIR, mode, 0, owner);
}

void TarWriter::addFile(const QString &path, const QByteArray &content, int mode, int owner)
{
    addHeader(path, AE_IFREG, mode, content.size(), owner);
    if (archive_write_data(m_archive, content.constData(), size_t(content.size())) != content.size())
        fail(path + QStringLiteral(": ") + QString::fromUtf8(archive_error_string(m_archive)));
}

void TarWriter::addLink(const QString &path, const QString &target, int owner)
{
    archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, path.toUtf8().constData());
    archive_entry_set_filetype(entry, AE_IFLNK);
    archive_entry_set_symlink(entry, target.toUtf8().constData());
    archive_entry_set_perm(entry, 0777);
    archive_entry_set_uid(entry, owner);
    archive_entry_set_gid(entry, owner);
    if (archive_write_header(m_archive, entry) != ARCHIVE_OK)
        fail(path + QStringLiteral(": ") + QString::fromUtf8(archive_error_string(m_archive)));
    archive_entry_free(entry);
}

void TarWriter::addFrom(const QString &path, const QString &source, int owner)
{
    const QFileInfo info(source);
    if (info.isDir()) {
        addFolder(path, 0755, owner);
        QDirIterator below(source, QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden, QDirIterator::Subdirectories);
        while (below.hasNext()) {
            const QString found = below.next();
            const QString inside = path + u'/' + QDir(source).relativeFilePath(found);
            if (QFileInfo(found).isDir())
                addFolder(inside, 0755, owner);
            else
                addFrom(inside, found, owner);
        }
        return;
    }
    QFile file(source);
    if (!file.open(QIODevice::ReadOnly)) {
        fail(QStringLiteral("%1 cannot be read (%2)").arg(source, file.errorString()));
        return;
    }
    addHeader(path, AE_IFREG, modeOf(info), file.size(), owner);
    qint64 left = file.size();
    while (left > 0 && m_error.isEmpty()) {
        const QByteArray piece = file.read(qMin(left, copyAtOnce));
        if (piece.isEmpty() || archive_write_data(m_archive, piece.constData(), size_t(piece.size())) != piece.size())
            fail(QStringLiteral("%1 changed or ended while it was read").arg(source));
        left -= piece.size();
    }
}

std::optional<QByteArray> firstFileOfTar(const QByteArray &tar)
{
    const std::unique_ptr<archive, int (*)(archive *)> reader(archive_read_new(), archive_read_free);
    archive_read_support_format_tar(reader.get());
    if (archive_read_open_memory(reader.get(), tar.constData(), size_t(tar.size())) != ARCHIVE_OK)
        return {};
    archive_entry *entry = nullptr;
    while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
        if (archive_entry_filetype(entry) != AE_IFREG)
            continue;
        QByteArray content(qsizetype(archive_entry_size(entry)), Qt::Uninitialized);
        const la_ssize_t got = archive_read_data(reader.get(), content.data(), size_t(content.size()));
        if (got != content.size())
            return {};
        return content;
    }
    return {};
}

bool TarWriter::finish()
{
    if (archive_write_close(m_archive) != ARCHIVE_OK)
        fail(QString::fromUtf8(archive_error_string(m_archive)));
    return m_error.isEmpty();
}

} // namespace sandbox
