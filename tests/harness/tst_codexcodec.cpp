#include "engine/harness/codex/codexcodec.h"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace engine;
using namespace engine::codex;
using nlohmann::json;

namespace {

template <class T> T only(const QByteArray &line)
{
    const QList<Line> lines = decode(line);
    if (lines.size() != 1 || !std::holds_alternative<T>(lines.first().message)) {
        qWarning("another message: %s", line.left(200).constData());
        return {};
    }
    return std::get<T>(lines.first().message);
}

json parsed(const QByteArray &line)
{
    return json::parse(line.toStdString());
}

QByteArray commandRequest(const QByteArray &id, const QByteArray &more = {})
{
    return R"({"method":"item/commandExecution/requestApproval","id":)" + id +
           R"(,"params":{"kind":"command","threadId":"t","turnId":"u","itemId":"call_1","startedAtMs":17,"command":"rm -rf x",)"
           R"("cwd":"/w","reason":"why","commandActions":[],"availableDecisions":["accept"])" + more + "}}";
}

} // namespace

class TestCodexCodec final : public QObject
{
    Q_OBJECT

private slots:
    void idsKeepTheirJsonType();
    void actionsHoldNothingOfTheProtocol();
    void b81_strangeRequests_data();
    void b81_strangeRequests();
    void longAndDeepLines();
    void badText();
    void b02_defaultPolicy();
    void policyOnEveryLine_data();
    void policyOnEveryLine();
    void formsAndAnswers();
    void permissionsAreWhatWasDecided();
    void sentLinesReadBack();
};

void TestCodexCodec::idsKeepTheirJsonType()
{
    QCOMPARE(only<ServerRequest>(commandRequest("0")).id, QByteArray("0"));
    QCOMPARE(only<ServerRequest>(commandRequest("\"0\"")).id, QByteArray("\"0\""));
    QVERIFY(parsed(decisionLine("0", true))["id"].is_number_integer());
    QVERIFY(parsed(decisionLine("\"0\"", true))["id"].is_string());
    QVERIFY(parsed(errorLine("7", -1, QStringLiteral("no")))["id"] == 7);
    QCOMPARE(only<Resolved>(R"({"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}})").id, QByteArray("0"));
}

// The same command asked again has the same input, so that a stored decision can be found again.
void TestCodexCodec::actionsHoldNothingOfTheProtocol()
{
    const ServerRequest first = only<ServerRequest>(commandRequest("0"));
    QByteArray again = commandRequest("5");
    again.replace("\"call_1\"", "\"call_9\"").replace("17", "99").replace("\"u\"", "\"v\"");
    QCOMPARE(only<ServerRequest>(again).input, first.input);
    QCOMPARE(first.input, QByteArray(R"({"command":"rm -rf x","cwd":"/w"})"));
    QCOMPARE(first.reason, QStringLiteral("why"));
    // What widens the action is part of it.
    const ServerRequest more = only<ServerRequest>(commandRequest("0", R"(,"additionalPermissions":{"network":true})"));
    QVERIFY(more.input.contains("additionalPermissions"));
}

void TestCodexCodec::b81_strangeRequests_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::newRow("unknown method") << QByteArray(R"({"method":"never/seen","id":3,"params":{"a":1}})");
    QTest::newRow("long name") << QByteArray(R"({"method":")" + QByteArray(5000, 'x') + R"(","id":3,"params":{}})");
    QTest::newRow("no parameters") << QByteArray(R"({"method":"item/commandExecution/requestApproval","id":3})");
    QTest::newRow("empty parameters") << QByteArray(R"({"method":"item/commandExecution/requestApproval","id":3,"params":{}})");
    QTest::newRow("parameters of another type") << QByteArray(R"({"method":"item/fileChange/requestApproval","id":3,"params":[1]})");
    QTest::newRow("command of another type")
        << QByteArray(R"({"method":"item/commandExecution/requestApproval","id":3,"params":{"command":["a"]}})");
    QTest::newRow("form without fields") << QByteArray(
        R"({"method":"mcpServer/elicitation/request","id":3,"params":{"mode":"form","requestedSchema":{"properties":7}}})");
    QTest::newRow("form with a nested field") << QByteArray(
        R"({"method":"mcpServer/elicitation/request","id":3,"params":{"mode":"form","requestedSchema":{"properties":{"a":{"type":"object"}}}}})");
    QTest::newRow("legacy") << QByteArray(R"({"method":"execCommandApproval","id":3,"params":{"command":["ls"]}})");
    QTest::newRow("nested beyond reason")
        << QByteArray(R"({"method":"item/commandExecution/requestApproval","id":3,"params":{"command":)" + QByteArray(4000, '[') +
                      QByteArray(4000, ']') + "}}");
}

void TestCodexCodec::b81_strangeRequests()
{
    QFETCH(QByteArray, line);
    const ServerRequest request = only<ServerRequest>(line);
    QCOMPARE(request.id, QByteArray("3"));
    QCOMPARE(request.raw, line);
    QVERIFY(!request.complete);
}

void TestCodexCodec::longAndDeepLines()
{
    const QByteArray output(3 * 1024 * 1024, 'y');
    const ItemCompleted big = only<ItemCompleted>(
        R"({"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"c","command":"x",)"
        R"("status":"completed","exitCode":0,"aggregatedOutput":")" + output + "\"}}}");
    QCOMPARE(big.item.output.size(), output.size());
    QVERIFY(std::holds_alternative<Unknown>(decode("{\"method\":\"item/started\",\"params\":" + QByteArray(5000, '[') +
                                                   QByteArray(5000, ']') + '}').first().message));
}

void TestCodexCodec::badText()
{
    for (const QByteArray &line : {QByteArray("hello"), QByteArray("[1]"), QByteArray("{\"a\":"), QByteArray("\xff\xfe"),
                                   QByteArray("null"), QByteArray("{}"), QByteArray(1000, '{')}) {
        const QList<Line> lines = decode(line);
        QCOMPARE(lines.size(), 1);
        QVERIFY(std::holds_alternative<Unknown>(lines.first().message));
    }
    QVERIFY(decode("   ").isEmpty());
    QCOMPARE(decode(R"({"id":1,"result":{}}{"id":2,"result":{}})").size(), 2);
    // A lone surrogate and bad UTF-8 are replaced, not refused.
    const TextChunk chunk = only<TextChunk>(
        "{\"method\":\"item/agentMessage/delta\",\"params\":{\"itemId\":\"m\",\"delta\":\"a\\ud800b\xff\"}}");
    QCOMPARE(chunk.itemId, QStringLiteral("m"));
    QVERIFY(chunk.text.startsWith(u'a'));
}

void TestCodexCodec::b02_defaultPolicy()
{
    Agent agent;
    agent.harness = HarnessKind::Codex;
    QCOMPARE(gatePolicy(agent), (GatePolicy{QStringLiteral("on-request"), QStringLiteral("read-only")}));
    agent.gate = Gate::All;
    QCOMPARE(gatePolicy(agent).approval, QStringLiteral("untrusted"));
    agent.approvalPolicy = QStringLiteral("never");
    QCOMPARE(gatePolicy(agent).approval, QStringLiteral("untrusted"));
    agent.gate = Gate::Native;
    agent.sandboxMode = QStringLiteral("workspace-write");
    QCOMPARE(gatePolicy(agent), (GatePolicy{QStringLiteral("never"), QStringLiteral("workspace-write")}));
}

void TestCodexCodec::policyOnEveryLine_data()
{
    QTest::addColumn<QString>("sandbox");
    QTest::addColumn<QString>("thread");
    QTest::addColumn<QString>("turn");
    QTest::newRow("read-only") << "read-only" << "read-only" << "readOnly";
    QTest::newRow("workspace-write") << "workspace-write" << "workspace-write" << "workspaceWrite";
    QTest::newRow("danger-full-access") << "danger-full-access" << "danger-full-access" << "dangerFullAccess";
    QTest::newRow("external") << "external" << "danger-full-access" << "externalSandbox";
}

void TestCodexCodec::policyOnEveryLine()
{
    QFETCH(QString, sandbox);
    QFETCH(QString, thread);
    QFETCH(QString, turn);
    const GatePolicy policy{QStringLiteral("untrusted"), sandbox};
    for (const QString &method : {QStringLiteral("thread/start"), QStringLiteral("thread/resume"), QStringLiteral("thread/fork")}) {
        ThreadRequest request;
        request.method = method;
        request.policy = policy;
        const json params = parsed(threadLine("\"a\"", request))["params"];
        QCOMPARE(QString::fromStdString(params["approvalPolicy"].get<std::string>()), QStringLiteral("untrusted"));
        QCOMPARE(QString::fromStdString(params["sandbox"].get<std::string>()), thread);
        QVERIFY(params["config"]["features.unified_exec_tty"] == false);
    }
    const json params = parsed(turnLine("\"a\"", QStringLiteral("t"), QStringLiteral("hi"), policy, {}, {}))["params"];
    QCOMPARE(QString::fromStdString(params["approvalPolicy"].get<std::string>()), QStringLiteral("untrusted"));
    QCOMPARE(QString::fromStdString(params["sandboxPolicy"]["type"].get<std::string>()), turn);
    QVERIFY(!params["sandboxPolicy"].contains("networkAccess") || params["sandboxPolicy"]["networkAccess"] != true);
}

void TestCodexCodec::formsAndAnswers()
{
    const ServerRequest form = only<ServerRequest>(
        R"({"method":"mcpServer/elicitation/request","id":0,"params":{"serverName":"s","mode":"form","_meta":null,"message":"Which?",)"
        R"("requestedSchema":{"properties":{"name":{"type":"string"},"count":{"type":"integer"},"on":{"type":"boolean"}}}}})");
    QVERIFY(form.complete);
    json shown = parsed(form.input);
    QCOMPARE(int(shown["questions"].size()), 3);
    shown["answers"] = json::object();
    shown["answers"][shown["questions"][0]["question"].get<std::string>()] = "alpha";
    shown["answers"][shown["questions"][1]["question"].get<std::string>()] = "3";
    shown["answers"]["on"] = "true";
    const json answer = parsed(formLine("0", true, QByteArray::fromStdString(shown.dump()), form.input));
    QCOMPARE(QString::fromStdString(answer["result"]["content"].dump()), QStringLiteral(R"({"count":3,"name":"alpha","on":true})"));
    QVERIFY(parsed(formLine("0", false, {}, {}))["result"]["action"] == "decline");

    const ServerRequest question = only<ServerRequest>(
        R"({"method":"item/tool/requestUserInput","id":0,"params":{"turnId":"u","itemId":"c","questions":[{"id":"go","header":"Go",)"
        R"("question":"Shall I?","options":[{"label":"Yes","description":"d"}]}],"isBlocking":false}})");
    QVERIFY(question.complete);
    shown = parsed(question.input);
    shown["answers"]["Shall I?"] = "Yes";
    QCOMPARE(QString::fromStdString(parsed(answersLine("0", QByteArray::fromStdString(shown.dump())))["result"].dump()),
             QStringLiteral(R"({"answers":{"go":{"answers":["Yes"]}}})"));
}

void TestCodexCodec::permissionsAreWhatWasDecided()
{
    const json granted = parsed(permissionsLine("0", R"({"cwd":"/w","permissions":{"network":null,"fileSystem":{"write":["/o"]}}})"));
    QCOMPARE(QString::fromStdString(granted["result"].dump()),
             QStringLiteral(R"({"permissions":{"fileSystem":{"write":["/o"]}},"scope":"turn"})"));
    QVERIFY(parsed(permissionsLine("0", "{}"))["result"]["permissions"].empty());
    QVERIFY(parsed(permissionsLine("0", "rubbish"))["result"]["permissions"].empty());
}

void TestCodexCodec::sentLinesReadBack()
{
    const auto turn = decodeSent(turnLine("\"p\"", QStringLiteral("t"), QStringLiteral("hi"),
                                          {QStringLiteral("never"), QStringLiteral("workspace-write")}, {}, {}));
    QVERIFY(turn.has_value());
    QCOMPARE(turn->method, QStringLiteral("turn/start"));
    QCOMPARE(turn->text, QStringLiteral("hi"));
    QCOMPARE(turn->sandboxType, QStringLiteral("workspaceWrite"));
    const auto denial = decodeSent(decisionLine("0", false, QStringLiteral("not \"here\"\n")));
    QVERIFY(denial.has_value() && denial->refused);
    QCOMPARE(denial->note, QStringLiteral("not \"here\"\n"));
    QVERIFY(!decodeSent(decisionLine("0", true))->refused);
    QVERIFY(decodeSent(errorLine("0", 1, QStringLiteral("x")))->refused);
    QVERIFY(!decodeSent(initializedLine()).has_value());
    QVERIFY(!decodeSent("rubbish").has_value());
}

QTEST_GUILESS_MAIN(TestCodexCodec)
#include "tst_codexcodec.moc"
