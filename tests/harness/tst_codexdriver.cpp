#include "engine/harness/codex/codexcodec.h"
#include "tests/harness/driverlog.h"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace engine;
using nlohmann::json;

namespace {

const QByteArray threadReplyTail =
    R"(,"result":{"thread":{"id":"th","path":"/h/r.jsonl"},"model":"m","approvalPolicy":"on-request","sandbox":{"type":"readOnly"}}})";

QByteArray turnReply(const QString &prompt)
{
    return R"({"id":")" + prompt.toUtf8() + R"(","result":{"turn":{"id":"tu"}}})";
}

QByteArray turnDone(const QByteArray &status)
{
    return R"({"method":"turn/completed","params":{"threadId":"th","turn":{"id":"tu","status":")" + status + R"(","items":[]}}})";
}

QByteArray commandAsked(const QByteArray &id, const QByteArray &item = "c1")
{
    return R"({"method":"item/commandExecution/requestApproval","id":)" + id + R"(,"params":{"threadId":"th","turnId":"tu","itemId":")" +
           item + R"(","command":"touch x","cwd":"/w"}})";
}

QByteArray commandItem(const char *method, const QByteArray &status, const QByteArray &item = "c1")
{
    return QByteArray(R"({"method":")") + method +
           R"(","params":{"threadId":"th","turnId":"tu","item":{"type":"commandExecution","id":")" + item +
           R"(","command":"touch x","cwd":"/w","status":")" + status + "\"}}}";
}

struct Codex
{
    explicit Codex(const std::function<void(LaunchContext &)> &change = {})
    {
        context.agent.harness = HarnessKind::Codex;
        context.agent.keyVariable = QStringLiteral("OPENAI_API_KEY");
        context.workspace = QStringLiteral("/w");
        if (change)
            change(context);
        last = driver->begin(context);
    }
    QStringList feed(const QByteArray &line) { return taken(driver->feed(line)); }
    QStringList taken(const DriverOutput &output)
    {
        last = output;
        QStringList log;
        for (const HarnessEvent &event : output.events)
            log.append(describe(event));
        return log;
    }
    QStringList started(const QByteArray &tail = threadReplyTail)
    {
        feed(R"({"id":"sb-initialize","result":{"userAgent":"x/0.171.0 y"}})");
        return feed(R"({"id":"sb-open")" + tail);
    }
    void inTurn()
    {
        started();
        driver->prompt(QStringLiteral("p"), QStringLiteral("hi"));
        feed(turnReply(QStringLiteral("p")));
        feed(R"({"method":"turn/started","params":{"threadId":"th","turn":{"id":"tu"}}})");
    }
    json sent(qsizetype index = 0) const
    {
        return index < last.inputs.size() ? json::parse(last.inputs.at(index).bytes.toStdString()) : json();
    }
    std::string method(qsizetype index = 0) const { return sent(index).value("method", ""); }

    LaunchContext context;
    FakeTools tools;
    std::unique_ptr<HarnessDriver> driver = makeCodexDriver(tools);
    DriverOutput last;
};

} // namespace

class TestCodexDriver final : public QObject
{
    Q_OBJECT

private slots:
    void handshake();
    void oldOrUnknownVersionFailsClosed();
    void otherPolicyFailsClosed_data();
    void otherPolicyFailsClosed();
    void policyChangedInTheTurn();
    void resumeChecksIdAndLastTurn();
    void steersInATurn();
    void interruptWaitsForTheTurnsId();
    void interruptCleansTerminals();
    void b85_oneIdForTwoActions();
    void zeroIsAnId();
    void denialReachesTheModelOnce();
    void patchNeedsItsItem();
    void unknownRequests();
    void ownToolsUnderGateAll();
    void everyRequestHasALimit();
    void watchdog();
    void overloadBacksOff();
    void launchLine();
    void usageOfOneTurn();
};

void TestCodexDriver::handshake()
{
    Codex codex;
    QCOMPARE(codex.method(), "initialize");
    QVERIFY(codex.sent()["params"]["capabilities"]["experimentalApi"] == true);
    QCOMPARE(codex.last.deadlines.size(), 1);
    QVERIFY(codex.feed(R"({"id":"sb-initialize","result":{"userAgent":"x/0.171.0 y"}})").isEmpty());
    QCOMPARE(codex.method(0), "initialized");
    QCOMPARE(codex.method(1), "thread/start");
    QVERIFY(codex.sent(1)["params"]["approvalPolicy"] == "on-request"); // b02
    QVERIFY(codex.sent(1)["params"]["dynamicTools"][0]["name"] == "signalbox");
    QCOMPARE(codex.feed(R"({"id":"sb-open")" + threadReplyTail),
             (QStringList{QStringLiteral("conversation th"), QStringLiteral("ready 0.171.0")}));
    QCOMPARE(codex.driver->phase(), DriverPhase::Ready);
}

void TestCodexDriver::oldOrUnknownVersionFailsClosed()
{
    for (const char *agent : {"x/0.170.9 y", "x", "", "x/1"}) {
        Codex codex;
        const QStringList log =
            codex.feed(QByteArray(R"({"id":"sb-initialize","result":{"userAgent":")") + agent + "\"}}");
        QCOMPARE(log.size(), 1);
        QVERIFY2(log.first().startsWith(u"start failed"), qPrintable(log.first()));
        QVERIFY(codex.last.inputs.isEmpty());
        QCOMPARE(codex.driver->phase(), DriverPhase::Ended);
    }
}

void TestCodexDriver::otherPolicyFailsClosed_data()
{
    QTest::addColumn<QByteArray>("tail");
    QTest::newRow("never") << QByteArray(threadReplyTail).replace("on-request", "never");
    QTest::newRow("no policy") << QByteArray(threadReplyTail).replace("\"approvalPolicy\":\"on-request\",", "");
    QTest::newRow("granular") << QByteArray(threadReplyTail).replace("\"on-request\"", "{\"granular\":{}}");
    QTest::newRow("wider sandbox") << QByteArray(threadReplyTail).replace("readOnly", "dangerFullAccess");
    QTest::newRow("no sandbox") << QByteArray(threadReplyTail).replace("\"type\":\"readOnly\"", "");
    QTest::newRow("refused") << QByteArray(
        R"(,"error":{"code":-32600,"message":"Invalid request: unknown variant `on-request`, expected one of `other`"}})");
}

void TestCodexDriver::otherPolicyFailsClosed()
{
    QFETCH(QByteArray, tail);
    Codex codex;
    const QStringList log = codex.started(tail);
    QCOMPARE(log.size(), 1);
    QVERIFY2(log.first().startsWith(u"start failed"), qPrintable(log.first()));
    QCOMPARE(codex.driver->phase(), DriverPhase::Ended);
}

void TestCodexDriver::policyChangedInTheTurn()
{
    Codex codex;
    codex.inTurn();
    const auto settings = [](const char *policy) -> QByteArray {
        return QByteArray(R"({"method":"thread/settings/updated","params":{"threadId":"th","threadSettings":{"approvalPolicy":")") +
               policy + R"(","sandboxPolicy":{"type":"readOnly"}}}})";
    };
    QVERIFY(codex.feed(settings("on-request")).isEmpty());
    QVERIFY(codex.feed(settings("never")).value(0).startsWith(u"broken"));
}

void TestCodexDriver::resumeChecksIdAndLastTurn()
{
    const auto resuming = [](LaunchContext &context) {
        context.resume = true;
        context.session.native.nativeSessionId = QStringLiteral("th");
        context.lastTurnId = QStringLiteral("t7");
    };
    Codex codex(resuming);
    QCOMPARE(codex.started(), QStringList{QStringLiteral("conversation th")});
    QCOMPARE(codex.method(), "thread/turns/list");
    QCOMPARE(codex.feed(R"({"id":"sb-newest:t7","result":{"data":[{"id":"t7"}]}})"), QStringList{QStringLiteral("ready 0.171.0")});

    Codex shorter(resuming);
    shorter.started();
    const QStringList log = shorter.feed(R"({"id":"sb-newest:t7","result":{"data":[{"id":"t6"}]}})");
    QVERIFY(log.value(0).startsWith(u"start failed"));
    QVERIFY(log.value(0).endsWith(u"no conversation"));

    Codex other(resuming);
    QCOMPARE(other.started(QByteArray(threadReplyTail).replace("\"th\"", "\"xx\"")),
             QStringList{QStringLiteral("identity mismatch xx is not th")});

    Codex missing(resuming);
    QVERIFY(missing.started(R"(,"error":{"code":-32600,"message":"no rollout found for thread id th"}})")
                .value(0)
                .endsWith(u"no conversation"));
}

void TestCodexDriver::steersInATurn()
{
    Codex codex;
    codex.started();
    codex.driver->prompt(QStringLiteral("p"), QStringLiteral("hi"));
    codex.taken(codex.driver->prompt(QStringLiteral("q"), QStringLiteral("more")));
    QVERIFY(codex.last.inputs.isEmpty()); // the turn has no id yet
    codex.feed(turnReply(QStringLiteral("p")));
    QCOMPARE(codex.method(), "turn/steer");
    QVERIFY(codex.sent()["params"]["expectedTurnId"] == "tu");
    codex.taken(codex.driver->prompt(QStringLiteral("r"), QStringLiteral("still more")));
    QCOMPARE(codex.method(), "turn/steer");
    const QStringList log = codex.feed(R"({"id":"r","error":{"code":-32600,"message":"no active turn to steer"}})");
    QVERIFY(log.value(0).startsWith(u"warning"));
}

void TestCodexDriver::interruptWaitsForTheTurnsId()
{
    Codex codex;
    codex.started();
    codex.driver->prompt(QStringLiteral("p"), QStringLiteral("hi"));
    codex.taken(codex.driver->interrupt());
    QVERIFY(codex.last.inputs.isEmpty());
    codex.feed(turnReply(QStringLiteral("p")));
    QCOMPARE(codex.method(), "turn/interrupt");
    QVERIFY(codex.sent()["params"]["turnId"] == "tu");
}

void TestCodexDriver::interruptCleansTerminals()
{
    Codex codex;
    codex.inTurn();
    codex.feed(commandItem("item/started", "inProgress"));
    codex.feed(R"({"method":"item/commandExecution/outputDelta","params":{"threadId":"th","itemId":"c1","delta":"half"}})");
    codex.taken(codex.driver->interrupt());
    const QStringList log = codex.feed(turnDone("interrupted"));
    QVERIFY(log.value(0).startsWith(u"tool ended c1 failed \"half"));
    QVERIFY(log.value(1).startsWith(u"turn ended error interrupted"));
    QVERIFY(log.value(1).endsWith(u"interrupted"));
    QCOMPARE(codex.method(), "thread/backgroundTerminals/clean");
    QVERIFY(codex.feed(commandItem("item/completed", "failed")).isEmpty()); // comes behind the turn's end
    QVERIFY(codex.feed(turnDone("interrupted")).isEmpty());
}

void TestCodexDriver::b85_oneIdForTwoActions()
{
    Codex codex;
    codex.inTurn();
    codex.feed(commandAsked("0"));
    QVERIFY(codex.feed(commandAsked("0")).isEmpty());
    const QStringList log = codex.feed(commandAsked("0", "c2"));
    QCOMPARE(log.value(0), QStringLiteral("withdrawn 0@tu"));
    QVERIFY(codex.sent().contains("error"));
    QVERIFY(codex.driver->openRequests().isEmpty());
    // The number and the text are two ids.
    codex.feed(commandAsked("1"));
    codex.feed(commandAsked("\"1\"", "c3"));
    QCOMPARE(codex.driver->openRequests().size(), 2);
    codex.taken(codex.driver->allow(QStringLiteral("a"), QStringLiteral("\"1\"@tu"), {}));
    QVERIFY(codex.sent()["id"] == "1");
    QCOMPARE(codex.driver->openRequests().first().requestId, QStringLiteral("1@tu"));
}

void TestCodexDriver::zeroIsAnId()
{
    Codex codex;
    codex.inTurn();
    const QStringList log = codex.feed(commandAsked("0"));
    QVERIFY(log.value(0).startsWith(u"asks 0@tu tool \"commandExecution\" c1"));
    codex.taken(codex.driver->allow(QStringLiteral("approval"), QStringLiteral("0@tu"), "{}"));
    QCOMPARE(codex.last.inputs.size(), 1);
    QCOMPARE(codex.last.inputs.first().id, QStringLiteral("approval"));
    QCOMPARE(codex.last.inputs.first().bytes, QByteArray("{\"id\":0,\"result\":{\"decision\":\"accept\"}}\n"));
    codex.taken(codex.driver->allow(QStringLiteral("again"), QStringLiteral("0@tu"), "{}"));
    QVERIFY(codex.last.inputs.isEmpty());
}

void TestCodexDriver::denialReachesTheModelOnce()
{
    Codex codex;
    codex.inTurn();
    codex.feed(commandItem("item/started", "inProgress"));
    codex.feed(commandAsked("0"));
    codex.feed(commandItem("item/started", "inProgress", "c2"));
    codex.feed(commandAsked("1", "c2"));
    codex.taken(codex.driver->deny(QStringLiteral("a"), QStringLiteral("0@tu"), QStringLiteral("use y")));
    QVERIFY(codex.sent()["result"]["decision"] == "decline");
    QVERIFY(codex.feed(commandItem("item/completed", "declined")).value(0).startsWith(u"tool ended c1 denied"));
    QVERIFY(codex.last.inputs.isEmpty()); // another question is open: a message would cut in
    codex.taken(codex.driver->allow(QStringLiteral("b"), QStringLiteral("1@tu"), "{}"));
    codex.feed(commandItem("item/completed", "completed", "c2"));
    QCOMPARE(codex.method(), "turn/steer");
    QVERIFY(codex.sent()["params"]["input"][0]["text"].get<std::string>().find("use y") != std::string::npos);
    QCOMPARE(codex.last.inputs.size(), 1);
}

void TestCodexDriver::patchNeedsItsItem()
{
    Codex codex;
    codex.inTurn();
    const QByteArray asked =
        R"({"method":"item/fileChange/requestApproval","id":0,"params":{"threadId":"th","turnId":"tu","itemId":"f1"}})";
    QVERIFY(codex.feed(asked).value(0).startsWith(u"asks 0@tu unknown"));
    codex.taken(codex.driver->allow(QStringLiteral("a"), QStringLiteral("0@tu"), "{}"));
    QVERIFY(codex.sent()["result"]["decision"] == "decline"); // what was not seen is not allowed
    codex.feed(R"({"method":"item/started","params":{"threadId":"th","turnId":"tu","item":{"type":"fileChange","id":"f2",)"
               R"("changes":[{"path":"/w/n","kind":{"type":"add"},"diff":"alpha\n"}],"status":"inProgress"}}})");
    codex.feed(QByteArray(asked).replace("\"f1\"", "\"f2\"").replace("\"id\":0", "\"id\":1"));
    const PermissionRequested request = codex.driver->openRequests().value(0);
    QCOMPARE(toString(request.kind), toString(ApprovalKind::Tool));
    QVERIFY(request.input.contains("alpha"));
    QVERIFY(!request.editable);
    codex.taken(codex.driver->allow(QStringLiteral("b"), request.requestId, request.input));
    QVERIFY(codex.sent()["result"]["decision"] == "accept");
}

// b81
void TestCodexDriver::unknownRequests()
{
    Codex codex;
    codex.inTurn();
    const QByteArray line = R"({"method":"never/seen","id":4,"params":{"threadId":"th","turnId":"tu","x":1}})";
    QVERIFY(codex.feed(line).value(0).startsWith(u"asks 4@tu unknown \"never/seen\""));
    QVERIFY(codex.last.inputs.isEmpty());
    QCOMPARE(codex.driver->openRequests().first().raw, line);
    codex.taken(codex.driver->allow(QStringLiteral("a"), QStringLiteral("4@tu"), {}));
    QVERIFY(codex.sent().contains("error")); // approved without an answer: there is nothing to send
    codex.feed(QByteArray(line).replace("\"id\":4", "\"id\":5"));
    codex.taken(codex.driver->allow(QStringLiteral("b"), QStringLiteral("5@tu"), R"({"mine":true})"));
    QVERIFY(codex.sent()["result"]["mine"] == true);
    codex.feed(QByteArray(line).replace("\"id\":4", "\"id\":6"));
    codex.taken(codex.driver->deny(QStringLiteral("c"), QStringLiteral("6@tu"), QStringLiteral("no")));
    QVERIFY(codex.sent()["error"]["message"] == "no");
}

void TestCodexDriver::ownToolsUnderGateAll()
{
    const QByteArray call = R"({"method":"item/tool/call","id":0,"params":{"threadId":"th","turnId":"tu","callId":"d1",)"
                            R"("namespace":"signalbox","tool":"session_info","arguments":{"a":1}}})";
    Codex codex;
    codex.inTurn();
    QVERIFY(codex.feed(call).isEmpty());
    QVERIFY(codex.sent()["result"]["success"] == true);
    QVERIFY(codex.tools.lastArguments.contains("\"th\"")); // whose model calls
    codex.feed(QByteArray(call).replace("session_info", "other").replace("\"id\":0", "\"id\":1"));
    QVERIFY(codex.sent()["result"]["success"] == false);

    Codex gated([](LaunchContext &context) { context.agent.gate = Gate::All; });
    gated.started(QByteArray(threadReplyTail).replace("on-request", "untrusted"));
    gated.driver->prompt(QStringLiteral("p"), QStringLiteral("hi"));
    gated.feed(turnReply(QStringLiteral("p")));
    QVERIFY(gated.feed(call).value(0).startsWith(u"asks"));
    QVERIFY(gated.last.inputs.isEmpty());
    gated.taken(gated.driver->allow(QStringLiteral("a"), QStringLiteral("0@tu"), R"({"a":2})"));
    QVERIFY(gated.tools.lastArguments.contains("\"a\":2"));
    QVERIFY(gated.sent()["result"]["success"] == true);
}

void TestCodexDriver::everyRequestHasALimit()
{
    Codex codex;
    QCOMPARE(codex.last.deadlines, codex.driver->openDeadlines());
    const QString first = codex.last.deadlines.first().id;
    QVERIFY(codex.taken(codex.driver->expired(first)).value(0).startsWith(u"start failed"));

    Codex turn;
    turn.started();
    QVERIFY(turn.taken(turn.driver->expired(first)).isEmpty()); // was answered
    turn.taken(turn.driver->prompt(QStringLiteral("p"), QStringLiteral("hi")));
    QCOMPARE(turn.last.deadlines.size(), 2); // the request and the turn
    QVERIFY(turn.taken(turn.driver->expired(QStringLiteral("request:\"p\""))).value(0).startsWith(u"broken"));
}

void TestCodexDriver::watchdog()
{
    Codex codex;
    codex.inTurn();
    const QString watch = QStringLiteral("turn:\"p\"");
    codex.taken(codex.driver->expired(watch));
    QVERIFY(codex.last.events.isEmpty()); // it spoke meanwhile
    QCOMPARE(codex.last.deadlines.size(), 1);
    codex.feed(commandAsked("0"));
    codex.driver->expired(watch);
    QVERIFY(codex.taken(codex.driver->expired(watch)).isEmpty()); // a person takes their time
    codex.driver->allow(QStringLiteral("a"), QStringLiteral("0@tu"), "{}");
    const QStringList log = codex.taken(codex.driver->expired(watch));
    QVERIFY2(log.value(0).startsWith(u"warning"), qPrintable(log.join(u'|')));
    QCOMPARE(codex.method(), "turn/interrupt");
    QVERIFY(codex.taken(codex.driver->expired(watch)).value(0).startsWith(u"broken"));
    QVERIFY(codex.taken(codex.driver->expired(QStringLiteral("turn:\"older\""))).isEmpty());
}

void TestCodexDriver::overloadBacksOff()
{
    Codex codex;
    codex.started();
    codex.driver->prompt(QStringLiteral("p"), QStringLiteral("hi"));
    QString id = QStringLiteral("p");
    int delay = 0;
    for (int attempt = 1; attempt <= 5; ++attempt) {
        const QStringList log =
            codex.feed(R"({"id":")" + id.toUtf8() + R"(","error":{"code":-32001,"message":"Server overloaded; retry later."}})");
        QVERIFY(log.value(0).startsWith(QStringLiteral("retry %1/5").arg(attempt)));
        QCOMPARE(codex.last.deadlines.size(), 1);
        QVERIFY(codex.last.deadlines.first().ms > delay);
        delay = codex.last.deadlines.first().ms;
        codex.taken(codex.driver->expired(codex.last.deadlines.first().id));
        id = QStringLiteral("p#%1").arg(attempt);
        QVERIFY(codex.sent()["id"] == id.toStdString());
        QVERIFY(codex.sent()["params"]["input"][0]["text"] == "hi");
        QCOMPARE(codex.last.inputs.first().id, id);
    }
    QVERIFY(codex.feed(R"({"id":")" + id.toUtf8() + R"(","error":{"code":-32001,"message":"Server overloaded"}})")
                .value(0)
                .startsWith(u"turn ended error"));
    QCOMPARE(codex.driver->phase(), DriverPhase::Ready);
}

void TestCodexDriver::launchLine()
{
    Codex codex;
    LaunchContext context = codex.context;
    context.program = QStringLiteral("/opt/codex");
    context.configFolder = QStringLiteral("/home/me/codex");
    context.agent.baseUrl = QStringLiteral("http://127.0.0.1:1/v1");
    context.hostEnvironment = {{QStringLiteral("OPENAI_API_KEY"), QStringLiteral("very-secret-key")},
                               {QStringLiteral("OTHER"), QStringLiteral("x")},
                               {QStringLiteral("PATH"), QStringLiteral("/bin")}};
    const sandbox::LaunchSpec spec = codex.driver->launchSpec(context);
    QCOMPARE(spec.argv.mid(0, 3), (QStringList{context.program, QStringLiteral("app-server"), QStringLiteral("--strict-config")}));
    QVERIFY(!spec.argv.join(u' ').contains(u"very-secret-key"));
    QVERIFY(spec.argv.contains(QStringLiteral("model_providers.signalbox.base_url=\"http://127.0.0.1:1/v1\"")));
    QVERIFY(spec.argv.contains(QStringLiteral("model_providers.signalbox.env_key=\"OPENAI_API_KEY\"")));
    QVERIFY(spec.argv.contains(QStringLiteral("shell_environment_policy.exclude=[\"OPENAI_API_KEY\"]")));
    QVERIFY(spec.argv.contains(QStringLiteral("features.unified_exec_tty=false")));
    // A policy in the configuration ends the program; it is said on the wire.
    QVERIFY(!spec.argv.join(u' ').contains(u"approval_policy"));
    QCOMPARE(spec.environment.value(QStringLiteral("OPENAI_API_KEY")), QStringLiteral("very-secret-key"));
    QCOMPARE(spec.environment.value(QStringLiteral("CODEX_HOME")), context.configFolder);
    QVERIFY(!spec.environment.contains(QStringLiteral("OTHER")));
    // A signed-in folder goes by its own account.
    context.hostEnvironment.remove(QStringLiteral("OPENAI_API_KEY"));
    context.agent.baseUrl.clear();
    QVERIFY(!codex.driver->launchSpec(context).argv.join(u' ').contains(u"model_provider"));
}

void TestCodexDriver::usageOfOneTurn()
{
    Codex codex;
    codex.inTurn();
    const auto tokens = [](int total, const char *turn) -> QByteArray {
        return QByteArray(R"({"method":"thread/tokenUsage/updated","params":{"threadId":"th","turnId":")") + turn +
               R"(","tokenUsage":{"total":{"totalTokens":)" + QByteArray::number(total) +
               R"(},"last":{"inputTokens":100,"cachedInputTokens":30,"outputTokens":20}}}})";
    };
    codex.feed(tokens(50, "older")); // told again after a resume
    codex.feed(tokens(120, "tu"));
    codex.feed(tokens(120, "tu"));
    codex.feed(tokens(240, "tu"));
    codex.driver->feed(turnDone("failed"));
    codex.driver->prompt(QStringLiteral("q"), QStringLiteral("hi"));
    codex.feed(QByteArray(turnReply(QStringLiteral("q"))).replace("\"tu\"", "\"t2\""));
    codex.feed(tokens(360, "t2"));
    const DriverOutput output = codex.driver->feed(turnDone("completed").replace("\"tu\"", "\"t2\""));
    const auto *ended = std::get_if<TurnEnded>(&output.events.last());
    QVERIFY(ended);
    QCOMPARE(ended->usage.inputTokens, 70);
    QCOMPARE(ended->usage.cacheReadTokens, 30);
    QCOMPARE(ended->usage.outputTokens, 20);
    QCOMPARE(ended->turns, 1);
}

QTEST_GUILESS_MAIN(TestCodexDriver)
#include "tst_codexdriver.moc"
