#include "tests/support/standinscript.h"

#include <QRegularExpression>
#include <QUuid>
#include <nlohmann/json.hpp>

using nlohmann::ordered_json;

namespace {

struct StandInBlock
{
    enum class Kind { Text, Thinking, Tool };
    Kind kind = Kind::Text;
    QStringList words;
    int delayMs = 0;
    int pauseAtEndMs = 0;
    QString tool;
    ordered_json input;
};

std::string utf8(const QString &text)
{
    return text.toStdString();
}

std::string newWireId(const char *prefix)
{
    return prefix + QUuid::createUuid().toString(QUuid::Id128).left(20).toStdString();
}

QString textOf(const ordered_json &value)
{
    return value.is_string() ? QString::fromStdString(value.get<std::string>()) : QString();
}

QString resultText(const ordered_json &part)
{
    const auto content = part.find("content");
    if (content == part.end())
        return {};
    if (content->is_string())
        return textOf(*content);
    QStringList texts;
    for (const ordered_json &piece : *content)
        texts.append(piece.is_object() ? textOf(piece.value("text", ordered_json(""))) : QString());
    return texts.join(u' ');
}

void takeUserText(StandInPlan &plan, const QString &text)
{
    static const QRegularExpression directive(QStringLiteral(R"(\[\[(\w+)(?:\s+(.*?))?\]\])"),
                                              QRegularExpression::DotMatchesEverythingOption);
    if (text.startsWith(QLatin1String("<system-reminder>")))
        return;
    plan.lastUserText = text;
    plan.roundsSinceText = 0;
    auto matches = directive.globalMatch(text);
    while (matches.hasNext()) {
        const QRegularExpressionMatch match = matches.next();
        plan.name = match.captured(1);
        plan.arguments = match.captured(2);
        plan.rounds = 0;
    }
}

void takeMessage(StandInPlan &plan, const ordered_json &message)
{
    const bool isUser = message.value("role", "") == "user";
    const auto content = message.find("content");
    if (content == message.end())
        return;
    if (content->is_string()) {
        if (isUser)
            takeUserText(plan, textOf(*content));
        return;
    }
    bool usedTool = false;
    for (const ordered_json &part : *content) {
        const std::string type = part.value("type", "");
        if (isUser && type == "text")
            takeUserText(plan, textOf(part.value("text", ordered_json(""))));
        else if (isUser && type == "tool_result")
            plan.lastToolResult = resultText(part);
        usedTool |= !isUser && type == "tool_use";
    }
    plan.rounds += usedTool ? 1 : 0;
    plan.roundsSinceText += usedTool ? 1 : 0;
}

StandInBlock textBlock(const QString &text)
{
    StandInBlock block;
    block.words = text.split(u' ');
    return block;
}

StandInBlock countedBlock(int words, int delayMs, int pauseAtEndMs)
{
    StandInBlock block;
    for (int i = 0; i < words; ++i)
        block.words.append(QStringLiteral("word%1").arg(i));
    block.delayMs = delayMs;
    block.pauseAtEndMs = pauseAtEndMs;
    return block;
}

StandInBlock toolBlock(const QString &name, ordered_json input)
{
    StandInBlock block;
    block.kind = StandInBlock::Kind::Tool;
    block.tool = name;
    block.input = std::move(input);
    return block;
}

StandInBlock bashBlock(const QString &command)
{
    return toolBlock(QStringLiteral("Bash"), {{"command", utf8(command.trimmed())}, {"description", "Run command"}});
}

QList<StandInBlock> firstRound(const StandInPlan &plan)
{
    const QString &name = plan.name;
    const QString head = plan.arguments.section(u' ', 0, 0).trimmed();
    const QString rest = plan.arguments.section(u' ', 1);
    if (name == u"bash")
        return {textBlock(QStringLiteral("I will run it.")), bashBlock(plan.arguments)};
    if (name == u"write")
        return {toolBlock(QStringLiteral("Write"), {{"file_path", utf8(head)}, {"content", utf8(rest)}})};
    if (name == u"read")
        return {toolBlock(QStringLiteral("Read"), {{"file_path", utf8(plan.arguments.trimmed())}})};
    if (name == u"tool") {
        ordered_json input = ordered_json::parse(utf8(rest), nullptr, false);
        return {toolBlock(head, input.is_object() ? input : ordered_json::object())};
    }
    QList<StandInBlock> both;
    if (name == u"two") {
        for (const QString &command : plan.arguments.split(QStringLiteral(";;")))
            both.append(bashBlock(command));
    }
    return both;
}

QList<StandInBlock> blocksOf(const StandInPlan &plan)
{
    const QString &name = plan.name;
    const QStringList words = plan.arguments.split(u' ', Qt::SkipEmptyParts);
    if (name == u"seq") {
        const QStringList commands = plan.arguments.split(QStringLiteral(";;"));
        if (plan.rounds < commands.size())
            return {bashBlock(commands.at(plan.rounds))};
    }
    if (name == u"loop")
        return {bashBlock(plan.arguments.isEmpty() ? QStringLiteral("echo loop") : plan.arguments)};
    if (plan.rounds == 0) {
        const QList<StandInBlock> first = firstRound(plan);
        if (!first.isEmpty())
            return first;
    }
    static const QStringList toolPlans{QStringLiteral("bash"), QStringLiteral("write"), QStringLiteral("read"),
                                       QStringLiteral("tool"), QStringLiteral("two"),   QStringLiteral("seq")};
    if (toolPlans.contains(name))
        return {textBlock(QStringLiteral("done: ") + plan.lastToolResult.left(60).replace(u'\n', u' '))};
    if (name == u"think") {
        StandInBlock thought = textBlock(QStringLiteral("Let me think about it."));
        thought.kind = StandInBlock::Kind::Thinking;
        return {thought, textBlock(plan.arguments.isEmpty() ? QStringLiteral("Thought done.") : plan.arguments)};
    }
    if (name == u"slow")
        return {countedBlock(words.value(0, QStringLiteral("20")).toInt(),
                             words.value(1, QStringLiteral("200")).toInt(), 0)};
    if (name == u"stall")
        return {countedBlock(2, 0, words.value(0, QStringLiteral("5000")).toInt())};
    if (name == u"cut")
        return {countedBlock(words.value(0, QStringLiteral("3")).toInt(), 0, 0)};
    const bool hasText = (name == u"text") && !plan.arguments.isEmpty();
    return {textBlock(hasText ? plan.arguments : QStringLiteral("Hello from the stand-in."))};
}

QByteArray eventText(const ordered_json &event)
{
    return QByteArray::fromStdString("event: " + event.at("type").get<std::string>() + "\ndata: " + event.dump() +
                                     "\n\n");
}

// Collects events into steps; text that needs no wait joins the step before it.
class StepWriter
{
public:
    void add(const ordered_json &event)
    {
        if (m_steps.isEmpty() || m_pendingDelay > 0)
            m_steps.append(StandInStep{m_pendingDelay, {}});
        m_pendingDelay = 0;
        m_steps.last().bytes += eventText(event);
    }
    void wait(int ms) { m_pendingDelay += ms; }
    QList<StandInStep> steps() const { return m_steps; }

private:
    QList<StandInStep> m_steps;
    int m_pendingDelay = 0;
};

void writeDelta(StepWriter &writer, int index, const char *type, const char *field, const std::string &text)
{
    writer.add({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", type}, {field, text}}}});
}

void writeBlock(StepWriter &writer, int index, const StandInBlock &block)
{
    const auto start = [&](const ordered_json &content) {
        writer.add({{"type", "content_block_start"}, {"index", index}, {"content_block", content}});
    };
    switch (block.kind) {
    case StandInBlock::Kind::Tool: {
        start({{"type", "tool_use"},
               {"id", newWireId("toolu_")},
               {"name", utf8(block.tool)},
               {"input", ordered_json::object()}});
        // ASCII, so that no piece splits a character.
        const std::string ascii = block.input.dump(-1, ' ', true);
        const size_t piece = std::max<size_t>(1, ascii.size() / 3);
        for (size_t at = 0; at < ascii.size(); at += piece)
            writeDelta(writer, index, "input_json_delta", "partial_json", ascii.substr(at, piece));
        return;
    }
    case StandInBlock::Kind::Thinking:
        start({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
        writeDelta(writer, index, "thinking_delta", "thinking", utf8(block.words.join(u' ')));
        writeDelta(writer, index, "signature_delta", "signature", "ZmFrZQ==");
        return;
    case StandInBlock::Kind::Text:
        break;
    }
    start({{"type", "text"}, {"text", ""}});
    for (qsizetype i = 0; i < block.words.size(); ++i) {
        writeDelta(writer, index, "text_delta", "text",
                   utf8((i == 0 ? QString() : QStringLiteral(" ")) + block.words.at(i)));
        writer.wait(block.delayMs);
    }
    writer.wait(block.pauseAtEndMs);
}

StandInAnswer wholeAnswer(ordered_json head, const QList<StandInBlock> &blocks)
{
    for (const StandInBlock &block : blocks) {
        if (block.kind == StandInBlock::Kind::Tool)
            head["content"].push_back({{"type", "tool_use"},
                                       {"id", newWireId("toolu_")},
                                       {"name", utf8(block.tool)},
                                       {"input", block.input}});
        else
            head["content"].push_back({{"type", "text"}, {"text", utf8(block.words.join(u' '))}});
    }
    StandInAnswer answer;
    answer.body = QByteArray::fromStdString(head.dump());
    return answer;
}

} // namespace

StandInPlan standInPlan(const QByteArray &body)
{
    StandInPlan plan;
    const ordered_json request = ordered_json::parse(body.begin(), body.end(), nullptr, false);
    if (!request.is_object())
        return plan;
    plan.model = textOf(request.value("model", ordered_json("")));
    plan.stream = request.value("stream", false);
    const ordered_json messages = request.value("messages", ordered_json::array());
    plan.messageCount = int(messages.size());
    for (const ordered_json &message : messages)
        takeMessage(plan, message);
    return plan;
}

StandInAnswer standInError(int status, const QString &message)
{
    static const QMap<int, const char *> types{{400, "invalid_request_error"},
                                               {401, "authentication_error"},
                                               {403, "permission_error"},
                                               {404, "not_found_error"},
                                               {413, "request_too_large"},
                                               {429, "rate_limit_error"},
                                               {500, "api_error"},
                                               {529, "overloaded_error"}};
    StandInAnswer answer;
    answer.status = status;
    const std::string text = message.isEmpty() ? "stand-in error " + std::to_string(status) : utf8(message);
    const ordered_json error{{"type", "error"},
                             {"error", {{"type", types.value(status, "api_error")}, {"message", text}}}};
    answer.body = QByteArray::fromStdString(error.dump());
    return answer;
}

StandInAnswer standInAnswer(const StandInPlan &plan)
{
    const QList<StandInBlock> blocks = blocksOf(plan);
    bool usesTool = false;
    for (const StandInBlock &block : blocks)
        usesTool |= block.kind == StandInBlock::Kind::Tool;
    const char *stop = usesTool ? "tool_use" : "end_turn";
    int input = 100;
    int output = 25;
    if (plan.name == u"usage") {
        input = plan.arguments.section(u' ', 0, 0).toInt();
        output = plan.arguments.section(u' ', 1, 1).toInt();
    }
    ordered_json head{{"id", newWireId("msg_")},
                      {"type", "message"},
                      {"role", "assistant"},
                      {"model", utf8(plan.model)},
                      {"content", ordered_json::array()},
                      {"stop_reason", nullptr},
                      {"stop_sequence", nullptr},
                      {"usage",
                       {{"input_tokens", input},
                        {"cache_creation_input_tokens", 0},
                        {"cache_read_input_tokens", 0},
                        {"output_tokens", 1}}}};
    if (!plan.stream) {
        head["stop_reason"] = stop;
        head["usage"]["output_tokens"] = output;
        return wholeAnswer(head, blocks);
    }
    StepWriter writer;
    writer.add({{"type", "message_start"}, {"message", head}});
    writer.add({{"type", "ping"}});
    StandInAnswer answer;
    for (qsizetype i = 0; i < blocks.size(); ++i) {
        writeBlock(writer, int(i), blocks.at(i));
        if (plan.name == u"cut") {
            answer.steps = writer.steps();
            answer.cut = true;
            return answer;
        }
        writer.add({{"type", "content_block_stop"}, {"index", int(i)}});
    }
    writer.add({{"type", "message_delta"},
                {"delta", {{"stop_reason", stop}, {"stop_sequence", nullptr}}},
                {"usage", {{"output_tokens", output}}}});
    writer.add({{"type", "message_stop"}});
    answer.steps = writer.steps();
    return answer;
}
