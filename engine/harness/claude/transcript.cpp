#include "engine/harness/claude/transcript.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <nlohmann/json.hpp>

namespace engine {
namespace {

constexpr qint64 readStep = 1024 * 1024;

tl::unexpected<Error> noResume(const QString &path, const QString &why)
{
    return fail(ErrorCode::NativeResumeFailed,
                QStringLiteral("The conversation can't be resumed: its transcript %1 %2. Nothing was started and nothing was "
                               "switched. Restore the file, or start the session fresh.")
                    .arg(path, why));
}

// The first `size` bytes of an open file; shorter when the file is.
QByteArray hashOf(QFile &file, qint64 size)
{
    QCryptographicHash hash(QCryptographicHash::Sha256);
    while (size > 0) {
        const QByteArray chunk = file.read(std::min(size, readStep));
        if (chunk.isEmpty())
            break;
        hash.addData(chunk);
        size -= chunk.size();
    }
    return hash.result().toHex();
}

bool belongsTo(const QByteArray &line, const QString &sessionId)
{
    const auto json = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    if (!json.is_object())
        return false;
    for (const char *key : {"sessionId", "session_id"}) {
        const auto found = json.find(key);
        if (found != json.end() && found->is_string())
            return QString::fromStdString(found->get<std::string>()) == sessionId;
    }
    return true;
}

} // namespace

QString transcriptSlug(const QString &workspace)
{
    QString slug = workspace;
    for (QChar &c : slug) {
        const char16_t code = c.unicode();
        const bool plain = (code >= u'a' && code <= u'z') || (code >= u'A' && code <= u'Z') || (code >= u'0' && code <= u'9');
        if (!plain)
            c = u'-';
    }
    return slug;
}

QString findTranscript(const QString &configFolder, const QString &workspace, const QString &nativeSessionId)
{
    if (configFolder.isEmpty() || nativeSessionId.isEmpty() || nativeSessionId.contains(u'/'))
        return {};
    const QDir projects(configFolder + QStringLiteral("/projects"));
    const QString name = nativeSessionId + QStringLiteral(".jsonl");
    QStringList slugs{transcriptSlug(workspace)};
    // The harness spells the folder as the system resolves it.
    if (const QString resolved = QFileInfo(workspace).canonicalFilePath(); !resolved.isEmpty())
        slugs.append(transcriptSlug(resolved));
    slugs += projects.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
    for (const QString &slug : std::as_const(slugs)) {
        const QString path = projects.filePath(slug + u'/' + name);
        if (QFileInfo(path).isFile())
            return path;
    }
    return {};
}

Result<NativeIdentity> snapshotTranscript(const QString &path, const QString &nativeSessionId)
{
    QFile file(path);
    if (path.isEmpty() || !file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::NativeResumeFailed,
                    QStringLiteral("The transcript %1 of conversation %2 can't be read: %3")
                        .arg(path.isEmpty() ? QStringLiteral("(none found)") : path, nativeSessionId, file.errorString()));
    NativeIdentity identity;
    identity.nativeSessionId = nativeSessionId;
    identity.transcriptPath = path;
    identity.transcriptSize = file.size();
    identity.transcriptHash = QString::fromLatin1(hashOf(file, identity.transcriptSize));
    return identity;
}

Result<void> verifyTranscript(const NativeIdentity &native, const QString &configFolder, const QString &workspace)
{
    const QString found = findTranscript(configFolder, workspace, native.nativeSessionId);
    const QString path = native.transcriptPath.isEmpty() ? found : native.transcriptPath;
    if (found.isEmpty())
        return noResume(path.isEmpty() ? native.nativeSessionId + QStringLiteral(".jsonl") : path, QStringLiteral("is missing"));
    QFile file(found);
    if (!file.open(QIODevice::ReadOnly))
        return noResume(found, QStringLiteral("can't be read (%1)").arg(file.errorString()));
    if (native.transcriptSize < 0)
        return {}; // no turn ended yet: there is nothing to compare with
    if (file.size() < native.transcriptSize)
        return noResume(found, QStringLiteral("is shorter than after the last turn (%1 of %2 bytes)")
                                   .arg(file.size())
                                   .arg(native.transcriptSize));
    if (hashOf(file, native.transcriptSize) != native.transcriptHash.toLatin1())
        return noResume(found, QStringLiteral("was changed since the last turn"));
    while (!file.atEnd()) {
        const QByteArray line = file.readLine();
        const bool whole = line.endsWith('\n');
        if (whole && !line.trimmed().isEmpty() && !belongsTo(line, native.nativeSessionId))
            return noResume(found, QStringLiteral("is longer than after the last turn, and what was added is not of this "
                                                  "conversation"));
    }
    return {};
}

} // namespace engine
