#include "tests/support/standinopenai.h"

#include "tests/support/standinconnection.h"

#include <QRegularExpression>
#include <QTcpServer>
#include <QThread>
#include <QUuid>
#include <future>
#include <nlohmann/json.hpp>

using nlohmann::ordered_json;

struct StandInOpenAiState : StandInState
{
    QList<StandInOpenAi::Request> responses;
};

namespace {

std::string openAiId(const char *prefix)
{
    return prefix + QUuid::createUuid().toString(QUuid::Id128).left(20).toStdString();
}

QString openAiText(const ordered_json &item)
{
    const auto content = item.find("content");
    if (content == item.end())
        return {};
    if (content->is_string())
        return QString::fromStdString(content->get<std::string>());
    QStringList texts;
    for (const ordered_json &part : *content)
        texts.append(QString::fromStdString(part.value("text", "")));
    return texts.join(u' ');
}

QString outputText(const ordered_json &item)
{
    const ordered_json output = item.value("output", ordered_json());
    return QString::fromStdString(output.is_string() ? output.get<std::string>() : output.dump());
}

StandInOpenAi::Request requestOf(const QByteArray &body)
{
    static const QRegularExpression directive(QStringLiteral(R"(\[\[(\w+)(?:\s+(.*?))?\]\])"),
                                              QRegularExpression::DotMatchesEverythingOption);
    StandInOpenAi::Request request;
    request.directive = QStringLiteral("text");
    const ordered_json json = ordered_json::parse(body.begin(), body.end(), nullptr, false);
    if (!json.is_object())
        return request;
    request.model = QString::fromStdString(json.value("model", ""));
    request.threadId = QString::fromStdString(json.value("prompt_cache_key", ""));
    for (const ordered_json &item : json.value("input", ordered_json::array())) {
        const QString type = QString::fromStdString(item.value("type", "message"));
        if (type.endsWith(u"_output")) {
            ++request.toolRounds;
            request.lastToolResult = outputText(item);
        }
        if (type != u"message" || item.value("role", "") != "user")
            continue;
        const QString text = openAiText(item);
        request.userTexts.append(text);
        for (auto found = directive.globalMatch(text); found.hasNext();) {
            const QRegularExpressionMatch match = found.next();
            request.directive = match.captured(1);
            request.arguments = match.captured(2);
            request.toolRounds = 0;
        }
    }
    return request;
}

ordered_json functionCall(const char *name, const ordered_json &arguments)
{
    return {{"type", "function_call"},
            {"id", openAiId("fc_")},
            {"call_id", openAiId("call_")},
            {"name", name},
            {"arguments", arguments.dump()}};
}

ordered_json commandCall(const QString &command)
{
    return functionCall("exec_command", {{"cmd", command.trimmed().toStdString()}});
}

// What acts in this round; empty: only words are said.
QList<ordered_json> callsOf(const StandInOpenAi::Request &request)
{
    const QString &name = request.directive;
    const QString head = request.arguments.section(u' ', 0, 0).trimmed();
    const QString rest = request.arguments.section(u' ', 1);
    if (name == u"seq") {
        const QStringList commands = request.arguments.split(QStringLiteral(";;"));
        return request.toolRounds < commands.size() ? QList<ordered_json>{commandCall(commands.at(request.toolRounds))}
                                                    : QList<ordered_json>{};
    }
    if (request.toolRounds > 0)
        return {};
    if (name == u"exec")
        return {commandCall(request.arguments)};
    if (name == u"escalate")
        return {functionCall("exec_command", {{"cmd", request.arguments.toStdString()},
                                              {"sandbox_permissions", "require_escalated"},
                                              {"justification", "It must write."}})};
    if (name == u"add")
        return {ordered_json{{"type", "custom_tool_call"},
                             {"id", openAiId("ctc_")},
                             {"call_id", openAiId("call_")},
                             {"name", "apply_patch"},
                             {"input", "*** Begin Patch\n*** Add File: " + head.toStdString() + "\n+" + rest.toStdString() +
                                           "\n*** End Patch\n"}}};
    if (name == u"tool") {
        ordered_json call = functionCall(head.toUtf8().constData(), ordered_json::object());
        call["arguments"] = rest.isEmpty() ? "{}" : rest.toStdString();
        call["namespace"] = "signalbox";
        return {call};
    }
    QList<ordered_json> both;
    if (name == u"two") {
        for (const QString &command : request.arguments.split(QStringLiteral(";;")))
            both.append(commandCall(command));
    }
    return both;
}

QStringList wordsOf(const StandInOpenAi::Request &request)
{
    const QStringList given = request.arguments.split(u' ', Qt::SkipEmptyParts);
    if (request.directive == u"slow" || request.directive == u"cut") {
        QStringList words;
        for (int i = 0; i < given.value(0, QStringLiteral("3")).toInt(); ++i)
            words.append(QStringLiteral("word%1").arg(i));
        return words;
    }
    if (request.toolRounds > 0)
        return QString(QStringLiteral("done: ") + request.lastToolResult.simplified().right(60)).split(u' ');
    const bool says = (request.directive == u"text" || request.directive == u"think") && !given.isEmpty();
    return says ? given : QStringList{QStringLiteral("Hello"), QStringLiteral("from"), QStringLiteral("the"), QStringLiteral("stand-in.")};
}

// Collects events into steps; what needs no wait joins the step before it.
class ResponseWriter
{
public:
    void add(const char *type, ordered_json event)
    {
        event["type"] = type;
        if (m_answer.steps.isEmpty() || m_delay > 0)
            m_answer.steps.append(StandInStep{m_delay, {}});
        m_delay = 0;
        m_answer.steps.last().bytes +=
            QByteArray("event: ") + type + "\ndata: " + QByteArray::fromStdString(event.dump()) + "\n\n";
    }
    void wait(int ms) { m_delay += ms; }
    void addItem(ordered_json started, const ordered_json &whole)
    {
        add("response.output_item.added", {{"output_index", m_output.size()}, {"item", std::move(started)}});
        finishItem(whole);
    }
    void finishItem(const ordered_json &whole)
    {
        add("response.output_item.done", {{"output_index", m_output.size()}, {"item", whole}});
        m_output.push_back(whole);
    }
    size_t index() const { return m_output.size(); }
    const ordered_json &output() const { return m_output; }
    StandInAnswer answer() const { return m_answer; }
    void cut() { m_answer.cut = true; }

private:
    StandInAnswer m_answer;
    ordered_json m_output = ordered_json::array();
    int m_delay = 0;
};

void writeThought(ResponseWriter &writer)
{
    const ordered_json thought{{"type", "reasoning"},
                               {"id", openAiId("rs_")},
                               {"summary", ordered_json::array()},
                               {"encrypted_content", "ZmFrZQ=="}};
    const ordered_json place{{"item_id", thought["id"]}, {"output_index", writer.index()}, {"summary_index", 0}};
    writer.add("response.output_item.added", {{"output_index", writer.index()}, {"item", thought}});
    ordered_json part = place;
    part["part"] = {{"type", "summary_text"}, {"text", ""}};
    writer.add("response.reasoning_summary_part.added", part);
    ordered_json delta = place;
    delta["delta"] = "Let me think about it.";
    writer.add("response.reasoning_summary_text.delta", delta);
    ordered_json whole = thought;
    whole["summary"].push_back({{"type", "summary_text"}, {"text", "Let me think about it."}});
    writer.finishItem(whole);
}

// False: the answer ends in its middle.
bool writeWords(ResponseWriter &writer, const StandInOpenAi::Request &request)
{
    const int delay = request.directive == u"slow" ? request.arguments.section(u' ', 1, 1).toInt() : 0;
    ordered_json message{{"type", "message"},
                         {"id", openAiId("msg_")},
                         {"role", "assistant"},
                         {"status", "in_progress"},
                         {"content", ordered_json::array()}};
    writer.add("response.output_item.added", {{"output_index", writer.index()}, {"item", message}});
    QString text;
    for (const QString &word : wordsOf(request)) {
        const QString piece = text.isEmpty() ? word : u' ' + word;
        text += piece;
        writer.add("response.output_text.delta", {{"item_id", message["id"]},
                                                  {"output_index", writer.index()},
                                                  {"content_index", 0},
                                                  {"delta", piece.toStdString()}});
        writer.wait(delay);
    }
    if (request.directive == u"cut")
        return false;
    message["status"] = "completed";
    message["content"].push_back(
        {{"type", "output_text"}, {"text", text.toStdString()}, {"annotations", ordered_json::array()}});
    writer.finishItem(message);
    return true;
}

StandInAnswer responseTo(const StandInOpenAi::Request &request)
{
    ResponseWriter writer;
    const std::string id = openAiId("resp_");
    writer.add("response.created", {{"response", {{"id", id}, {"object", "response"}, {"status", "in_progress"}}}});
    if (request.directive == u"think")
        writeThought(writer);
    const QList<ordered_json> calls = callsOf(request);
    for (const ordered_json &call : calls) {
        ordered_json started = call;
        started[call.contains("arguments") ? "arguments" : "input"] = "";
        writer.addItem(started, call);
    }
    if (calls.isEmpty() && !writeWords(writer, request)) {
        writer.cut();
        return writer.answer();
    }
    const bool counted = request.directive == u"usage";
    const int input = counted ? request.arguments.section(u' ', 0, 0).toInt() : 100;
    const int output = counted ? request.arguments.section(u' ', 1, 1).toInt() : 25;
    writer.add("response.completed",
               {{"response",
                 {{"id", id},
                  {"object", "response"},
                  {"status", "completed"},
                  {"output", writer.output()},
                  {"usage",
                   {{"input_tokens", input},
                    {"input_tokens_details", {{"cached_tokens", 0}}},
                    {"output_tokens", output},
                    {"output_tokens_details", {{"reasoning_tokens", 0}}},
                    {"total_tokens", input + output}}}}}});
    return writer.answer();
}

StandInAnswer openAiError(int status)
{
    static const QMap<int, const char *> codes{{401, "invalid_api_key"}, {429, "rate_limit_exceeded"}, {503, "server_is_overloaded"}};
    const char *code = codes.value(status, "server_error");
    StandInAnswer answer;
    answer.status = status;
    answer.body = QByteArray::fromStdString(
        ordered_json{{"error", {{"message", "stand-in error " + std::to_string(status)}, {"type", code}, {"code", code}}}}.dump());
    return answer;
}

class OpenAiConnection final : public StandInConnection
{
public:
    OpenAiConnection(QTcpSocket *socket, StandInOpenAiState &state, QObject *parent)
        : StandInConnection(socket, state, parent), m_state(state)
    {
    }

protected:
    StandInAnswer respond(const QByteArray &method, const QByteArray &path, const QByteArray &body) override
    {
        if (method != "POST" || path != "/v1/responses")
            return openAiError(404);
        StandInOpenAi::Request request = requestOf(body);
        request.key = QString::fromUtf8(header("authorization").replace("Bearer ", ""));
        const QStringList words = request.arguments.split(u' ', Qt::SkipEmptyParts);
        const QMutexLocker lock(&m_state.mutex);
        m_state.responses.append(request);
        if (request.key == u"bad-key")
            return openAiError(401);
        if (request.directive == u"status")
            return openAiError(words.value(0).toInt());
        if (request.directive == u"statusonce" && ++m_state.failures[request.arguments] <= words.value(1, QStringLiteral("1")).toInt())
            return openAiError(words.value(0).toInt());
        return responseTo(request);
    }

private:
    StandInOpenAiState &m_state;
};

// The listener is born and dies in the thread that answers.
class OpenAiThread final : public QThread
{
public:
    OpenAiThread(StandInOpenAiState &state, quint16 port) : m_state(state), m_wantedPort(port) {}

    std::future<quint16> listening() { return m_listening.get_future(); }

protected:
    void run() override
    {
        QTcpServer server;
        connect(&server, &QTcpServer::newConnection, &server, [this, &server] {
            while (QTcpSocket *socket = server.nextPendingConnection())
                new OpenAiConnection(socket, m_state, &server);
        });
        server.listen(QHostAddress::LocalHost, m_wantedPort);
        m_listening.set_value(server.serverPort());
        exec();
    }

private:
    StandInOpenAiState &m_state;
    quint16 m_wantedPort;
    std::promise<quint16> m_listening;
};

} // namespace

StandInOpenAi::StandInOpenAi(quint16 port) : m_state(std::make_unique<StandInOpenAiState>())
{
    auto thread = std::make_unique<OpenAiThread>(*m_state, port);
    std::future<quint16> listening = thread->listening();
    thread->start();
    m_port = listening.get();
    m_thread = std::move(thread);
}

StandInOpenAi::~StandInOpenAi()
{
    m_thread->quit();
    m_thread->wait();
}

QList<StandInOpenAi::Request> StandInOpenAi::requests() const
{
    const QMutexLocker lock(&m_state->mutex);
    return m_state->responses;
}

QStringList StandInOpenAi::paths() const
{
    const QMutexLocker lock(&m_state->mutex);
    return m_state->paths;
}
