#include "engine/harness/linesplitter.h"
#include "tests/harness/driverlog.h"

#include <QTest>
#include <QUuid>
#include <nlohmann/json.hpp>

// moc's preprocessor stumbles over raw strings in arguments of macros that print them.
#ifdef Q_MOC_RUN
#undef QCOMPARE
#define QCOMPARE(...)
#endif

using namespace engine;

namespace {

const QString session = QStringLiteral("11111111-2222-4333-8444-555555555555");

QByteArray asking(const QByteArray &requestId, const QByteArray &rest)
{
    return R"({"type":"control_request","request_id":")" + requestId + R"(","request":{"subtype":"can_use_tool",)" + rest + "}}";
}

nlohmann::json responseOf(const QList<InputLine> &inputs)
{
    return inputs.size() == 1 ? nlohmann::json::parse(inputs.first().bytes.toStdString())["response"] : nlohmann::json();
}

struct Ready
{
    explicit Ready(Gate gate = Gate::Native)
    {
        driver->begin(contextFor(session, gate));
        driver->feed(R"({"type":"control_response","response":{"subtype":"success","request_id":"sb-initialize","response":{}}})");
    }
    QStringList feed(const QByteArray &line)
    {
        const DriverOutput output = driver->feed(line);
        inputs = output.inputs;
        QStringList log;
        for (const HarnessEvent &event : output.events)
            log.append(describe(event));
        return log;
    }

    FakeTools tools;
    std::unique_ptr<HarnessDriver> driver = makeClaudeDriver(tools);
    QList<InputLine> inputs;
};

} // namespace

class TestClaudeDriver : public QObject
{
    Q_OBJECT

private slots:
    void argv_data();
    void argv();
    void environment();
    void gate();
    void b81_unknownKinds_data();
    void b81_unknownKinds();
    void b81_unknownRequestIsAnsweredAndKept();
    void b85_oneIdForTwoActions();
    void allowAndDeny();
    void allowRefusesWhatIsNoObject();
    void tooDeepIsNeverAllowed();
    void mcpServer();
    void toolThatThrows();
    void interruptCancelsWhatIsQueued();
    void setModelAndMode();
    void identityIsToldOnce();
    void startFailures();
    void exitInTurn();
    void costs();
    void promptUuid();
    void partialsAreReplaced();
    void bytewiseEqualsWhole();
};

void TestClaudeDriver::argv_data()
{
    QTest::addColumn<QString>("version");
    QTest::addColumn<bool>("resume");
    QTest::addColumn<QString>("expected");
    const QString common = QStringLiteral(
        "/bin/claude --print --input-format stream-json --output-format stream-json --verbose --include-partial-messages "
        "--permission-prompt-tool stdio --setting-sources '' --strict-mcp-config %1 ") + session +
        QStringLiteral(" --model m2 --permission-mode plan --append-system-prompt 'be brief' --max-turns 7%2 "
                       "--allowedTools Read 'Bash(git log *)' mcp__signalbox__session_info --disallowedTools WebFetch");
    QTest::newRow("197") << "2.1.197" << false << common.arg(QStringLiteral("--session-id"), QString());
    QTest::newRow("332") << "2.1.332" << true
                         << common.arg(QStringLiteral("--resume"), QStringLiteral(" --system-prompt-snapshot off"));
}

void TestClaudeDriver::argv()
{
    QFETCH(QString, version);
    QFETCH(bool, resume);
    QFETCH(QString, expected);
    LaunchContext context = contextFor(session);
    context.program = QStringLiteral("/bin/claude");
    context.version = version;
    context.resume = resume;
    context.agent.model = QStringLiteral("m1");
    context.session.model = QStringLiteral("m2");
    context.agent.permissionMode = QStringLiteral("default");
    context.session.permissionMode = QStringLiteral("plan");
    context.agent.instructions = QStringLiteral("be brief");
    context.agent.maxTurns = 7;
    context.agent.allowedTools = QStringList{QStringLiteral("Read"), QStringLiteral("Bash(git log *)")};
    context.agent.disallowedTools = QStringList{QStringLiteral("WebFetch")};
    FakeTools tools;
    QStringList shown;
    for (const QString &word : makeClaudeDriver(tools)->launchSpec(context).argv)
        shown.append(word.isEmpty() || word.contains(u' ') ? u'\'' + word + u'\'' : word);
    QCOMPARE(shown.join(u' '), expected);

    context.agent.maxTurns = 0;
    context.agent.gate = Gate::All;
    context.agent.allowedTools.clear();
    const QStringList plain = makeClaudeDriver(tools)->launchSpec(context).argv;
    QVERIFY(!plain.contains(QStringLiteral("--max-turns")));
    QVERIFY(!plain.contains(QStringLiteral("--allowedTools")));
    QVERIFY(!plain.contains(QStringLiteral("--continue")));
}

void TestClaudeDriver::environment()
{
    LaunchContext context = contextFor(session);
    context.configFolder = QStringLiteral("/data/config");
    context.workspace = QStringLiteral("/ws");
    context.agent.keyVariable = QStringLiteral("MY_KEY");
    context.agent.environment.insert(QStringLiteral("TERM"), QStringLiteral("mine"));
    context.hostEnvironment = {{QStringLiteral("PATH"), QStringLiteral("/p")},   {QStringLiteral("MY_KEY"), QStringLiteral("k")},
                               {QStringLiteral("SECRET"), QStringLiteral("no")}, {QStringLiteral("TERM"), QStringLiteral("xterm")},
                               {QStringLiteral("ANTHROPIC_BASE_URL"), QStringLiteral("http://host")},
                               {QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("other")}};
    FakeTools tools;
    const auto driver = makeClaudeDriver(tools);
    sandbox::LaunchSpec spec = driver->launchSpec(context);
    QCOMPARE(spec.workingFolder, QStringLiteral("/ws"));
    QCOMPARE(spec.environment.value(QStringLiteral("ANTHROPIC_API_KEY")), QStringLiteral("k"));
    QCOMPARE(spec.environment.value(QStringLiteral("ANTHROPIC_BASE_URL")), QStringLiteral("http://host"));
    QCOMPARE(spec.environment.value(QStringLiteral("TERM")), QStringLiteral("mine"));
    QCOMPARE(spec.environment.value(QStringLiteral("CLAUDE_CONFIG_DIR")), QStringLiteral("/data/config"));
    QCOMPARE(spec.environment.value(QStringLiteral("ENABLE_TOOL_SEARCH")), QStringLiteral("false"));
    QVERIFY(!spec.environment.contains(QStringLiteral("SECRET")));
    QVERIFY(!spec.environment.contains(QStringLiteral("MY_KEY")));
    for (const QString &word : std::as_const(spec.argv))
        QVERIFY(word != u"k");

    context.agent.keyVariable = QStringLiteral("ANTHROPIC_AUTH_TOKEN");
    context.agent.baseUrl = QStringLiteral("http://agent");
    context.hostEnvironment.insert(QStringLiteral("ANTHROPIC_AUTH_TOKEN"), QStringLiteral("t"));
    spec = driver->launchSpec(context);
    QCOMPARE(spec.environment.value(QStringLiteral("ANTHROPIC_AUTH_TOKEN")), QStringLiteral("t"));
    QVERIFY(!spec.environment.contains(QStringLiteral("ANTHROPIC_API_KEY")));
    QCOMPARE(spec.environment.value(QStringLiteral("ANTHROPIC_BASE_URL")), QStringLiteral("http://agent"));
}

void TestClaudeDriver::gate()
{
    const auto decision = [](Gate gate, const QByteArray &input) {
        Ready ready(gate);
        ready.feed(R"({"type":"control_request","request_id":"h","request":{"subtype":"hook_callback","callback_id":"gate")" +
                   input + "}}");
        const auto body = responseOf(ready.inputs)["response"];
        return body.empty() ? QString()
                            : QString::fromStdString(body["hookSpecificOutput"]["permissionDecision"].get<std::string>());
    };
    QCOMPARE(decision(Gate::Native, R"(,"input":{"tool_name":"Bash"})"), QString());
    QCOMPARE(decision(Gate::All, R"(,"input":{"tool_name":"Bash"})"), QStringLiteral("ask"));
    QCOMPARE(decision(Gate::All, R"(,"input":{"tool_name":"AskUserQuestion"})"), QStringLiteral("ask"));
    QCOMPARE(decision(Gate::All, R"(,"input":{"tool_name":"ToolSearch"})"), QString());
    QCOMPARE(decision(Gate::All, R"(,"input":{})"), QStringLiteral("ask"));
    QCOMPARE(decision(Gate::All, ""), QStringLiteral("deny"));
    QCOMPARE(decision(Gate::Native, R"(,"input":[])"), QStringLiteral("deny"));
}

void TestClaudeDriver::b81_unknownKinds_data()
{
    QTest::addColumn<QByteArray>("request");
    QTest::addColumn<QByteArray>("input");
    QTest::newRow("no tool name") << QByteArray(R"("input":{"a":1})") << QByteArray(R"({"a":1})");
    QTest::newRow("empty tool name") << QByteArray(R"("tool_name":"","input":{})") << QByteArray("{}");
    QTest::newRow("no input") << QByteArray(R"("tool_name":"Bash")") << QByteArray();
    QTest::newRow("null input") << QByteArray(R"("tool_name":"Bash","input":null)") << QByteArray("null");
    QTest::newRow("text input") << QByteArray(R"("tool_name":"Bash","input":"ls")") << QByteArray("\"ls\"");
    QTest::newRow("array input") << QByteArray(R"("tool_name":"Bash","input":[1])") << QByteArray("[1]");
    QTest::newRow("nothing") << QByteArray(R"("x":0)") << QByteArray();
}

void TestClaudeDriver::b81_unknownKinds()
{
    QFETCH(QByteArray, request);
    QFETCH(QByteArray, input);
    Ready ready;
    const QByteArray line = asking("r1", request);
    const DriverOutput output = ready.driver->feed(line);
    QCOMPARE(output.inputs.size(), 0); // never answered by itself
    QCOMPARE(output.events.size(), 1);
    const auto asked = std::get<PermissionRequested>(output.events.first());
    QVERIFY(asked.kind == ApprovalKind::Unknown);
    QCOMPARE(asked.input, input);
    QCOMPARE(asked.raw, line);
    const auto response = responseOf(ready.driver->deny(QStringLiteral("p"), QStringLiteral("r1"), {}).inputs);
    QCOMPARE(QString::fromStdString(response["response"]["behavior"].get<std::string>()), QStringLiteral("deny"));

    Ready other;
    const QByteArray longName(5000, 'T');
    const DriverOutput named = other.driver->feed(asking("r2", "\"tool_name\":\"" + longName + "\",\"input\":{}"));
    QCOMPARE(std::get<PermissionRequested>(named.events.first()).toolName.toUtf8(), longName);
    QCOMPARE(other.driver->openRequests().size(), 1);
}

void TestClaudeDriver::b81_unknownRequestIsAnsweredAndKept()
{
    Ready ready;
    const QByteArray line = R"({"type":"control_request","request_id":"q","request":{"subtype":")" + QByteArray(5000, 'n') + "\"}}";
    const DriverOutput output = ready.driver->feed(line);
    QCOMPARE(output.events.size(), 1);
    QCOMPARE(std::get<UnknownLine>(output.events.first()).line, line);
    QVERIFY(std::get<UnknownLine>(output.events.first()).summary.size() < 300);
    const auto response = responseOf(output.inputs);
    QCOMPARE(QString::fromStdString(response["subtype"].get<std::string>()), QStringLiteral("error"));
    QCOMPARE(QString::fromStdString(response["request_id"].get<std::string>()), QStringLiteral("q"));
}

void TestClaudeDriver::b85_oneIdForTwoActions()
{
    Ready ready;
    const QByteArray first = asking("r", R"("tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"})");
    QCOMPARE(ready.feed(first).size(), 1);
    QCOMPARE(ready.feed(first), QStringList{}); // the same line again is the same request
    const QStringList log = ready.feed(asking("r", R"("tool_name":"Bash","tool_use_id":"t2","input":{"command":"rm"})"));
    QCOMPARE(log.first(), QStringLiteral("withdrawn r"));
    QCOMPARE(responseOf(ready.inputs)["response"]["behavior"].get<std::string>(), std::string("deny"));
    QCOMPARE(ready.driver->openRequests().size(), 0);
}

void TestClaudeDriver::allowAndDeny()
{
    Ready ready;
    const QByteArray input = R"({"command":"ls","n":1.50})";
    ready.feed(asking("a", R"("tool_name":"Bash","tool_use_id":"ta","input":)" + input));
    ready.feed(asking("b", R"("tool_name":"Bash","tool_use_id":"tb","input":{"command":"rm"})"));
    ready.feed(asking("c", R"("tool_name":"Bash","tool_use_id":"tc","input":{"command":"id"})"));
    const QList<InputLine> denied = ready.driver->deny(QStringLiteral("p-b"), QStringLiteral("b"), QStringLiteral("no")).inputs;
    QCOMPARE(denied.first().id, QStringLiteral("p-b"));
    QCOMPARE(ready.driver->openRequests().size(), 2);
    const QList<InputLine> allowed = ready.driver->allow(QStringLiteral("p-a"), QStringLiteral("a"), input).inputs;
    QCOMPARE(allowed.first().bytes,
             "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"a\",\"response\":"
             "{\"behavior\":\"allow\",\"updatedInput\":" + input + "}}}\n");
    QCOMPARE(ready.driver->allow(QStringLiteral("p-a"), QStringLiteral("a"), input).inputs.size(), 0);
    QCOMPARE(ready.driver->deny(QStringLiteral("x"), QStringLiteral("never"), {}).inputs.size(), 0);
    QCOMPARE(ready.feed(R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"tb","content":"no","is_error":true}]}})"),
             QStringList{QStringLiteral("tool ended tb denied \"no\"")});
    QCOMPARE(ready.feed(R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"ta","content":"bad","is_error":true}]}})"),
             QStringList{QStringLiteral("tool ended ta failed \"bad\"")});
    QCOMPARE(ready.feed(R"({"type":"control_cancel_request","request_id":"c"})"), QStringList{QStringLiteral("withdrawn c")});
    QCOMPARE(ready.driver->openRequests().size(), 0);
}

void TestClaudeDriver::allowRefusesWhatIsNoObject()
{
    for (const QByteArray &input : {QByteArray("nonsense"), QByteArray("[1]"), QByteArray("\"x\""), QByteArray("{\"a\":"),
                                    QByteArray(), QByteArray("{} {}")}) {
        Ready ready;
        ready.feed(asking("a", R"("tool_name":"Bash","input":{"command":"ls"})"));
        const auto response = responseOf(ready.driver->allow(QStringLiteral("p"), QStringLiteral("a"), input).inputs);
        QCOMPARE(response["response"]["behavior"].get<std::string>(), std::string("deny"));
        QVERIFY(!response["response"]["message"].get<std::string>().empty());
    }
}

void TestClaudeDriver::tooDeepIsNeverAllowed()
{
    Ready ready;
    ready.feed(asking("a", R"("tool_name":"Bash","input":{"x":)" + QByteArray(100'000, '[') + QByteArray(100'000, ']') + '}'));
    QVERIFY(ready.driver->openRequests().first().kind == ApprovalKind::Unknown);
    const auto response = responseOf(ready.driver->allow(QStringLiteral("p"), QStringLiteral("a"), "{}").inputs);
    QCOMPARE(response["response"]["behavior"].get<std::string>(), std::string("deny"));
}

void TestClaudeDriver::mcpServer()
{
    Ready ready;
    const auto call = [&](const QByteArray &message, const QByteArray &server = "signalbox") {
        ready.feed(R"({"type":"control_request","request_id":"m","request":{"subtype":"mcp_message","server_name":")" + server +
                   R"(","message":)" + message + "}}");
        return responseOf(ready.inputs)["response"]["mcp_response"];
    };
    const auto hello = call(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2099-01-01"}})");
    QCOMPARE(hello["result"]["protocolVersion"].get<std::string>(), std::string("2099-01-01"));
    QCOMPARE(hello["id"].get<int>(), 0);
    QVERIFY(call(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").contains("result"));
    QVERIFY(call(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})").contains("result"));
    QCOMPARE(call(R"({"jsonrpc":"2.0","id":"s-1","method":"tools/list"})")["id"].get<std::string>(), std::string("s-1"));
    const auto told = call(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"session_info","arguments":{"a":1}}})");
    QCOMPARE(told["result"]["content"][0]["text"].get<std::string>(), std::string("told"));
    QVERIFY(!told["result"].contains("isError"));
    const auto arguments = nlohmann::json::parse(ready.tools.lastArguments.toStdString());
    QCOMPARE(arguments["a"].get<int>(), 1);
    QCOMPARE(QString::fromStdString(arguments[callerSessionKey].get<std::string>()), session);
    QVERIFY(call(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"rm"}})")["result"]["isError"].get<bool>());
    QCOMPARE(call(R"({"jsonrpc":"2.0","id":4,"method":"resources/list"})")["error"]["code"].get<int>(), -32601);
    QVERIFY(call(R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})", "other").contains("error"));
    QVERIFY(call("null").contains("result"));
}

void TestClaudeDriver::toolThatThrows()
{
    Ready ready;
    ready.tools.throws = true;
    ready.feed(R"({"type":"control_request","request_id":"m","request":{"subtype":"mcp_message","server_name":"signalbox",)"
               R"("message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"session_info"}}}})");
    QCOMPARE(responseOf(ready.inputs)["response"]["mcp_response"]["error"]["message"].get<std::string>(), std::string("broken tool"));
}

void TestClaudeDriver::interruptCancelsWhatIsQueued()
{
    Ready ready;
    ready.driver->prompt(QStringLiteral("11111111-1111-4111-8111-111111111111"), QStringLiteral("one"));
    QCOMPARE(ready.driver->phase(), DriverPhase::Turn);
    ready.driver->prompt(QStringLiteral("22222222-2222-4222-8222-222222222222"), QStringLiteral("two"));
    const QList<InputLine> inputs = ready.driver->interrupt().inputs;
    QCOMPARE(inputs.size(), 2);
    QVERIFY(inputs.at(0).bytes.contains("\"cancel_async_message\",\"message_uuid\":\"22222222-2222-4222-8222-222222222222\""));
    QVERIFY(inputs.at(1).bytes.contains("{\"subtype\":\"interrupt\",\"cancel_queued\":true}"));
    QVERIFY(inputs.at(0).id != inputs.at(1).id);
    QVERIFY(ready.driver->interrupt().inputs.first().id != inputs.at(1).id);
}

void TestClaudeDriver::setModelAndMode()
{
    Ready ready;
    const auto answer = [&](const InputLine &input, const QByteArray &body) {
        return ready.feed(R"({"type":"control_response","response":{"request_id":")" + input.id.toUtf8() + "\"," + body + "}}");
    };
    QCOMPARE(answer(ready.driver->setModel(QStringLiteral("haiku")).inputs.first(), R"("subtype":"success")"),
             QStringList{QStringLiteral("model haiku")});
    QCOMPARE(answer(ready.driver->setModel(QStringLiteral("haiku")).inputs.first(),
                    R"("subtype":"success","response":{"model":"claude-haiku-9"})"),
             QStringList{QStringLiteral("model claude-haiku-9")});
    QCOMPARE(answer(ready.driver->setPermissionMode(QStringLiteral("plan")).inputs.first(),
                    R"("subtype":"success","response":{"mode":"plan"})"),
             QStringList{QStringLiteral("mode plan")});
    QCOMPARE(answer(ready.driver->setPermissionMode(QStringLiteral("bypassPermissions")).inputs.first(),
                    R"("subtype":"error","error":"not launched so")"),
             QStringList{QStringLiteral("warning \"The harness refused \"set_permission_mode\": not launched so\"")});
    const DriverOutput nonsense = ready.driver->setPermissionMode(QStringLiteral("yolo"));
    QCOMPARE(nonsense.inputs.size(), 0);
    QCOMPARE(nonsense.events.size(), 1);
    QCOMPARE(ready.feed(R"({"type":"control_response","response":{"subtype":"success","request_id":"foreign"}})"), QStringList{});
}

void TestClaudeDriver::identityIsToldOnce()
{
    Ready ready;
    const QByteArray line = R"({"type":"system","subtype":"status","session_id":"another"})";
    QCOMPARE(ready.feed(R"({"type":"system","subtype":"status","session_id":")" + session.toUtf8() + "\"}"), QStringList{});
    QCOMPARE(ready.feed(line), QStringList{QStringLiteral("identity mismatch another is not ") + session});
    QCOMPARE(ready.feed(line), QStringList{});
}

void TestClaudeDriver::startFailures()
{
    FakeTools tools;
    const auto started = [&] {
        auto driver = makeClaudeDriver(tools);
        driver->begin(contextFor(session));
        return driver;
    };
    auto driver = started();
    QCOMPARE(describe(driver->feed(R"({"type":"result","is_error":true,"errors":["No conversation found with session ID: x"]})").events.first()),
             QStringLiteral("start failed \"No conversation found with session ID: x\" no conversation"));
    QCOMPARE(driver->phase(), DriverPhase::Ended);
    QCOMPARE(driver->processExited(1, {}).events.size(), 0);

    driver = started();
    QCOMPARE(describe(driver->processExited(1, "Session ID x is already in use.").events.first()),
             QStringLiteral("start failed \"The harness ended with exit code 1: Session ID x is already in use.\""));

    driver = started();
    QCOMPARE(describe(driver->feed(R"({"type":"control_response","response":{"subtype":"error","request_id":"sb-initialize","error":"no"}})").events.first()),
             QStringLiteral("start failed \"The harness refused to start: no\""));
}

void TestClaudeDriver::exitInTurn()
{
    Ready ready;
    ready.driver->prompt(QStringLiteral("r:1"), QStringLiteral("go"));
    ready.feed(asking("a", R"("tool_name":"Bash","input":{})"));
    QStringList log;
    for (const HarnessEvent &event : ready.driver->processExited(137, "boom\n").events)
        log.append(describe(event));
    QCOMPARE(log, (QStringList{QStringLiteral("withdrawn a"),
                               QStringLiteral("turn ended error process_exited turns 0 in 0 out 0 cost 0 \"The harness ended with "
                                              "exit code 137: boom\"")}));
}

void TestClaudeDriver::costs()
{
    Ready ready;
    const auto cost = [&](const QByteArray &fields) {
        const DriverOutput output = ready.driver->feed(R"({"type":"result","subtype":"success","is_error":false,)" + fields + "}");
        return std::get<TurnEnded>(output.events.last()).usage.costMicros;
    };
    QCOMPARE(cost(R"("total_cost_usd":0.5)"), 500'000);
    QCOMPARE(cost(R"("total_cost_usd":0.75)"), 250'000);
    QCOMPARE(cost(R"("total_cost_usd":0.1)"), 100'000); // began anew
    QCOMPARE(cost(R"("total_cost_usd":9,"model_usage_since_last_result":{"a":{"costUSD":0.2},"b":{"costUSD":0.01}})"), 210'000);
    QCOMPARE(cost(R"("total_cost_usd":9.5)"), 500'000);
    QCOMPARE(cost(R"("total_cost_usd":-3)"), 0);
    QCOMPARE(cost(R"("total_cost_usd":"much")"), 0);
    QCOMPARE(cost(R"("usage":{"input_tokens":1e300,"output_tokens":null})"), 0);
}

void TestClaudeDriver::promptUuid()
{
    Ready ready;
    const auto uuidOf = [&](const QString &id) {
        const QList<InputLine> inputs = ready.driver->prompt(id, QStringLiteral("x")).inputs;
        return inputs.first().id == id
                   ? QString::fromStdString(nlohmann::json::parse(inputs.first().bytes.toStdString())["uuid"].get<std::string>())
                   : QString();
    };
    const QString made = uuidOf(QStringLiteral("r-12:1"));
    QCOMPARE(QUuid::fromString(made).version(), QUuid::Random);
    QCOMPARE(uuidOf(QStringLiteral("r-12:1")), made);
    QVERIFY(uuidOf(QStringLiteral("r-12:2")) != made);
    QCOMPARE(uuidOf(session), session);
}

void TestClaudeDriver::partialsAreReplaced()
{
    Ready ready;
    const auto event = [&](const QByteArray &inner) { return ready.feed("{\"type\":\"stream_event\",\"event\":" + inner + "}"); };
    event(R"({"type":"message_start","message":{"id":"m1"}})");
    event(R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})");
    QCOMPARE(event(R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})"),
             QStringList{QStringLiteral("delta m1:0 thinking \"hm\"")});
    event(R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})");
    event(R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"par"}})");
    // The thinking comes without text: what streamed goes; the answer keeps its own index.
    QCOMPARE(ready.feed(R"({"type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":""}]}})"),
             QStringList{QStringLiteral("dropped m1:0")});
    QCOMPARE(ready.feed(R"({"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"partial"}]}})"),
             QStringList{QStringLiteral("text m1:1 answer \"partial\"")});
    event(R"({"type":"message_start","message":{"id":"m2"}})");
    event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lost"}})");
    QCOMPARE(event(R"({"type":"message_start","message":{"id":"m3"}})"), QStringList{QStringLiteral("dropped m2:0")});
    event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lost"}})");
    QCOMPARE(ready.feed(R"({"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"error_status":529,"error":"overloaded"})"),
             (QStringList{QStringLiteral("dropped m3:0"), QStringLiteral("retry 1/2 status 529 overloaded")}));
    // A repeat that did not stream.
    event(R"({"type":"message_start","message":{"id":"m4"}})");
    event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"cut"}})");
    QCOMPARE(ready.feed(R"({"type":"assistant","message":{"id":"m5","content":[{"type":"text","text":"whole"}]}})"),
             (QStringList{QStringLiteral("dropped m4:0"), QStringLiteral("text m5:0 answer \"whole\"")}));
}

void TestClaudeDriver::bytewiseEqualsWhole()
{
    const QByteArray stream =
        QByteArray("{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}}\r\n") +
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
        "\"text\":\"\xe4\xb8\xad\\ud83d\\ude00\\u00e9\"}}}\n"
        "noise \xff\n\n{\"type\":\"keep_alive\"}{\"type\":\"nova\"}\n";
    const auto played = [&](qsizetype step) {
        Ready ready;
        LineSplitter splitter;
        QStringList log;
        for (qsizetype at = 0; at < stream.size(); at += step) {
            for (const SplitLine &line : splitter.feed(stream.mid(at, step)))
                log += ready.feed(line.bytes);
        }
        return log;
    };
    QCOMPARE(played(stream.size()),
             (QStringList{QStringLiteral("delta m:0 answer \"\u4e2d\U0001F600\u00e9\""), QStringLiteral("unknown not JSON"),
                          QStringLiteral("unknown nova")}));
    QCOMPARE(played(1), played(stream.size()));
}

QTEST_GUILESS_MAIN(TestClaudeDriver)
#include "tst_claudedriver.moc"
