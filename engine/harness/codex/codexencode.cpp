#include "engine/harness/codex/codexcodec.h"
#include "engine/harness/codex/codexjson.h"

#include <nlohmann/json.hpp>

namespace engine::codex {

using Json = nlohmann::ordered_json;

namespace {

// An empty object when the text is none.
Json objectOf(const QByteArray &text)
{
    if (!isObject(text))
        return Json::object();
    return Json::parse(text.begin(), text.end(), nullptr, false);
}

// Members one behind the other: ids and decided values keep their exact text.
QByteArray requestText(const QByteArray &id, const char *method, const Json &params)
{
    return QByteArray(R"({"method":")") + method + R"(","id":)" + id + R"(,"params":)" + dumped(params) + "}\n";
}

QByteArray answerText(const QByteArray &id, const QByteArray &result)
{
    return R"({"id":)" + id + R"(,"result":)" + result + "}\n";
}

Json textInput(const QString &text)
{
    return Json::array({Json{{"type", "text"}, {"text", text.toStdString()}, {"text_elements", Json::array()}}});
}

Json sandboxPolicy(const QString &sandbox)
{
    const std::string type = sandboxType(sandbox, true).toStdString();
    if (sandbox == u"workspace-write")
        return {{"type", type},
                {"writableRoots", Json::array()},
                {"networkAccess", false},
                {"excludeTmpdirEnvVar", false},
                {"excludeSlashTmp", false}};
    if (sandbox == u"danger-full-access")
        return {{"type", type}};
    if (sandbox == u"external")
        return {{"type", type}, {"networkAccess", "restricted"}};
    return {{"type", type}, {"networkAccess", false}};
}

// One namespace of functions, so that no name meets one of the harness's own.
Json toolList(const QList<ToolDefinition> &tools)
{
    Json functions = Json::array();
    for (const ToolDefinition &tool : tools) {
        Json schema = objectOf(tool.inputSchema);
        if (schema.empty())
            schema = {{"type", "object"}};
        functions.push_back({{"type", "function"},
                             {"name", tool.name.toStdString()},
                             {"description", tool.description.toStdString()},
                             {"inputSchema", std::move(schema)}});
    }
    return Json::array({Json{{"type", "namespace"},
                             {"name", "signalbox"},
                             {"description", "Tools of the console that this conversation runs in."},
                             {"tools", std::move(functions)}}});
}

Json typedField(const Json &field, const QString &answer)
{
    const QString type = textAt(field, "type");
    bool isNumber = false;
    if (type == u"integer") {
        const qint64 number = answer.toLongLong(&isNumber);
        if (isNumber)
            return number;
    }
    if (type == u"number") {
        const double number = answer.toDouble(&isNumber);
        if (isNumber)
            return number;
    }
    if (type == u"boolean" && (answer == u"true" || answer == u"false"))
        return answer == u"true";
    return answer.toStdString();
}

// The answer of a person to a question: stands under its text, or under its id.
const Json &answerTo(const Json &answers, const Json &question)
{
    const Json &byText = at(answers, textAt(question, "question").toUtf8().constData());
    return byText.is_null() ? at(answers, textAt(question, "id").toUtf8().constData()) : byText;
}

} // namespace

QString sandboxType(const QString &sandbox, bool forTurn)
{
    if (sandbox == u"read-only")
        return QStringLiteral("readOnly");
    if (sandbox == u"workspace-write")
        return QStringLiteral("workspaceWrite");
    if (sandbox == u"danger-full-access")
        return QStringLiteral("dangerFullAccess");
    if (sandbox == u"external")
        return forTurn ? QStringLiteral("externalSandbox") : QStringLiteral("dangerFullAccess");
    return {};
}

GatePolicy gatePolicy(const Agent &agent)
{
    GatePolicy policy{agent.approvalPolicy, agent.sandboxMode};
    if (policy.sandbox.isEmpty())
        policy.sandbox = agent.sandbox.isEmpty() ? QStringLiteral("read-only") : agent.sandbox;
    if (agent.gate == Gate::All)
        policy.approval = QStringLiteral("untrusted"); // the only one under which every command and patch asks
    else if (policy.approval.isEmpty())
        policy.approval = QStringLiteral("on-request");
    return policy;
}

QByteArray jsonText(const QString &text)
{
    return dumped(Json(text.toStdString()));
}

QByteArray initializeLine(const QByteArray &id)
{
    return requestText(id, "initialize",
                       {{"clientInfo", {{"name", "signalbox"}, {"title", "Signalbox"}, {"version", SIGNALBOX_VERSION}}},
                        {"capabilities", {{"experimentalApi", true}, {"requestAttestation", false}}}});
}

QByteArray initializedLine()
{
    return "{\"method\":\"initialized\"}\n";
}

QByteArray threadLine(const QByteArray &id, const ThreadRequest &request)
{
    Json params = Json::object();
    if (!request.threadId.isEmpty())
        params["threadId"] = request.threadId.toStdString();
    params["cwd"] = request.workspace.toStdString();
    params["approvalPolicy"] = request.policy.approval.toStdString();
    // An external sandbox can be named on turns only.
    params["sandbox"] =
        request.policy.sandbox == u"external" ? "danger-full-access" : request.policy.sandbox.toStdString();
    if (!request.model.isEmpty())
        params["model"] = request.model.toStdString();
    // A shell in a terminal, once approved, could be typed into without any question.
    params["config"] = {{"features.unified_exec_tty", false}};
    if (request.method == u"thread/start") {
        if (!request.instructions.isEmpty())
            params["developerInstructions"] = request.instructions.toStdString();
        if (!request.tools.isEmpty())
            params["dynamicTools"] = toolList(request.tools);
    } else {
        params["excludeTurns"] = true;
    }
    return requestText(id, request.method.toUtf8().constData(), params);
}

QByteArray turnLine(const QByteArray &id, const QString &threadId, const QString &text, const GatePolicy &policy,
                    const QString &workspace, const QString &model)
{
    Json params{{"threadId", threadId.toStdString()},
                {"input", textInput(text)},
                {"approvalPolicy", policy.approval.toStdString()},
                {"sandboxPolicy", sandboxPolicy(policy.sandbox)}};
    if (!workspace.isEmpty())
        params["cwd"] = workspace.toStdString();
    if (!model.isEmpty())
        params["model"] = model.toStdString();
    return requestText(id, "turn/start", params);
}

QByteArray steerLine(const QByteArray &id, const QString &threadId, const QString &turnId, const QString &text)
{
    return requestText(
        id, "turn/steer",
        {{"threadId", threadId.toStdString()}, {"expectedTurnId", turnId.toStdString()}, {"input", textInput(text)}});
}

QByteArray interruptLine(const QByteArray &id, const QString &threadId, const QString &turnId)
{
    return requestText(id, "turn/interrupt", {{"threadId", threadId.toStdString()}, {"turnId", turnId.toStdString()}});
}

QByteArray cleanTerminalsLine(const QByteArray &id, const QString &threadId)
{
    return requestText(id, "thread/backgroundTerminals/clean", {{"threadId", threadId.toStdString()}});
}

QByteArray newestTurnLine(const QByteArray &id, const QString &threadId)
{
    return requestText(id, "thread/turns/list", {{"threadId", threadId.toStdString()}, {"limit", 1}});
}

QByteArray decisionLine(const QByteArray &id, bool accept, const QString &note)
{
    QByteArray line =
        R"({"id":)" + id + (accept ? R"(,"result":{"decision":"accept"})" : R"(,"result":{"decision":"decline"})");
    if (!note.isEmpty())
        line += R"(,"signalbox":)" + dumped(Json{{"note", note.toStdString()}});
    return line + "}\n";
}

QByteArray permissionsLine(const QByteArray &id, const QByteArray &decided)
{
    Json granted = at(objectOf(decided), "permissions");
    if (!granted.is_object())
        granted = Json::object();
    for (auto it = granted.begin(); it != granted.end();)
        it = it->is_null() ? granted.erase(it) : std::next(it);
    return answerText(id, dumped<Json>({{"permissions", granted}, {"scope", "turn"}}));
}

QByteArray answersLine(const QByteArray &id, const QByteArray &decided)
{
    const Json form = objectOf(decided);
    const Json &answers = at(form, "answers");
    Json given = Json::object();
    const Json &questions = at(form, "questions");
    if (questions.is_array()) {
        for (const Json &question : questions) {
            const Json &answer = answerTo(answers, question);
            Json list = Json::array();
            if (answer.is_array())
                list = answer;
            else if (!answer.is_null())
                list.push_back(answer);
            given[textAt(question, "id").toStdString()] = {{"answers", list}};
        }
    }
    return answerText(id, dumped<Json>({{"answers", given}}));
}

QByteArray formLine(const QByteArray &id, bool accept, const QByteArray &decided, const QByteArray &asked)
{
    if (!accept)
        return answerText(id, R"({"action":"decline","content":null,"_meta":null})");
    const Json form = objectOf(decided);
    const Json questions = at(objectOf(asked), "questions");
    const Json schema = at(objectOf(asked), "schema");
    Json content = Json::object();
    if (questions.is_array()) {
        for (const Json &question : questions) {
            const Json &answer = answerTo(at(form, "answers"), question);
            const QString name = textAt(question, "id");
            if (answer.is_string())
                content[name.toStdString()] = typedField(at(at(schema, "properties"), name.toUtf8().constData()),
                                                         QString::fromStdString(answer.get<std::string>()));
            else if (!answer.is_null())
                content[name.toStdString()] = answer;
        }
    }
    return answerText(id, dumped<Json>({{"action", "accept"}, {"content", content}, {"_meta", nullptr}}));
}

QByteArray toolReplyLine(const QByteArray &id, const ToolReply &reply)
{
    return answerText(
        id,
        dumped<Json>({{"contentItems", Json::array({Json{{"type", "inputText"}, {"text", reply.text.toStdString()}}})},
                      {"success", !reply.isError}}));
}

QByteArray resultLine(const QByteArray &id, const QByteArray &result)
{
    return answerText(id, dumped(objectOf(result)));
}

QByteArray errorLine(const QByteArray &id, int code, const QString &message)
{
    return R"({"id":)" + id + R"(,"error":)" + dumped<Json>({{"code", code}, {"message", message.toStdString()}}) +
           "}\n";
}

QByteArray fileChangeInput(const QByteArray &changes, const QByteArray &asked)
{
    Json input{{"changes", Json::parse(changes.begin(), changes.end(), nullptr, false)}};
    const Json more = objectOf(asked);
    for (auto it = more.begin(); it != more.end(); ++it)
        input[it.key()] = *it;
    return dumped(input);
}

QByteArray withCaller(const QByteArray &arguments, const QString &nativeSessionId)
{
    Json json = objectOf(arguments);
    json[callerSessionKey] = nativeSessionId.toStdString();
    return dumped(json);
}

} // namespace engine::codex
