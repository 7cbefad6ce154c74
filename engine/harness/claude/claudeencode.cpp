#include "engine/harness/claude/claudecodec.h"
#include "engine/harness/rawjson.h"

#include <nlohmann/json.hpp>

namespace engine::claude {
namespace {

using EncodedJson = nlohmann::ordered_json;

QByteArray dumped(const EncodedJson &json)
{
    return QByteArray::fromStdString(json.dump(-1, ' ', false, EncodedJson::error_handler_t::replace));
}

QByteArray asLine(const EncodedJson &json)
{
    return dumped(json) + '\n';
}

EncodedJson requestJson(const QString &requestId, EncodedJson request)
{
    return {{"type", "control_request"}, {"request_id", requestId.toStdString()}, {"request", std::move(request)}};
}

QByteArray answerLine(const QString &requestId, const QByteArray &response)
{
    return R"({"type":"control_response","response":{"subtype":"success","request_id":)" +
           dumped(EncodedJson(requestId.toStdString())) + R"(,"response":)" + response + "}}\n";
}

// Line feeds between JSON's tokens would cut the line in two; inside strings they are always escaped.
QByteArray onOneLine(QByteArray json)
{
    return json.replace('\n', ' ').replace('\r', ' ').trimmed();
}

} // namespace

QByteArray initializeLine(const QString &requestId, bool withTools)
{
    EncodedJson request = {{"subtype", "initialize"}};
    if (withTools)
        request["sdkMcpServers"] = EncodedJson::array({"signalbox"});
    // An hour: a console that is started again answers late, and an unanswered hook refuses the tool.
    request["hooks"]["PreToolUse"] = EncodedJson::array(
        {EncodedJson{{"hookCallbackIds", EncodedJson::array({"gate"})}, {"timeout", 3600}, {"onFailure", "block"}}});
    return asLine(requestJson(requestId, std::move(request)));
}

QByteArray requestLine(const QString &requestId, const QString &subtype, const QString &key, const QString &value)
{
    EncodedJson request = {{"subtype", subtype.toStdString()}};
    if (!key.isEmpty())
        request[key.toStdString()] = value.toStdString();
    return asLine(requestJson(requestId, std::move(request)));
}

QByteArray interruptLine(const QString &requestId)
{
    return asLine(requestJson(requestId, {{"subtype", "interrupt"}, {"cancel_queued", true}}));
}

QByteArray promptLine(const QString &uuid, const QString &text)
{
    // The harness would run "/clear" and the like as commands and change the session under us.
    const QString sent = text.startsWith(u'/') ? u' ' + text : text;
    return asLine({{"type", "user"},
                   {"message", {{"role", "user"}, {"content", sent.toStdString()}}},
                   {"parent_tool_use_id", nullptr},
                   {"session_id", ""},
                   {"uuid", uuid.toStdString()}});
}

QByteArray allowLine(const QString &requestId, const QByteArray &input)
{
    return answerLine(requestId, R"({"behavior":"allow","updatedInput":)" + onOneLine(input) + '}');
}

QByteArray denyLine(const QString &requestId, const QString &message)
{
    const QString said = message.trimmed().isEmpty() ? QStringLiteral("Denied.") : message;
    return answerLine(requestId, dumped({{"behavior", "deny"}, {"message", said.toStdString()}}));
}

QByteArray hookLine(const QString &requestId, const QString &decision, const QString &reason)
{
    if (decision.isEmpty())
        return answerLine(requestId, "{}");
    return answerLine(requestId, dumped({{"hookSpecificOutput",
                                          {{"hookEventName", "PreToolUse"},
                                           {"permissionDecision", decision.toStdString()},
                                           {"permissionDecisionReason", reason.toStdString()}}}}));
}

QByteArray errorLine(const QString &requestId, const QString &error)
{
    return asLine({{"type", "control_response"},
                   {"response",
                    {{"subtype", "error"}, {"request_id", requestId.toStdString()}, {"error", error.toStdString()}}}});
}

QByteArray mcpLine(const QString &requestId, const QByteArray &id, const QByteArray &result)
{
    // A notification has no id, but unanswered it would hold the turn up; the harness takes 0.
    return answerLine(requestId, R"({"mcp_response":{"jsonrpc":"2.0","id":)" + (id.isEmpty() ? QByteArray("0") : id) +
                                     R"(,"result":)" + result + "}}");
}

QByteArray mcpErrorLine(const QString &requestId, const QByteArray &id, int code, const QString &message)
{
    return answerLine(requestId, R"({"mcp_response":{"jsonrpc":"2.0","id":)" + (id.isEmpty() ? QByteArray("0") : id) +
                                     R"(,"error":)" + dumped({{"code", code}, {"message", message.toStdString()}}) + "}}");
}

QByteArray mcpInitializeResult(const QString &protocolVersion)
{
    const QString version = protocolVersion.isEmpty() ? QStringLiteral("2025-11-25") : protocolVersion;
    return dumped({{"protocolVersion", version.toStdString()},
                   {"capabilities", {{"tools", EncodedJson::object()}}},
                   {"serverInfo", {{"name", "signalbox"}, {"version", SIGNALBOX_VERSION}}}});
}

QByteArray mcpToolList(const QList<ToolDefinition> &tools)
{
    EncodedJson list = EncodedJson::array();
    for (const ToolDefinition &tool : tools) {
        EncodedJson schema = EncodedJson::parse(tool.inputSchema.begin(), tool.inputSchema.end(), nullptr, false);
        if (!schema.is_object())
            schema = {{"type", "object"}};
        list.push_back({{"name", tool.name.toStdString()},
                        {"description", tool.description.toStdString()},
                        {"inputSchema", std::move(schema)}});
    }
    return dumped({{"tools", std::move(list)}});
}

QByteArray mcpToolResult(const ToolReply &reply)
{
    EncodedJson result = {
        {"content", EncodedJson::array({EncodedJson{{"type", "text"}, {"text", reply.text.toStdString()}}})}};
    if (reply.isError)
        result["isError"] = true;
    return dumped(result);
}

QByteArray withCaller(const QByteArray &arguments, const QString &nativeSessionId)
{
    EncodedJson json = EncodedJson::object();
    if (isObject(arguments))
        json = EncodedJson::parse(arguments.begin(), arguments.end(), nullptr, false);
    json[callerSessionKey] = nativeSessionId.toStdString();
    return dumped(json);
}

bool isObject(const QByteArray &json)
{
    return !rawjson::isTooDeep(rawjson::view(json)) &&
           EncodedJson::parse(json.begin(), json.end(), nullptr, false).is_object();
}

} // namespace engine::claude
