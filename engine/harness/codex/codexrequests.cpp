// What the harness asks of its host, and its items, as values.
#include "engine/harness/codex/codexcodec.h"
#include "engine/harness/codex/codexjson.h"

#include <nlohmann/json.hpp>

namespace engine::codex {

using Json = nlohmann::ordered_json;

namespace {

// Without what only the protocol needs; so the same action asked again is the same input.
QByteArray without(const Json &object, std::initializer_list<const char *> keys)
{
    Json kept = Json::object();
    for (auto it = object.begin(); it != object.end(); ++it) {
        const bool dropped = std::any_of(keys.begin(), keys.end(), [&](const char *key) { return it.key() == key; });
        if (!dropped && !it->is_null())
            kept[it.key()] = *it;
    }
    return dumped(kept);
}

QByteArray askedOf(const Json &params)
{
    return without(params, {"threadId", "turnId", "itemId", "startedAtMs", "approvalId", "environmentId", "reason",
                            "kind", "availableDecisions", "proposedExecpolicyAmendment",
                            "proposedNetworkPolicyAmendments", "commandActions"});
}

QString joinedName(const QString &space, const QString &name)
{
    return space.isEmpty() ? name : space + u'.' + name;
}

QByteArray argumentsOf(const Json &value)
{
    return value.is_object() ? dumped(value) : dumped(Json{{"arguments", value}});
}

void takeCommand(ServerRequest &request, const Json &params)
{
    const bool types = textAt(params, "kind") == u"writeStdin";
    request.kind = types ? ServerRequest::Kind::WriteStdin : ServerRequest::Kind::Command;
    request.toolName = types ? QStringLiteral("writeStdin") : QStringLiteral("commandExecution");
    if (types && !textAt(params, "approvalId").isEmpty())
        request.itemId = textAt(params, "approvalId");
    request.input = askedOf(params);
    request.complete = !textAt(params, "command").isEmpty() || at(params, "networkApprovalContext").is_object();
}

void takeUserInput(ServerRequest &request, const Json &params)
{
    request.kind = ServerRequest::Kind::UserInput;
    request.toolName = QStringLiteral("requestUserInput");
    request.input = without(params, {"threadId", "turnId", "itemId", "startedAtMs", "autoResolutionMs", "isBlocking"});
    const Json &questions = at(params, "questions");
    request.complete = questions.is_array() && !questions.empty() &&
                       std::all_of(questions.begin(), questions.end(), [](const Json &question) {
                           return !textAt(question, "id").isEmpty() && !textAt(question, "question").isEmpty();
                       });
}

// One question for a field of a form; nothing for a field that can't be typed in.
std::optional<Json> fieldQuestion(const QString &name, const Json &field, const QString &message)
{
    const QString type = textAt(field, "type");
    if (type != u"string" && type != u"number" && type != u"integer" && type != u"boolean")
        return std::nullopt;
    QString about = textAt(field, "description");
    if (about.isEmpty())
        about = textAt(field, "title");
    Json options = Json::array();
    const Json &choices = at(field, "enum");
    if (choices.is_array()) {
        for (const Json &choice : choices)
            options.push_back({{"label", choice.is_string() ? choice.get<std::string>() : choice.dump()}});
    } else if (type == u"boolean") {
        options = Json::array({Json{{"label", "true"}}, Json{{"label", "false"}}});
    }
    const QString text =
        message + QStringLiteral(" (") + name + (about.isEmpty() ? QString() : QStringLiteral(": ") + about) + u')';
    return Json{{"id", name.toStdString()},
                {"header", name.toStdString()},
                {"question", text.toStdString()},
                {"options", options}};
}

void takeForm(ServerRequest &request, const Json &params)
{
    const QString server = textAt(params, "serverName");
    const QString message = textAt(params, "message");
    request.kind = ServerRequest::Kind::Form;
    request.toolName = QStringLiteral("mcp:") + server;
    request.reason = message;
    Json input{{"message", message.toStdString()}};
    if (textAt(params, "mode") == u"url") {
        input["url"] = textAt(params, "url").toStdString();
        request.complete = !textAt(params, "url").isEmpty();
    } else {
        const Json &schema = at(params, "requestedSchema");
        const Json &fields = at(schema, "properties");
        Json questions = Json::array();
        request.complete = textAt(params, "mode") == u"form" && fields.is_object();
        for (auto it = fields.begin(); request.complete && it != fields.end(); ++it) {
            const std::optional<Json> question = fieldQuestion(QString::fromStdString(it.key()), *it, message);
            request.complete = question.has_value();
            if (question)
                questions.push_back(*question);
        }
        if (!questions.empty())
            input["questions"] = questions;
        input["schema"] = schema;
    }
    request.input = dumped(input);
}

void takeElicitation(ServerRequest &request, const Json &params)
{
    const Json &meta = at(params, "_meta");
    if (textAt(meta, "codex_approval_kind") != u"mcp_tool_call") {
        takeForm(request, params);
        return;
    }
    request.kind = ServerRequest::Kind::McpTool;
    request.toolName = QStringLiteral("mcp:") + joinedName(textAt(params, "serverName"), textAt(meta, "tool_name"));
    request.reason = textAt(params, "message");
    request.input = argumentsOf(at(meta, "tool_params"));
    request.complete = !textAt(meta, "tool_name").isEmpty() && at(meta, "tool_params").is_object();
}

} // namespace

bool isObject(const QByteArray &json)
{
    return !rawjson::isTooDeep(rawjson::view(json)) &&
           Json::parse(json.begin(), json.end(), nullptr, false).is_object();
}

ServerRequest serverRequest(const QString &method, const QByteArray &id, const QByteArray &paramsText,
                            const QByteArray &raw)
{
    const Json params = Json::parse(paramsText.begin(), paramsText.end(), nullptr, false);
    ServerRequest request;
    request.id = id;
    request.method = method;
    request.turnId = textAt(params, "turnId");
    request.itemId = textAt(params, "itemId");
    request.reason = textAt(params, "reason");
    request.raw = raw;
    request.toolName = method;
    if (!params.is_object())
        return request;
    if (method == u"item/commandExecution/requestApproval") {
        takeCommand(request, params);
    } else if (method == u"item/fileChange/requestApproval") {
        request.kind = ServerRequest::Kind::FileChange;
        request.toolName = QStringLiteral("fileChange");
        request.blockedPath = textAt(params, "grantRoot");
        request.input = askedOf(params);
        request.complete = !request.itemId.isEmpty();
    } else if (method == u"item/permissions/requestApproval") {
        request.kind = ServerRequest::Kind::Permissions;
        request.toolName = QStringLiteral("permissions");
        request.input = askedOf(params);
        request.complete = at(params, "permissions").is_object();
    } else if (method == u"item/tool/requestUserInput") {
        takeUserInput(request, params);
    } else if (method == u"mcpServer/elicitation/request") {
        takeElicitation(request, params);
    } else if (method == u"item/tool/call") {
        request.kind = ServerRequest::Kind::ToolCall;
        request.itemId = textAt(params, "callId");
        request.toolName = joinedName(textAt(params, "namespace"), textAt(params, "tool"));
        request.input = argumentsOf(at(params, "arguments"));
        request.complete = !textAt(params, "tool").isEmpty();
    }
    return request;
}

Item itemOf(const QByteArray &text)
{
    const Json item = Json::parse(text.begin(), text.end(), nullptr, false);
    Item read;
    read.id = textAt(item, "id");
    read.type = textAt(item, "type");
    read.status = textAt(item, "status");
    read.toolName = read.type;
    if (read.type == u"agentMessage" || read.type == u"plan") {
        read.text = textAt(item, "text");
    } else if (read.type == u"reasoning") {
        QStringList parts;
        const Json &summary = at(item, "summary");
        if (summary.is_array()) {
            for (const Json &part : summary)
                parts.append(part.is_string() ? QString::fromStdString(part.get<std::string>()) : textAt(part, "text"));
        }
        read.text = parts.join(QStringLiteral("\n\n"));
    } else if (read.type == u"commandExecution") {
        read.input = dumped(Json{{"command", at(item, "command")}, {"cwd", at(item, "cwd")}});
        read.output = textAt(item, "aggregatedOutput");
        read.exitCode = int(numberAt(item, "exitCode"));
    } else if (read.type == u"fileChange") {
        const Json &changes = at(item, "changes");
        read.changes = changes.is_array() && !changes.empty() ? dumped(changes) : QByteArray();
        read.input = dumped(Json{{"changes", changes}});
    } else if (read.type == u"mcpToolCall") {
        read.toolName = QStringLiteral("mcp:") + joinedName(textAt(item, "server"), textAt(item, "tool"));
        read.input = argumentsOf(at(item, "arguments"));
        const Json &result = at(item, "result");
        read.output = at(item, "error").is_object() ? textAt(at(item, "error"), "message")
                      : result.is_object()          ? QString::fromUtf8(dumped(at(result, "content")))
                                                    : QString();
    } else if (read.type == u"dynamicToolCall") {
        read.toolName = joinedName(textAt(item, "namespace"), textAt(item, "tool"));
        read.input = argumentsOf(at(item, "arguments"));
        const Json &parts = at(item, "contentItems");
        QStringList texts;
        if (parts.is_array()) {
            for (const Json &part : parts)
                texts.append(textAt(part, "type") == u"inputText" ? textAt(part, "text")
                                                                  : u'[' + textAt(part, "type") + u']');
        }
        read.output = texts.join(u'\n');
    } else if (item.is_object()) {
        read.input = without(item, {"id", "type", "status", "startedAtMs", "completedAtMs", "durationMs"});
    }
    return read;
}

} // namespace engine::codex
