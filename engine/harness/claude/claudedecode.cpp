#include "engine/harness/claude/claudecodec.h"
#include "engine/harness/rawjson.h"

#include <QSet>
#include <cmath>
#include <nlohmann/json.hpp>

namespace engine::claude {
namespace {

using nlohmann::json;

constexpr int summaryLength = 200;

const json &at(const json &object, const char *key)
{
    static const json none;
    if (!object.is_object())
        return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

QString textAt(const json &object, const char *key)
{
    const json &value = at(object, key);
    return value.is_string() ? QString::fromStdString(value.get_ref<const std::string &>()) : QString();
}

// Numbers beyond the type's range are clamped, everything else is 0.
qint64 numberAt(const json &object, const char *key)
{
    const json &value = at(object, key);
    if (!value.is_number())
        return 0;
    const double number = value.get<double>();
    return std::isfinite(number) ? qint64(std::clamp(number, -9.0e15, 9.0e15)) : 0;
}

int smallAt(const json &object, const char *key)
{
    return int(std::clamp<qint64>(numberAt(object, key), -1'000'000'000, 1'000'000'000));
}

bool boolAt(const json &object, const char *key)
{
    const json &value = at(object, key);
    return value.is_boolean() && value.get<bool>();
}

qint64 microsAt(const json &object, const char *key)
{
    const json &value = at(object, key);
    if (!value.is_number())
        return -1;
    const double dollars = value.get<double>();
    return std::isfinite(dollars) && dollars >= 0 ? qint64(std::llround(std::min(dollars, 1.0e9) * 1e6)) : -1;
}

QByteArray rawAt(std::string_view text, std::initializer_list<std::string_view> path)
{
    for (const std::string_view name : path) {
        const auto found = rawjson::member(text, name);
        if (!found)
            return {};
        text = *found;
    }
    return rawjson::bytes(text);
}

QString kindOf(const QString &type, const QString &subtype)
{
    QString kind = type.isEmpty() ? QStringLiteral("without a type") : type;
    if (!subtype.isEmpty())
        kind += u'/' + subtype;
    return kind.left(summaryLength);
}

Message canUseTool(const json &request, const QString &requestId, const QByteArray &text, bool tooDeep)
{
    CanUseTool tool;
    tool.requestId = requestId;
    tool.toolName = textAt(request, "tool_name");
    tool.toolUseId = textAt(request, "tool_use_id");
    tool.tooDeep = tooDeep;
    tool.inputIsObject = at(request, "input").is_object() && !tooDeep;
    if (!tooDeep)
        tool.input = rawAt(rawjson::view(text), {"request", "input"});
    tool.reason = textAt(request, "decision_reason");
    if (tool.reason.isEmpty())
        tool.reason = textAt(request, "description");
    tool.blockedPath = textAt(request, "blocked_path");
    tool.raw = text;
    return tool;
}

Message mcpMessage(const json &request, const QString &requestId, const QByteArray &text)
{
    const json &message = at(request, "message");
    const json &parameters = at(message, "params");
    McpMessage mcp;
    mcp.requestId = requestId;
    mcp.server = textAt(request, "server_name");
    mcp.method = textAt(message, "method");
    const json &id = at(message, "id");
    if (id.is_number() || id.is_string())
        mcp.id = rawAt(rawjson::view(text), {"request", "message", "id"});
    mcp.protocolVersion = textAt(parameters, "protocolVersion");
    mcp.toolName = textAt(parameters, "name");
    mcp.arguments = rawAt(rawjson::view(text), {"request", "message", "params", "arguments"});
    return mcp;
}

Message controlRequest(const json &line, const QByteArray &text, bool tooDeep)
{
    const json &request = at(line, "request");
    const QString requestId = textAt(line, "request_id");
    const QString subtype = textAt(request, "subtype");
    if (requestId.isEmpty())
        return Unknown{kindOf(QStringLiteral("control_request without an id"), subtype)};
    if (subtype == u"can_use_tool")
        return canUseTool(request, requestId, text, tooDeep);
    if (subtype == u"hook_callback") {
        const json &input = at(request, "input");
        return HookCallback{requestId, textAt(input, "hook_event_name"), textAt(input, "tool_name"), input.is_object()};
    }
    if (subtype == u"mcp_message" && !tooDeep)
        return mcpMessage(request, requestId, text);
    return OtherRequest{requestId, subtype};
}

Message controlResponse(const json &line)
{
    const json &response = at(line, "response");
    const json &body = at(response, "response");
    ControlReply reply;
    reply.requestId = textAt(response, "request_id");
    reply.ok = textAt(response, "subtype") == u"success";
    reply.error = textAt(response, "error");
    reply.version = textAt(body, "claude_code_version");
    reply.model = textAt(body, "model");
    reply.mode = textAt(body, "mode");
    return reply;
}

Message systemLine(const json &line)
{
    static const QSet<QString> ignored{
        QStringLiteral("status"), QStringLiteral("thinking_tokens"), QStringLiteral("background_tasks_changed"),
        QStringLiteral("session_title_changed"), QStringLiteral("session_state_changed"), QStringLiteral("ui_invalidate"),
        QStringLiteral("hook_started"), QStringLiteral("hook_progress"), QStringLiteral("hook_response"),
        QStringLiteral("task_started"), QStringLiteral("task_progress"), QStringLiteral("task_updated"),
        QStringLiteral("task_notification"), QStringLiteral("files_persisted"), QStringLiteral("commands_changed")};
    const QString subtype = textAt(line, "subtype");
    if (subtype == u"init")
        return SystemInit{textAt(line, "session_id"), textAt(line, "model"), textAt(line, "permissionMode"),
                          textAt(line, "claude_code_version")};
    if (subtype == u"api_retry")
        return ApiRetry{smallAt(line, "attempt"), smallAt(line, "max_retries"), smallAt(line, "retry_delay_ms"),
                        smallAt(line, "error_status"), textAt(line, "error")};
    if (subtype == u"permission_denied")
        return RuleDenial{textAt(line, "tool_use_id"), textAt(line, "message")};
    if (subtype == u"status" && !textAt(line, "permissionMode").isEmpty())
        return ModeStatus{textAt(line, "permissionMode")};
    if (subtype == u"informational")
        return Note{textAt(line, "content"), textAt(line, "level") != u"info"};
    if (subtype == u"compact_boundary")
        return Note{QStringLiteral("The harness compacted the conversation."), false};
    if (ignored.contains(subtype))
        return Ignored{};
    return Unknown{kindOf(QStringLiteral("system"), subtype)};
}

Message streamEvent(const json &line)
{
    const json &event = at(line, "event");
    const QString type = textAt(event, "type");
    StreamEvent stream;
    stream.parent = textAt(line, "parent_tool_use_id");
    stream.index = smallAt(event, "index");
    if (type == u"message_start") {
        stream.kind = StreamEvent::Kind::MessageStart;
        stream.messageId = textAt(at(event, "message"), "id");
    } else if (type == u"content_block_start") {
        stream.kind = StreamEvent::Kind::BlockStart;
        stream.blockType = textAt(at(event, "content_block"), "type");
        stream.text = textAt(at(event, "content_block"), stream.blockType == u"thinking" ? "thinking" : "text");
    } else if (type == u"content_block_delta") {
        const json &delta = at(event, "delta");
        const QString deltaType = textAt(delta, "type");
        const bool thinking = deltaType == u"thinking_delta";
        if (!thinking && deltaType != u"text_delta")
            return stream;
        stream.kind = StreamEvent::Kind::Delta;
        stream.deltaKind = thinking ? BlockKind::Thinking : BlockKind::Answer;
        stream.text = textAt(delta, thinking ? "thinking" : "text");
    } else if (type == u"message_stop") {
        stream.kind = StreamEvent::Kind::MessageStop;
        const json &abandoned = at(line, "abandoned_blocks");
        if (abandoned.is_object())
            stream.abandonedFrom = smallAt(abandoned, "from_block_index");
    } else if (type != u"content_block_stop" && type != u"message_delta" && type != u"ping") {
        return Unknown{kindOf(QStringLiteral("stream_event"), type)};
    }
    return stream;
}

Message assistantLine(const json &line, const QByteArray &text)
{
    const json &message = at(line, "message");
    AssistantLine assistant;
    assistant.parent = textAt(line, "parent_tool_use_id");
    assistant.messageId = textAt(message, "id");
    assistant.apiError = boolAt(line, "is_api_error_message") || at(line, "error").is_string();
    const json &content = at(message, "content");
    if (!content.is_array())
        return Unknown{QStringLiteral("assistant without content")};
    const QByteArray contentText = rawAt(rawjson::view(text), {"message", "content"});
    const QList<std::string_view> rawBlocks = rawjson::elements(rawjson::view(contentText));
    for (size_t i = 0; i < content.size(); ++i) {
        const json &entry = content[i];
        ContentBlock block;
        block.type = textAt(entry, "type");
        block.text = textAt(entry, block.type == u"thinking" ? "thinking" : "text");
        block.toolUseId = textAt(entry, "id");
        block.toolName = textAt(entry, "name");
        if (block.type == u"tool_use" && qsizetype(i) < rawBlocks.size())
            block.input = rawAt(rawBlocks.at(qsizetype(i)), {"input"});
        assistant.blocks.append(block);
    }
    return assistant;
}

QString resultText(const json &content)
{
    if (content.is_string())
        return QString::fromStdString(content.get_ref<const std::string &>());
    QStringList parts;
    if (content.is_array()) {
        for (const json &part : content) {
            const QString type = textAt(part, "type");
            parts.append(type == u"text" ? textAt(part, "text") : u'[' + type.left(summaryLength) + u']');
        }
    }
    return parts.join(u'\n');
}

bool wasRefused(const json &line, const QString &toolUseId)
{
    const json &meta = at(line, "tool_result_meta");
    if (!meta.is_array())
        return false;
    for (const json &entry : meta) {
        if (textAt(entry, "id") == toolUseId)
            return textAt(at(entry, "permission_decision"), "decision") == u"reject";
    }
    return false;
}

Message userLine(const json &line)
{
    UserLine user;
    user.parent = textAt(line, "parent_tool_use_id");
    user.isReplay = boolAt(line, "isReplay");
    const json &content = at(at(line, "message"), "content");
    if (content.is_string())
        user.texts.append(QString::fromStdString(content.get_ref<const std::string &>()));
    else if (!content.is_array())
        return Unknown{QStringLiteral("user without content")};
    else
        for (const json &entry : content) {
            const QString type = textAt(entry, "type");
            const QString toolUseId = textAt(entry, "tool_use_id");
            if (type == u"tool_result")
                user.results.append({toolUseId, resultText(at(entry, "content")), boolAt(entry, "is_error"),
                                     wasRefused(line, toolUseId)});
            else
                user.texts.append(type == u"text" ? textAt(entry, "text") : u'[' + type.left(summaryLength) + u']');
        }
    return user;
}

Message resultLine(const json &line)
{
    ResultLine result;
    result.isError = boolAt(line, "is_error") || !at(line, "is_error").is_boolean();
    result.apiStatus = smallAt(line, "api_error_status");
    result.terminalReason = textAt(line, "terminal_reason");
    result.turns = smallAt(line, "num_turns");
    result.text = textAt(line, "result");
    const json &errors = at(line, "errors");
    if (result.text.isEmpty() && errors.is_array()) {
        QStringList said;
        for (const json &error : errors) {
            if (!error.is_string())
                continue;
            const QString text = QString::fromStdString(error.get_ref<const std::string &>());
            if (!text.startsWith(u"[ede_diagnostic]")) // the harness's own bookkeeping of an interrupt
                said.append(text);
        }
        result.text = said.join(u'\n');
    }
    const QString subtype = textAt(line, "subtype");
    if (result.text.isEmpty() && subtype != u"success")
        result.text = subtype;
    if (result.terminalReason.isEmpty() && subtype != u"success")
        result.terminalReason = subtype;
    const json &usage = at(line, "usage");
    result.usage.inputTokens = numberAt(usage, "input_tokens");
    result.usage.outputTokens = numberAt(usage, "output_tokens");
    result.usage.cacheReadTokens = numberAt(usage, "cache_read_input_tokens");
    result.usage.cacheWriteTokens = numberAt(usage, "cache_creation_input_tokens");
    result.totalCostMicros = microsAt(line, "total_cost_usd");
    const json &models = at(line, "model_usage_since_last_result");
    if (models.is_object()) {
        result.costIsOfTurn = true;
        for (const json &model : models)
            result.usage.costMicros += std::max<qint64>(0, microsAt(model, "costUSD"));
    }
    return result;
}

Message messageOf(const json &line, const QByteArray &text, bool tooDeep)
{
    static const QSet<QString> ignored{QStringLiteral("keep_alive"), QStringLiteral("command_lifecycle"),
                                       QStringLiteral("tool_progress"), QStringLiteral("auth_status"),
                                       QStringLiteral("rate_limit_event"), QStringLiteral("prompt_suggestion")};
    const QString type = textAt(line, "type");
    if (type == u"control_request")
        return controlRequest(line, text, tooDeep);
    if (tooDeep)
        return Unknown{kindOf(type, QStringLiteral("nested too deeply"))};
    if (type == u"stream_event")
        return streamEvent(line);
    if (type == u"assistant")
        return assistantLine(line, text);
    if (type == u"user")
        return userLine(line);
    if (type == u"system")
        return systemLine(line);
    if (type == u"result")
        return resultLine(line);
    if (type == u"control_response")
        return controlResponse(line);
    if (type == u"control_cancel_request")
        return CancelRequest{textAt(line, "request_id")};
    if (type == u"conversation_reset")
        return Note{QStringLiteral("The harness began a new conversation."), true};
    if (ignored.contains(type))
        return Ignored{};
    return Unknown{kindOf(type, textAt(line, "subtype"))};
}

json parsed(std::string_view text, bool tooDeep)
{
    if (!tooDeep)
        return json::parse(text, nullptr, false);
    return json::parse(
        text, [](int depth, json::parse_event_t, json &) { return depth < rawjson::deepest / 2; }, false);
}

std::optional<Line> decodeObject(std::string_view text)
{
    const bool tooDeep = rawjson::isTooDeep(text);
    const json line = parsed(text, tooDeep);
    if (!line.is_object())
        return std::nullopt;
    const QByteArray bytes = rawjson::bytes(text);
    return Line{bytes, textAt(line, "session_id"), messageOf(line, bytes, tooDeep)};
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
    const json json = parsed(rawjson::view(line), rawjson::isTooDeep(rawjson::view(line)));
    const QString type = textAt(json, "type");
    if (type == u"user")
        return SentLine{SentLine::Kind::Prompt, textAt(json, "uuid"), {}, {}, false};
    if (type == u"control_request") {
        const auto &request = at(json, "request");
        const QString subtype = textAt(request, "subtype");
        return SentLine{SentLine::Kind::Request, textAt(json, "request_id"), subtype,
                        textAt(request, subtype == u"set_model" ? "model" : "mode"), false};
    }
    if (type == u"control_response") {
        const auto &response = at(json, "response");
        return SentLine{SentLine::Kind::Answer, textAt(response, "request_id"), {}, {},
                        textAt(at(response, "response"), "behavior") == u"deny"};
    }
    return std::nullopt;
}

} // namespace engine::claude
