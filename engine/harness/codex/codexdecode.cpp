#include "engine/harness/codex/codexcodec.h"
#include "engine/harness/codex/codexjson.h"

#include <QRegularExpression>
#include <QSet>
#include <nlohmann/json.hpp>

namespace engine::codex {

using Json = nlohmann::ordered_json;

namespace {

constexpr int summaryLength = 200;

// A failure's kind is a word, or an object whose one key is the word.
QString infoWord(const Json &info)
{
    if (info.is_string())
        return QString::fromStdString(info.get_ref<const std::string &>());
    return info.is_object() && !info.empty() ? QString::fromStdString(info.begin().key()) : QString();
}

int infoStatus(const Json &info)
{
    if (infoWord(info) == u"unauthorized")
        return 401;
    return info.is_object() && !info.empty() ? int(numberAt(*info.begin(), "httpStatusCode")) : 0;
}

Reply replyOf(const Json &line, const QByteArray &id)
{
    static const QRegularExpression version(QStringLiteral("/(\\d+\\.\\d+\\.\\d+)"));
    Reply reply;
    reply.id = id;
    reply.ok = line.contains("result") && !line.contains("error");
    reply.code = int(numberAt(at(line, "error"), "code"));
    reply.error = textAt(at(line, "error"), "message");
    const Json &result = at(line, "result");
    const Json &thread = at(result, "thread");
    reply.version = version.match(textAt(result, "userAgent")).captured(1);
    reply.threadId = textAt(thread, "id");
    reply.rolloutPath = textAt(thread, "path");
    reply.model = textAt(result, "model");
    const Json &policy = at(result, "approvalPolicy");
    reply.approvalPolicy = policy.is_object() ? infoWord(policy) : textAt(result, "approvalPolicy");
    reply.sandboxType = textAt(at(result, "sandbox"), "type");
    reply.turnId = textAt(at(result, "turn"), "id");
    if (reply.turnId.isEmpty())
        reply.turnId = textAt(result, "turnId");
    const Json &list = at(result, "data");
    if (reply.turnId.isEmpty() && list.is_array() && !list.empty())
        reply.turnId = textAt(list.front(), "id");
    return reply;
}

Message turnDone(const Json &params)
{
    const Json &turn = at(params, "turn");
    TurnDone done;
    done.turnId = textAt(turn, "id");
    done.status = textAt(turn, "status");
    const Json &error = at(turn, "error");
    const Json &info = at(error, "codexErrorInfo");
    done.error = textAt(error, "message");
    done.errorInfo = infoWord(info);
    done.apiStatus = infoStatus(info);
    const Json &items = at(turn, "items");
    if (items.is_array()) {
        for (const Json &item : items) {
            if (textAt(item, "type") == u"agentMessage")
                done.text = textAt(item, "text");
        }
    }
    return done;
}

Message apiError(const Json &params)
{
    static const QRegularExpression count(QStringLiteral("(\\d+)/(\\d+)"));
    const Json &error = at(params, "error");
    const QString message = textAt(error, "message");
    const QString details = textAt(error, "additionalDetails");
    const QRegularExpressionMatch counted = count.match(message);
    ApiError said;
    said.willRetry = boolAt(params, "willRetry");
    said.attempt = counted.captured(1).toInt();
    said.maxAttempts = counted.captured(2).toInt();
    said.status = infoStatus(at(error, "codexErrorInfo"));
    said.text = details.isEmpty() ? message : details;
    return said;
}

Message tokenUsage(const Json &params)
{
    const Json &usage = at(params, "tokenUsage");
    const Json &last = at(usage, "last");
    TokenUsage tokens;
    tokens.turnId = textAt(params, "turnId");
    tokens.totalTokens = numberAt(at(usage, "total"), "totalTokens");
    tokens.last.cacheReadTokens = numberAt(last, "cachedInputTokens");
    tokens.last.cacheWriteTokens = numberAt(last, "cacheWriteInputTokens");
    tokens.last.inputTokens =
        std::max<qint64>(0, numberAt(last, "inputTokens") - tokens.last.cacheReadTokens - tokens.last.cacheWriteTokens);
    tokens.last.outputTokens = numberAt(last, "outputTokens");
    return tokens;
}

Message planNote(const Json &params)
{
    QStringList lines;
    if (const QString why = textAt(params, "explanation"); !why.isEmpty())
        lines.append(why);
    const Json &plan = at(params, "plan");
    if (plan.is_array()) {
        for (const Json &step : plan)
            lines.append(QStringLiteral("[%1] %2").arg(textAt(step, "status"), textAt(step, "step")));
    }
    return Note{QStringLiteral("Plan: ") + lines.join(u'\n'), false};
}

Message settingsOf(const Json &params)
{
    const Json &settings = at(params, "threadSettings");
    const Json &policy = at(settings, "approvalPolicy");
    return Settings{policy.is_object() ? infoWord(policy) : textAt(settings, "approvalPolicy"),
                    textAt(at(settings, "sandboxPolicy"), "type")};
}

// What the protocol can say besides and a transcript does not need.
const QSet<QString> &ignoredMethods()
{
    static const QSet<QString> ignored{QStringLiteral("account/rateLimits/updated"),
                                       QStringLiteral("account/updated"),
                                       QStringLiteral("account/login/completed"),
                                       QStringLiteral("account/gatewayOAuth/changed"),
                                       QStringLiteral("app/list/updated"),
                                       QStringLiteral("command/exec/outputDelta"),
                                       QStringLiteral("fs/changed"),
                                       QStringLiteral("hook/started"),
                                       QStringLiteral("hook/completed"),
                                       QStringLiteral("item/fileChange/outputDelta"),
                                       QStringLiteral("item/fileChange/patchUpdated"),
                                       QStringLiteral("item/mcpToolCall/progress"),
                                       QStringLiteral("item/plan/delta"),
                                       QStringLiteral("item/reasoning/textDelta"),
                                       QStringLiteral("mcpServer/oauthLogin/completed"),
                                       QStringLiteral("mcpServer/startupStatus/updated"),
                                       QStringLiteral("model/verification"),
                                       QStringLiteral("process/exited"),
                                       QStringLiteral("process/outputDelta"),
                                       QStringLiteral("project/changed"),
                                       QStringLiteral("remoteControl/status/changed"),
                                       QStringLiteral("skills/changed"),
                                       QStringLiteral("thread/archived"),
                                       QStringLiteral("thread/closed"),
                                       QStringLiteral("thread/goal/cleared"),
                                       QStringLiteral("thread/goal/updated"),
                                       QStringLiteral("thread/name/updated"),
                                       QStringLiteral("thread/queue/changed"),
                                       QStringLiteral("thread/readState/changed"),
                                       QStringLiteral("thread/section/changed"),
                                       QStringLiteral("thread/started"),
                                       QStringLiteral("thread/status/changed"),
                                       QStringLiteral("thread/environment/connected"),
                                       QStringLiteral("thread/environment/disconnected"),
                                       QStringLiteral("thread/attachment/updated"),
                                       QStringLiteral("thread/unarchived"),
                                       QStringLiteral("turn/diff/updated"),
                                       QStringLiteral("turn/moderationMetadata"),
                                       QStringLiteral("deprecationNotice")};
    return ignored;
}

Message notification(const QString &method, const Json &params)
{
    const QString item = textAt(params, "itemId");
    if (method == u"item/started")
        return ItemStarted{itemOf(dumped(at(params, "item")))};
    if (method == u"item/completed")
        return ItemCompleted{itemOf(dumped(at(params, "item")))};
    if (method == u"item/agentMessage/delta")
        return TextChunk{item, BlockKind::Answer, textAt(params, "delta")};
    if (method == u"item/reasoning/summaryTextDelta")
        return TextChunk{item, BlockKind::Thinking, textAt(params, "delta")};
    if (method == u"item/reasoning/summaryPartAdded")
        return numberAt(params, "summaryIndex") > 0
                   ? Message(TextChunk{item, BlockKind::Thinking, QStringLiteral("\n\n")})
                   : Message(Ignored{});
    if (method == u"item/commandExecution/outputDelta")
        return OutputChunk{item, textAt(params, "delta")};
    if (method == u"item/commandExecution/terminalInteraction")
        return TerminalInput{item, textAt(params, "stdin")};
    if (method == u"turn/started")
        return TurnBegun{textAt(at(params, "turn"), "id")};
    if (method == u"turn/completed")
        return turnDone(params);
    if (method == u"turn/plan/updated")
        return planNote(params);
    if (method == u"thread/tokenUsage/updated")
        return tokenUsage(params);
    if (method == u"thread/settings/updated")
        return settingsOf(params);
    if (method == u"thread/compacted")
        return Note{QStringLiteral("The harness compacted the conversation."), false};
    if (method == u"model/rerouted")
        return Note{QStringLiteral("The provider moved the turn to another model: %1").arg(textAt(params, "toModel")),
                    true};
    if (method == u"error")
        return apiError(params);
    if (method == u"serverRequest/resolved") {
        const Json &id = at(params, "requestId");
        return Resolved{id.is_string() || id.is_number() ? dumped(id) : QByteArray()};
    }
    if (method == u"warning" || method == u"guardianWarning")
        return Note{textAt(params, "message"), true};
    if (method == u"configWarning") {
        // It brings its own when the system has none.
        const QString summary = textAt(params, "summary");
        return summary.contains(u"bubblewrap on PATH") ? Message(Ignored{}) : Message(Note{summary, false});
    }
    return ignoredMethods().contains(method) ? Message(Ignored{}) : Message(Unknown{method.left(summaryLength)});
}

Json parsed(std::string_view text, bool tooDeep)
{
    if (!tooDeep)
        return Json::parse(text, nullptr, false);
    return Json::parse(
        text, [](int depth, Json::parse_event_t, Json &) { return depth < rawjson::deepest / 2; }, false);
}

std::optional<Line> decodeObject(std::string_view text)
{
    const bool tooDeep = rawjson::isTooDeep(text);
    const Json json = parsed(text, tooDeep);
    if (!json.is_object())
        return std::nullopt;
    Line line;
    line.text = rawjson::bytes(text);
    const QString method = textAt(json, "method");
    const std::optional<std::string_view> id = rawjson::member(text, "id");
    const Json &idValue = at(json, "id");
    const bool hasId = id && (idValue.is_string() || idValue.is_number());
    const Json &params = at(json, "params");
    if (!method.isEmpty())
        line.threadId = textAt(params, "threadId");
    if (!method.isEmpty() && hasId)
        line.message = serverRequest(method, rawjson::bytes(*id), tooDeep ? QByteArray() : dumped(params), line.text);
    else if (!method.isEmpty())
        line.message = tooDeep
                           ? Message(Unknown{method.left(summaryLength / 2) + QStringLiteral(", nested too deeply")})
                           : notification(method, params);
    else if (hasId && (json.contains("result") || json.contains("error")))
        line.message = replyOf(json, rawjson::bytes(*id));
    else
        line.message = Unknown{QStringLiteral("without a method")};
    return line;
}

// Empty when a part of the text is no object.
QList<Line> decodeAll(const QByteArray &text)
{
    QList<Line> lines;
    for (const std::string_view value : rawjson::values(rawjson::view(text))) {
        const std::optional<Line> line = decodeObject(value);
        if (!line)
            return {};
        lines.append(*line);
    }
    return lines;
}

} // namespace

QList<Line> decode(const QByteArray &line)
{
    if (line.trimmed().isEmpty())
        return {};
    if (const std::optional<Line> whole = decodeObject(rawjson::view(line)))
        return {*whole};
    QList<Line> lines = decodeAll(line);
    if (lines.isEmpty())
        lines = decodeAll(rawjson::repaired(line));
    if (lines.isEmpty())
        lines.append({line, {}, Unknown{QStringLiteral("not JSON")}});
    return lines;
}

std::optional<SentLine> decodeSent(const QByteArray &line)
{
    const std::string_view text = rawjson::view(line);
    const Json json = parsed(text, rawjson::isTooDeep(text));
    const std::optional<std::string_view> id = rawjson::member(text, "id");
    if (!json.is_object() || !id)
        return std::nullopt;
    SentLine sent;
    sent.id = rawjson::bytes(*id);
    sent.method = textAt(json, "method");
    if (sent.method.isEmpty()) {
        const Json &result = at(json, "result");
        const Json &decision = at(result, "decision");
        const QString word = decision.is_string() ? textAt(result, "decision") : textAt(result, "action");
        sent.kind = SentLine::Kind::Answer;
        sent.refused = !json.contains("result") || word == u"decline" || word == u"cancel";
        sent.note = textAt(at(json, "signalbox"), "note");
        return sent;
    }
    const Json &params = at(json, "params");
    sent.threadId = textAt(params, "threadId");
    sent.approvalPolicy = textAt(params, "approvalPolicy");
    sent.sandboxType = textAt(at(params, "sandboxPolicy"), "type");
    if (sent.sandboxType.isEmpty())
        sent.sandboxType = sandboxType(textAt(params, "sandbox"), false);
    const Json &input = at(params, "input");
    if (input.is_array() && !input.empty())
        sent.text = textAt(input.front(), "text");
    return sent;
}

} // namespace engine::codex
