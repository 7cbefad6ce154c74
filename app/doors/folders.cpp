#include "app/doors/folders.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <sys/stat.h>
#include <unistd.h>

namespace app {

namespace {

using engine::ErrorCode;

// A Unix socket's path holds 107 bytes; the rest is for a worker's name.
constexpr qsizetype longestRuntimePath = 60;

// True when the path is a real folder of this user that nobody else can enter.
bool isPrivateFolder(const QString &path)
{
    struct stat status;
    return lstat(QFile::encodeName(path).constData(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == getuid() && (status.st_mode & 077) == 0;
}

bool makePrivateFolder(const QString &path)
{
    mkdir(QFile::encodeName(path).constData(), 0700);
    return isPrivateFolder(path);
}

QString runtimeBelow(const QString &base, const QString &name)
{
    const QString own = base + u"/signalbox";
    if (QFile::encodeName(own).size() > longestRuntimePath - name.size() - 1)
        return {};
    if (!QFileInfo(base).isDir() || !makePrivateFolder(own))
        return {};
    return makePrivateFolder(own + u'/' + name) ? own + u'/' + name : QString();
}

QString runtimeFolder(const QString &name)
{
    const QString session = qEnvironmentVariable("XDG_RUNTIME_DIR");
    if (session.startsWith(u'/')) {
        const QString found = runtimeBelow(session, name);
        if (!found.isEmpty())
            return found;
    }
    const QString own = QStringLiteral("/tmp/signalbox-%1").arg(getuid());
    if (!makePrivateFolder(own))
        return {};
    return makePrivateFolder(own + u'/' + name) ? own + u'/' + name : QString();
}

} // namespace

engine::Result<Folders> prepareFolders(const QString &wanted, bool demo)
{
    Folders folders;
    const QString standard = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
                             (demo ? u"/signalbox-demo" : u"/signalbox");
    const QString data = QDir::cleanPath(QDir::current().absoluteFilePath(wanted.isEmpty() ? standard : wanted));
    const QFileInfo before(data);
    if (before.exists() && !before.isDir())
        return engine::fail(ErrorCode::StorageUnavailable,
                            QStringLiteral("The data folder %1 is a file. Move it away or name another folder with "
                                           "--data.")
                                .arg(data));
    if (!before.exists()) {
        if (!QDir().mkpath(data))
            return engine::fail(ErrorCode::StorageUnavailable,
                                QStringLiteral("The data folder %1 could not be made. Check the rights of the folder "
                                               "above it or name another one with --data.")
                                    .arg(data));
        QFile::setPermissions(data, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    folders.data = QFileInfo(data).canonicalFilePath();
    const QByteArray hash = QCryptographicHash::hash(QFile::encodeName(folders.data), QCryptographicHash::Sha256);
    folders.runtime = runtimeFolder(QString::fromLatin1(hash.toHex().left(12)));
    if (folders.runtime.isEmpty())
        return engine::fail(ErrorCode::StorageUnavailable,
                            QStringLiteral("No private runtime folder could be made below $XDG_RUNTIME_DIR or at "
                                           "/tmp/signalbox-%1. Remove what stands there, it belongs to someone else or "
                                           "is open to others.")
                                .arg(getuid()));
    folders.controlSocket = folders.runtime + u"/control";
    return folders;
}

} // namespace app
