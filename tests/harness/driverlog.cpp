#include "tests/harness/driverlog.h"

#include <QDir>
#include <QFile>
#include <nlohmann/json.hpp>

using namespace engine;

namespace {

template <class... Ts> struct visitor : Ts...
{
    using Ts::operator()...;
};
template <class... Ts> visitor(Ts...) -> visitor<Ts...>;

QString quoted(const QString &text)
{
    QString shown = text;
    shown.replace(u'\n', QStringLiteral("\\n"));
    return u'"' + (shown.size() > 120 ? shown.left(117) + QStringLiteral("...") : shown) + u'"';
}

QString flag(bool set, const char *name)
{
    return set ? u' ' + QString::fromLatin1(name) : QString();
}

} // namespace

QString describe(const HarnessEvent &event)
{
    return std::visit(
        visitor{
            [](const HarnessReady &e) -> QString { return QStringLiteral("ready ") + e.version; },
            [](const TurnStarted &e) -> QString {
                return QStringLiteral("turn started %1 %2 %3 %4").arg(e.nativeSessionId, e.model, e.permissionMode, e.version);
            },
            [](const ConversationOpened &e) -> QString { return QStringLiteral("conversation ") + e.nativeSessionId; },
            [](const HarnessBroken &e) -> QString { return QStringLiteral("broken ") + quoted(e.message); },
            [](const IdentityMismatch &e) -> QString {
                return QStringLiteral("identity mismatch %1 is not %2").arg(e.found, e.expected);
            },
            [](const TextDelta &e) -> QString {
                return QStringLiteral("delta %1 %2 %3").arg(e.key, toString(e.kind), quoted(e.text));
            },
            [](const TextDropped &e) -> QString { return QStringLiteral("dropped ") + e.key; },
            [](const TextCompleted &e) -> QString {
                return QStringLiteral("text %1 %2 %3").arg(e.key, toString(e.kind), quoted(e.text)) +
                       flag(!e.parentToolUseId.isEmpty(), "of a sub-agent");
            },
            [](const ToolStarted &e) -> QString {
                return QStringLiteral("tool %1 %2 %3").arg(e.toolUseId, e.name, quoted(QString::fromUtf8(e.input)));
            },
            [](const ToolEnded &e) -> QString {
                return QStringLiteral("tool ended %1 %2 %3").arg(e.toolUseId, toString(e.state), quoted(e.output));
            },
            [](const PermissionRequested &e) -> QString {
                return QStringLiteral("asks %1 %2 %3 %4 %5").arg(e.requestId, toString(e.kind), quoted(e.toolName), e.toolUseId,
                                                               quoted(QString::fromUtf8(e.input)));
            },
            [](const PermissionWithdrawn &e) -> QString { return QStringLiteral("withdrawn ") + e.requestId; },
            [](const RetryAnnounced &e) -> QString {
                return QStringLiteral("retry %1/%2 status %3 %4").arg(e.attempt).arg(e.maxAttempts).arg(e.status).arg(e.text);
            },
            [](const NoteSeen &e) -> QString {
                return QString::fromLatin1(e.warning ? "warning " : "note ") + quoted(e.text);
            },
            [](const ModelChanged &e) -> QString { return QStringLiteral("model ") + e.model; },
            [](const ModeChanged &e) -> QString { return QStringLiteral("mode ") + e.mode; },
            [](const TurnEnded &e) -> QString {
                return QStringLiteral("turn ended %1 %2 turns %3 in %4 out %5 cost %6 %7")
                           .arg(e.isError ? QStringLiteral("error") : QStringLiteral("ok"), e.terminalReason)
                           .arg(e.turns)
                           .arg(e.usage.inputTokens)
                           .arg(e.usage.outputTokens)
                           .arg(e.usage.costMicros)
                           .arg(quoted(e.text)) +
                       flag(e.interrupted, "interrupted") +
                       (e.apiStatus ? QStringLiteral(" status %1").arg(e.apiStatus) : QString());
            },
            [](const StartFailed &e) -> QString {
                return QStringLiteral("start failed ") + quoted(e.message) + flag(e.noConversation, "no conversation");
            },
            [](const UnknownLine &e) -> QString { return QStringLiteral("unknown ") + e.summary; },
        },
        event);
}

QList<ToolDefinition> FakeTools::tools() const
{
    return {{QStringLiteral("session_info"), QStringLiteral("Tells"), "{\"type\":\"object\"}"}};
}

ToolReply FakeTools::call(const QString &, const QByteArray &arguments)
{
    if (throws)
        throw std::runtime_error("broken tool");
    lastArguments = arguments;
    return {QStringLiteral("told"), false};
}

QList<RecordedLine> readRecording(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QList<RecordedLine> lines;
    while (!file.atEnd()) {
        const auto json = nlohmann::ordered_json::parse(file.readLine().toStdString());
        RecordedLine line;
        line.dir = QString::fromStdString(json.at("dir").get<std::string>());
        const auto &message = json.at("msg");
        if (line.dir == u"stderr")
            line.bytes = QByteArray::fromStdString(message.at("text").get<std::string>());
        else
            line.bytes = QByteArray::fromStdString(message.dump());
        if (line.dir == u"exit" && message.at("code").is_number_integer())
            line.exitCode = message.at("code").get<int>();
        lines.append(line);
    }
    return lines;
}

QStringList recordingNames()
{
    QStringList names;
    for (const QString &version : {QStringLiteral("2.1.197"), QStringLiteral("2.1.332")}) {
        const QDir folder(QStringLiteral(TEST_DATA "/claude/") + version);
        for (const QString &file : folder.entryList({QStringLiteral("*.jsonl")}, QDir::Files, QDir::Name))
            names.append(version + u'/' + file.chopped(6));
    }
    return names;
}

QString recordingPath(const QString &name)
{
    return QStringLiteral(TEST_DATA "/claude/%1.jsonl").arg(name);
}

QString recordedSession(const QList<RecordedLine> &lines)
{
    for (const RecordedLine &line : lines) {
        if (line.dir != u"out")
            continue;
        const auto json = nlohmann::json::parse(line.bytes.toStdString());
        if (json.is_object() && json.contains("session_id") && json["session_id"].is_string())
            return QString::fromStdString(json["session_id"].get<std::string>());
    }
    return {};
}

LaunchContext contextFor(const QString &nativeSessionId, Gate gate)
{
    LaunchContext context;
    context.agent.gate = gate;
    context.session.native.nativeSessionId = nativeSessionId;
    return context;
}
