#include "engine/store/instancelock.h"

#include <QDir>
#include <QFile>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace engine {
namespace {

QString lockReason()
{
    return QString::fromLocal8Bit(std::strerror(errno));
}

QByteArray holderOf(int descriptor)
{
    char text[32] = {};
    const ssize_t size = ::pread(descriptor, text, sizeof text - 1, 0);
    return QByteArray(text, size > 0 ? qsizetype(size) : 0).trimmed();
}

} // namespace

Result<InstanceLock> InstanceLock::acquire(const QString &dataFolder)
{
    const QString path = QDir(dataFolder).filePath(QStringLiteral("signalbox.lock"));
    if (!QDir().mkpath(dataFolder)) {
        return fail(ErrorCode::StorageUnavailable,
                    QStringLiteral("Could not make the data folder %1: it may not be written or a file is in its way. "
                                   "Make it writable, or choose another data folder.")
                        .arg(dataFolder));
    }
    const int descriptor = ::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        return fail(ErrorCode::StorageUnavailable,
                    QStringLiteral("Could not open the lock %1: %2. Make the data folder writable, or choose another.")
                        .arg(path, lockReason()));
    }
    InstanceLock lock(descriptor, path);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return fail(
                ErrorCode::StorageUnavailable,
                QStringLiteral("Could not lock %1: %2. Choose a data folder on a local disk.").arg(path, lockReason()));
        }
        const QString holder = QString::fromLatin1(holderOf(descriptor));
        return fail(
            ErrorCode::StorageBusy,
            QStringLiteral("Another Signalbox (process %1) works with the data folder %2. Use that one or close "
                           "it, or choose another data folder.")
                .arg(holder.isEmpty() ? QStringLiteral("unknown") : holder, dataFolder));
    }
    const QByteArray self = QByteArray::number(qint64(::getpid())) + '\n';
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, self.constData(), size_t(self.size()), 0) != self.size()) {
        return fail(
            ErrorCode::StorageUnavailable,
            QStringLiteral("Could not write the lock %1: %2. Free some disk space, or choose another data folder.")
                .arg(path, lockReason()));
    }
    return lock;
}

InstanceLock::InstanceLock(InstanceLock &&other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)), m_path(std::move(other.m_path))
{
}

InstanceLock &InstanceLock::operator=(InstanceLock &&other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_path, other.m_path);
    return *this;
}

// The file stays: removing it would let two processes lock two files of one name.
InstanceLock::~InstanceLock()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

} // namespace engine
