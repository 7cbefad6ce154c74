#include "engine/harness/replay/recording.h"

#include "engine/harness/rawjson.h"

#include <QFile>
#include <QSet>
#include <nlohmann/json.hpp>
#include <optional>

namespace engine::replay {
namespace {

using RecordedJson = nlohmann::json;

QString stringIn(const RecordedJson &json, const char *key)
{
    if (!json.is_object())
        return {};
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

RecordedJson objectIn(const RecordedJson &json, const char *key)
{
    if (!json.is_object())
        return {};
    const auto found = json.find(key);
    return found != json.end() ? *found : RecordedJson();
}

struct Ids
{
    QSet<QByteArray> own;
    QSet<QByteArray> sessions;

    void add(const QString &id)
    {
        if (!id.isEmpty())
            own.insert(id.toUtf8());
    }
    // Everything that names a line, message, tool use or request.
    void gather(const RecordedJson &message)
    {
        add(stringIn(message, "uuid"));
        add(stringIn(message, "request_id"));
        add(stringIn(message, "api_message_id"));
        if (const QString session = stringIn(message, "session_id"); !session.isEmpty())
            sessions.insert(session.toUtf8());
        const RecordedJson inner = objectIn(message, "message");
        add(stringIn(inner, "id"));
        add(stringIn(objectIn(objectIn(message, "event"), "message"), "id"));
        add(stringIn(objectIn(objectIn(message, "event"), "content_block"), "id"));
        add(stringIn(objectIn(message, "request"), "tool_use_id"));
        const RecordedJson content = objectIn(inner, "content");
        if (!content.is_array())
            return;
        for (const RecordedJson &block : content) {
            add(stringIn(block, "id"));
            add(stringIn(block, "tool_use_id"));
        }
    }
};

std::optional<Entry> entryOf(const QByteArray &line, Ids &ids)
{
    const RecordedJson json = RecordedJson::parse(line.begin(), line.end(), nullptr, false);
    const QString dir = stringIn(json, "dir");
    const RecordedJson message = objectIn(json, "msg");
    Entry entry;
    const RecordedJson time = objectIn(json, "t");
    entry.at = time.is_number() ? time.get<double>() : 0;
    entry.when = stringIn(json, "when");
    if (dir == u"stderr") {
        entry.kind = Entry::Kind::ErrorOutput;
        entry.message = stringIn(message, "text").toUtf8();
        return entry;
    }
    if (dir == u"exit") {
        entry.kind = Entry::Kind::Exit;
        const RecordedJson code = objectIn(message, "code");
        // Recorded by a host that gives -n for an end by signal n.
        const int value = code.is_number_integer() ? code.get<int>() : 1;
        entry.exitCode = value < 0 ? 128 - value : value;
        return entry;
    }
    if (dir != u"in" && dir != u"out")
        return std::nullopt;
    entry.kind = dir == u"in" ? Entry::Kind::In : Entry::Kind::Out;
    const auto text = rawjson::member(rawjson::view(line), "msg");
    if (!text || !message.is_object())
        return std::nullopt;
    entry.message = rawjson::bytes(*text);
    entry.type = stringIn(message, "type");
    entry.subtype = stringIn(objectIn(message, "request"), "subtype");
    entry.requestId = stringIn(entry.type == u"control_response" ? objectIn(message, "response") : message, "request_id");
    if (entry.kind == Entry::Kind::Out)
        ids.gather(message);
    return entry;
}

// A prompt that was sent while a turn ran belongs to it: only a result ends one.
void append(Recording &recording, const Entry &entry)
{
    const bool prompt = entry.kind == Entry::Kind::In && entry.type == u"user";
    if (prompt && (recording.turns.isEmpty() || recording.turns.last().hasResult)) {
        recording.turns.append(Turn{});
        recording.turns.last().entries.append(entry);
        return;
    }
    if (recording.turns.isEmpty()) {
        recording.prologue.append(entry);
        return;
    }
    if (entry.kind == Entry::Kind::Out && entry.type == u"result")
        recording.turns.last().hasResult = true;
    if (!prompt)
        recording.turns.last().entries.append(entry);
}

} // namespace

tl::expected<Recording, QString> loadRecording(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return tl::unexpected(QStringLiteral("The recording %1 can't be read (%2). Choose another in the agent.")
                                  .arg(path, file.errorString()));
    Recording recording;
    Ids ids;
    while (!file.atEnd()) {
        if (const std::optional<Entry> entry = entryOf(file.readLine().trimmed(), ids))
            append(recording, *entry);
    }
    if (recording.turns.isEmpty() && recording.prologue.isEmpty())
        return tl::unexpected(QStringLiteral("%1 is no recording: it has no line of the form "
                                             "{\"dir\":\"out\",\"t\":1.5,\"msg\":{...}}.")
                                  .arg(path));
    recording.ids = ids.own.values();
    recording.sessionIds = ids.sessions.values();
    return recording;
}

QByteArray renamed(const QByteArray &json, const QHash<QByteArray, QByteArray> &names)
{
    QByteArray out;
    out.reserve(json.size() + 64);
    for (qsizetype at = 0; at < json.size();) {
        if (json.at(at) != '"') {
            out.append(json.at(at++));
            continue;
        }
        qsizetype end = at + 1;
        while (end < json.size() && json.at(end) != '"')
            end += json.at(end) == '\\' ? 2 : 1;
        end = std::min(end, json.size());
        const QByteArray text = json.mid(at + 1, end - at - 1);
        out += '"' + names.value(text, text) + '"';
        at = end + 1;
    }
    return out;
}

} // namespace engine::replay
