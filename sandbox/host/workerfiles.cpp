#include "sandbox/host/workerfiles.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSaveFile>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/un.h>
#include <unistd.h>

namespace sandbox {

namespace {

constexpr qsizetype maxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr auto recordSuffix = ".json";

tl::unexpected<Error> refusedFolder(const QString &folder, const QString &why)
{
    return tl::unexpected<Error>(
        Error{Failure::Refused,
              QStringLiteral("Agents cannot be started: runtime folder %1 %2. Set XDG_RUNTIME_DIR to a folder of your "
                             "own, or give access to this one.")
                  .arg(folder, why),
              {}});
}

} // namespace

Result<WorkerFiles> WorkerFiles::of(const QString &runtimeFolder, const QString &sessionId, int generation)
{
    static const QRegularExpression unsafe(QStringLiteral("[^A-Za-z0-9_.-]"));
    WorkerFiles files;
    files.name = QStringLiteral("signalbox-%1-%2").arg(sessionId).arg(generation);
    QString base = runtimeFolder + u'/' + files.name;
    if (files.name.contains(unsafe) || QFile::encodeName(base).size() + 5 > maxSocketPath) {
        const QByteArray hash = QCryptographicHash::hash(files.name.toUtf8(), QCryptographicHash::Sha256).toHex();
        base = runtimeFolder + QStringLiteral("/signalbox-") + QString::fromLatin1(hash.left(24));
    }
    files.socket = base + QStringLiteral(".sock");
    files.pidFile = base + QStringLiteral(".pid");
    files.record = base + QLatin1String(recordSuffix);
    if (QFile::encodeName(files.socket).size() > maxSocketPath)
        return refusedFolder(
            runtimeFolder,
            QStringLiteral("has a path too long for a socket (the whole may have %1 bytes)").arg(maxSocketPath));
    return files;
}

bool WorkerFiles::exist() const
{
    return QFileInfo::exists(socket) || QFileInfo::exists(pidFile) || QFileInfo::exists(record);
}

bool WorkerFiles::isAlive() const
{
    const int fd = ::open(QFile::encodeName(pidFile).constData(), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct flock lock
    {
    };
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool asked = ::fcntl(fd, F_OFD_GETLK, &lock) == 0;
    ::close(fd);
    return asked && lock.l_type != F_UNLCK;
}

qint64 WorkerFiles::workerPid() const
{
    QFile file(pidFile);
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return file.readLine(64).split(' ').value(0).toLongLong();
}

void WorkerFiles::remove() const
{
    QFile::remove(socket);
    QFile::remove(record);
    QFile::remove(pidFile);
}

Result<void> writeRecord(const WorkerFiles &files, const WorkerRecord &record)
{
    nlohmann::json labels = nlohmann::json::object();
    for (auto at = record.labels.cbegin(); at != record.labels.cend(); ++at)
        labels[at.key().toStdString()] = at.value().toStdString();
    const nlohmann::json json{
        {"session", record.sessionId.toStdString()}, {"generation", record.generation}, {"labels", labels}};
    const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    QSaveFile file(files.record);
    if (file.open(QIODevice::WriteOnly) && file.write(text.data(), qint64(text.size())) == qint64(text.size()) &&
        file.commit())
        return {};
    return tl::unexpected<Error>(Error{
        Failure::Refused,
        QStringLiteral("Agents cannot be started: %1 cannot be written (%2). Free space in its folder or give access.")
            .arg(files.record, file.errorString()),
        {}});
}

std::optional<WorkerRecord> readRecord(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return std::nullopt;
    const QByteArray text = file.readAll();
    const nlohmann::json json = nlohmann::json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
    if (!json.is_object())
        return std::nullopt;
    WorkerRecord record;
    const auto session = json.find("session");
    const auto generation = json.find("generation");
    const auto labels = json.find("labels");
    if (session == json.end() || !session->is_string() || generation == json.end() || !generation->is_number_integer())
        return std::nullopt;
    record.sessionId = QString::fromStdString(session->get<std::string>());
    record.generation = generation->get<int>();
    if (labels != json.end() && labels->is_object()) {
        for (const auto &[key, value] : labels->items()) {
            if (value.is_string())
                record.labels.insert(QString::fromStdString(key), QString::fromStdString(value.get<std::string>()));
        }
    }
    return record;
}

Result<QList<WorkerRecord>> readRecords(const QString &runtimeFolder)
{
    const QFileInfo info(runtimeFolder);
    if (!info.exists())
        return QList<WorkerRecord>{};
    if (!info.isDir() || !info.isReadable() || !info.isExecutable())
        return refusedFolder(runtimeFolder, QStringLiteral("is not a readable folder"));
    QList<WorkerRecord> records;
    const QStringList names =
        QDir(runtimeFolder).entryList({QStringLiteral("signalbox-*") + QLatin1String(recordSuffix)}, QDir::Files);
    for (const QString &name : names) {
        if (std::optional<WorkerRecord> record = readRecord(runtimeFolder + u'/' + name))
            records.append(*record);
    }
    return records;
}

Result<void> prepareRuntimeFolder(const QString &folder)
{
    const QFileInfo before(folder);
    if (!before.exists()) {
        if (!QDir().mkpath(folder))
            return refusedFolder(folder, QStringLiteral("cannot be made"));
        QFile::setPermissions(folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    const QFileInfo info(folder);
    if (!info.isDir())
        return refusedFolder(folder, QStringLiteral("is not a folder"));
    if (info.ownerId() != ::geteuid())
        return refusedFolder(folder, QStringLiteral("belongs to another user"));
    if (info.permissions() & (QFile::WriteGroup | QFile::WriteOther))
        return refusedFolder(folder, QStringLiteral("may be written by other users"));
    if (::access(QFile::encodeName(folder).constData(), W_OK | X_OK) != 0)
        return refusedFolder(folder, QStringLiteral("is not writable"));
    return {};
}

} // namespace sandbox
