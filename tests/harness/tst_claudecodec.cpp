#include "engine/harness/claude/claudecodec.h"
#include "engine/harness/rawjson.h"

#include <QTest>
#include <nlohmann/json.hpp>

// moc's preprocessor stumbles over raw strings in arguments of macros that print them.
#ifdef Q_MOC_RUN
#undef QCOMPARE
#define QCOMPARE(...)
#endif

using namespace engine;
using namespace engine::claude;

class TestClaudeCodec : public QObject
{
    Q_OBJECT

private slots:
    void rawMember_data();
    void rawMember();
    void rawValues();
    void depth();
    void repair();
    void twoObjectsOnALine();
    void noiseIsUnknown_data();
    void noiseIsUnknown();
    void deepRequestIsSurfaced();
    void loneSurrogateRequestIsSurfaced();
    void inputKeepsItsText();
    void linesAreWellFormed();
    void bigLines_data();
    void bigLines();
};

void TestClaudeCodec::rawMember_data()
{
    QTest::addColumn<QByteArray>("object");
    QTest::addColumn<QByteArray>("value");
    QTest::newRow("first") << QByteArray(R"({"input":1.50,"b":2})") << QByteArray("1.50");
    QTest::newRow("object") << QByteArray(R"({"a":{"input":0}, "input" : {"x":[1,{"y":"}"}]} })")
                            << QByteArray(R"({"x":[1,{"y":"}"}]})");
    QTest::newRow("string with quotes") << QByteArray(R"({"a":"\"","input":"a\\\"b"})") << QByteArray(R"("a\\\"b")");
    QTest::newRow("last of equal names") << QByteArray(R"({"input":1,"input":true})") << QByteArray("true");
    QTest::newRow("escaped name") << QByteArray(R"({"\u0069nput":null})") << QByteArray("null");
    QTest::newRow("missing") << QByteArray(R"({"inputs":1})") << QByteArray();
    QTest::newRow("no object") << QByteArray(R"([1])") << QByteArray();
    QTest::newRow("cut") << QByteArray(R"({"input")") << QByteArray();
    QTest::newRow("empty") << QByteArray() << QByteArray();
}

void TestClaudeCodec::rawMember()
{
    QFETCH(QByteArray, object);
    QFETCH(QByteArray, value);
    const auto found = rawjson::member(rawjson::view(object), "input");
    QCOMPARE(found ? rawjson::bytes(*found) : QByteArray(), value);
    QCOMPARE(found.has_value(), !value.isEmpty());
}

void TestClaudeCodec::rawValues()
{
    const QByteArray text(R"( {"a":"}{"}{"b":[1,2]} 3 "x"true)");
    QStringList values;
    for (const auto value : rawjson::values(rawjson::view(text)))
        values.append(QString::fromUtf8(rawjson::bytes(value)));
    QCOMPARE(values, (QStringList{R"({"a":"}{"})", R"({"b":[1,2]})", "3", R"("x")", "true"}));
    const QByteArray array(R"([ {"a":1}, [2,3] ,"]", 4 ])");
    QCOMPARE(rawjson::elements(rawjson::view(array)).size(), 4);
    QCOMPARE(rawjson::elements("[]").size(), 0);
}

void TestClaudeCodec::depth()
{
    QVERIFY(!rawjson::isTooDeep(rawjson::view(QByteArray(rawjson::deepest, '['))));
    QVERIFY(rawjson::isTooDeep(rawjson::view(QByteArray(rawjson::deepest + 1, '['))));
    const QByteArray inText = '"' + QByteArray(1000, '[') + '"';
    QVERIFY(!rawjson::isTooDeep(rawjson::view(inText)));
    QByteArray sideBySide = "[";
    for (int i = 0; i < 1000; ++i)
        sideBySide += "[],";
    QVERIFY(!rawjson::isTooDeep(rawjson::view(sideBySide)));
    const QByteArray closed = QByteArray(1'000'000, '[') + QByteArray(1'000'000, ']');
    const QByteArray inside = "{\"type\":\"user\",\"a\":" + closed + '}';
    for (const QByteArray &text : {QByteArray(1'000'000, '['), closed, inside}) {
        const QList<Line> lines = decode(text);
        QCOMPARE(lines.size(), 1);
        QVERIFY(std::holds_alternative<Unknown>(lines.first().message));
    }
}

void TestClaudeCodec::repair()
{
    QCOMPARE(rawjson::repaired(R"("\ud83d\ude00 \ud83d x \ude00 \\ud83d")"),
             QByteArray(R"("\ud83d\ude00 \ufffd x \ufffd \\ud83d")"));
    QCOMPARE(rawjson::repaired(QByteArray("\"a\xff\"")), QByteArray("\"a\xef\xbf\xbd\""));
}

void TestClaudeCodec::twoObjectsOnALine()
{
    const QList<Line> lines = decode(R"({"type":"control_cancel_request","request_id":"a"} {"type":"nova"})");
    QCOMPARE(lines.size(), 2);
    QCOMPARE(std::get<CancelRequest>(lines.at(0).message).requestId, QStringLiteral("a"));
    QCOMPARE(std::get<Unknown>(lines.at(1).message).summary, QStringLiteral("nova"));
    QCOMPARE(lines.at(1).text, QByteArray(R"({"type":"nova"})"));
}

void TestClaudeCodec::noiseIsUnknown_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QString>("summary");
    QTest::newRow("words") << QByteArray("Warning: something") << QStringLiteral("not JSON");
    QTest::newRow("number") << QByteArray("5") << QStringLiteral("not JSON");
    QTest::newRow("null") << QByteArray("null") << QStringLiteral("not JSON");
    QTest::newRow("array") << QByteArray("[1,2]") << QStringLiteral("not JSON");
    QTest::newRow("cut") << QByteArray(R"({"type":"assist)") << QStringLiteral("not JSON");
    QTest::newRow("object and noise") << QByteArray(R"({"type":"user"} oops)") << QStringLiteral("not JSON");
    QTest::newRow("bytes") << QByteArray("\xff\xfe\x00\x01", 4) << QStringLiteral("not JSON");
    QTest::newRow("no type") << QByteArray("{}") << QStringLiteral("without a type");
    QTest::newRow("type is a number") << QByteArray(R"({"type":3})") << QStringLiteral("without a type");
    QTest::newRow("new system kind") << QByteArray(R"({"type":"system","subtype":"foo"})") << QStringLiteral("system/foo");
    QTest::newRow("long kind") << QByteArray("{\"type\":\"") + QByteArray(5000, 'k') + "\"}" << QString(200, u'k');
    QTest::newRow("assistant without message") << QByteArray(R"({"type":"assistant"})") << QStringLiteral("assistant without content");
    QTest::newRow("user with null") << QByteArray(R"({"type":"user","message":null})") << QStringLiteral("user without content");
    QTest::newRow("request without id") << QByteArray(R"({"type":"control_request","request":{"subtype":"x"}})")
                                        << QStringLiteral("control_request without an id/x");
}

void TestClaudeCodec::noiseIsUnknown()
{
    QFETCH(QByteArray, line);
    QFETCH(QString, summary);
    const QList<Line> lines = decode(line);
    QCOMPARE(lines.size(), 1);
    QCOMPARE(lines.first().text, line);
    QCOMPARE(std::get<Unknown>(lines.first().message).summary, summary);
}

void TestClaudeCodec::deepRequestIsSurfaced()
{
    const QByteArray input = "{\"a\":" + QByteArray(100'000, '[') + QByteArray(100'000, ']') + '}';
    const QList<Line> lines = decode("{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":{\"subtype\":\"can_use_tool\","
                                     "\"tool_name\":\"Bash\",\"input\":" + input + "}}");
    const CanUseTool tool = std::get<CanUseTool>(lines.first().message);
    QVERIFY(tool.tooDeep);
    QCOMPARE(tool.requestId, QStringLiteral("r"));
    QCOMPARE(tool.toolName, QStringLiteral("Bash"));
    QCOMPARE(tool.input, QByteArray());
    QVERIFY(tool.raw.contains(input));
}

void TestClaudeCodec::loneSurrogateRequestIsSurfaced()
{
    const QList<Line> lines = decode(R"({"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool",)"
                                     R"("tool_name":"Bash","input":{"command":"echo \ud83d"}}})");
    QCOMPARE(std::get<CanUseTool>(lines.first().message).input, QByteArray(R"({"command":"echo \ufffd"})"));
}

void TestClaudeCodec::inputKeepsItsText()
{
    const QByteArray input = R"({"n":1.10,"big":12345678901234567890123,"e":1e2,"s":"\u00e9\/","z":1,"a":2, "k" : [ 1 ]})";
    const QList<Line> lines = decode(R"({"type":"control_request","request_id":"r","request":{"input":{"input":0},)"
                                     R"("subtype":"can_use_tool","tool_name":"X","input":)" + input + "}}");
    QCOMPARE(std::get<CanUseTool>(lines.first().message).input, input);
    const QByteArray written = "\"updatedInput\":" + input + '}';
    QVERIFY(allowLine(QStringLiteral("r"), input).contains(written));
}

void TestClaudeCodec::linesAreWellFormed()
{
    const QString nasty = QStringLiteral("a\"\\\n\u2028\u202e") + QChar(0xd800);
    for (const QByteArray &line :
         {initializeLine(nasty, true), requestLine(nasty, QStringLiteral("set_model"), QStringLiteral("model"), nasty),
          interruptLine(nasty), promptLine(nasty, nasty), allowLine(nasty, "{\n \"a\": 1\r\n}"), denyLine(nasty, nasty),
          denyLine(nasty, {}), hookLine(nasty, {}, {}), hookLine(nasty, QStringLiteral("ask"), nasty), errorLine(nasty, nasty),
          mcpLine(nasty, {}, "{}"), mcpErrorLine(nasty, "\"x\"", -1, nasty)}) {
        QVERIFY(line.endsWith('\n'));
        QCOMPARE(line.count('\n'), 1);
        QCOMPARE(line.count('\r'), 0);
        const auto json = nlohmann::json::parse(line.toStdString(), nullptr, false);
        QVERIFY2(json.is_object(), line.constData());
        QVERIFY(json["type"].is_string());
    }
    const auto initialize = nlohmann::json::parse(initializeLine(QStringLiteral("i"), true).toStdString());
    QCOMPARE(QString::fromStdString(initialize["request"].dump()),
             QStringLiteral(R"({"hooks":{"PreToolUse":[{"hookCallbackIds":["gate"],"onFailure":"block","timeout":3600}]},)"
                            R"("sdkMcpServers":["signalbox"],"subtype":"initialize"})"));
    QVERIFY(!initializeLine(QStringLiteral("i"), false).contains("sdkMcpServers"));
    const auto denied = nlohmann::json::parse(denyLine(QStringLiteral("i"), QStringLiteral("  ")).toStdString());
    QVERIFY(!denied["response"]["response"]["message"].get<std::string>().empty());
    QVERIFY(promptLine({}, QStringLiteral("/clear")).contains("\" /clear\""));
    const auto list = nlohmann::json::parse(mcpToolList({{QStringLiteral("t"), QStringLiteral("d"), "no json"}}).toStdString());
    QCOMPARE(QString::fromStdString(list.dump()),
             QStringLiteral(R"({"tools":[{"description":"d","inputSchema":{"type":"object"},"name":"t"}]})"));
}

void TestClaudeCodec::bigLines_data()
{
    QTest::addColumn<qsizetype>("size");
    QTest::newRow("64 KiB - 1") << qsizetype(65535);
    QTest::newRow("64 KiB") << qsizetype(65536);
    QTest::newRow("1 MiB + 1") << qsizetype(1024 * 1024 + 1);
    QTest::newRow("43 MiB") << qsizetype(43) * 1024 * 1024;
}

void TestClaudeCodec::bigLines()
{
    QFETCH(qsizetype, size);
    const QByteArray head = R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":")";
    const QByteArray tail = R"("}]}})";
    const QList<Line> lines = decode(head + QByteArray(size - head.size() - tail.size(), 'x') + tail);
    QCOMPARE(lines.first().text.size(), size);
    QCOMPARE(std::get<UserLine>(lines.first().message).results.first().text.size(), size - head.size() - tail.size());
}

QTEST_GUILESS_MAIN(TestClaudeCodec)
#include "tst_claudecodec.moc"
