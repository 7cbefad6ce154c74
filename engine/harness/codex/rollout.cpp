#include "engine/harness/codex/rollout.h"

#include <QCryptographicHash>
#include <QDirIterator>
#include <QFile>
#include <QUuid>
#include <nlohmann/json.hpp>
#include <optional>

namespace engine {
namespace {

tl::unexpected<Error> noRollout(const QString &path, const QString &why)
{
    return fail(ErrorCode::NativeResumeFailed,
                QStringLiteral("The conversation can't be resumed: its file %1 %2. Nothing was started and nothing was "
                               "switched. Restore the file, or start the session fresh.")
                    .arg(path, why));
}

struct RolloutRecord
{
    std::string type;
    std::string kind; // of an event
    QString threadId; // of the first record
    QString turnId;
};

std::optional<RolloutRecord> recordOf(const QByteArray &line)
{
    const auto json = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    if (!json.is_object() || !json.contains("type") || !json["type"].is_string())
        return std::nullopt;
    RolloutRecord record{json["type"].get<std::string>(), {}, {}, {}};
    const auto payload = json.find("payload");
    const auto text = [&](const char *key) {
        if (payload == json.end() || !payload->is_object())
            return std::string();
        const auto found = payload->find(key);
        return found != payload->end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    record.kind = text("type");
    record.threadId = QString::fromStdString(text("id"));
    record.turnId = QString::fromStdString(text("turn_id"));
    return record;
}

} // namespace

QString findRollout(const QString &home, const QString &threadId)
{
    if (home.isEmpty() || QUuid::fromString(threadId).isNull())
        return {};
    QDirIterator files(home + QStringLiteral("/sessions"), {QStringLiteral("rollout-*-%1.jsonl").arg(threadId)},
                       QDir::Files, QDirIterator::Subdirectories);
    return files.hasNext() ? files.next() : QString();
}

Result<QString> verifyRollout(const NativeIdentity &native, const QString &home)
{
    const QString path = findRollout(home, native.nativeSessionId);
    if (path.isEmpty())
        return noRollout(native.transcriptPath.isEmpty() ? QStringLiteral("of thread ") + native.nativeSessionId
                                                         : native.transcriptPath,
                         QStringLiteral("is missing"));
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return noRollout(path, QStringLiteral("can't be read (%1)").arg(file.errorString()));
    if (file.size() < native.transcriptSize)
        return noRollout(path, QStringLiteral("is shorter than after the last turn (%1 of %2 bytes)")
                                   .arg(file.size())
                                   .arg(native.transcriptSize));
    QCryptographicHash hash(QCryptographicHash::Sha256);
    QString newestTurn;
    qint64 at = 0;
    bool checked = native.transcriptSize < 0;
    for (bool first = true; !file.atEnd(); first = false) {
        const QByteArray line = file.readLine();
        at += line.size();
        if (!checked) {
            hash.addData(at <= native.transcriptSize ? line : line.left(line.size() - (at - native.transcriptSize)));
            if (at >= native.transcriptSize) {
                if (hash.result().toHex() != native.transcriptHash.toLatin1())
                    return noRollout(path, QStringLiteral("was changed since the last turn"));
                checked = true;
            }
        }
        const std::optional<RolloutRecord> record = recordOf(line);
        if (first && (!record || record->type != "session_meta" || record->threadId != native.nativeSessionId))
            return noRollout(path, QStringLiteral("does not begin with the record of this conversation"));
        const bool isCutEnd = file.atEnd() && !line.endsWith('\n');
        if (!record && at > native.transcriptSize && !isCutEnd && !line.trimmed().isEmpty())
            return noRollout(path, QStringLiteral("holds something behind the last turn that is no record"));
        if (record && record->type == "event_msg" && record->kind == "task_started")
            newestTurn = record->turnId;
    }
    if (!checked || at == 0)
        return noRollout(path, QStringLiteral("is empty"));
    return newestTurn;
}

} // namespace engine
