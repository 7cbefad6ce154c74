#include "engine/approvals/canonical.h"

#include <QTest>
#include <cstring>
#include <limits>

using namespace engine;

namespace {

QString canonicalOf(const QByteArray &json)
{
    const Result<QByteArray> result = canonicalJson(json);
    return result ? QString::fromUtf8(*result) : QStringLiteral("refused");
}

ActionFacts someFacts()
{
    ActionFacts facts;
    facts.harness = QStringLiteral("claude");
    facts.kind = QStringLiteral("tool");
    facts.toolName = QStringLiteral("Bash");
    facts.input = R"({"command":"ls","timeout":1000})";
    facts.cwd = QStringLiteral("/work");
    facts.nativeSessionId = QStringLiteral("n");
    facts.nativeRequestId = QStringLiteral("q");
    facts.nativeToolUseId = QStringLiteral("t");
    facts.sessionId = {QStringLiteral("s-1")};
    facts.runId = {QStringLiteral("r-1")};
    facts.attempt = 1;
    facts.generation = 1;
    return facts;
}

Digest actionDigest(const ActionFacts &facts)
{
    const Result<QByteArray> canonical = canonicalAction(facts);
    return canonical ? digestOf(*canonical) : Digest();
}

} // namespace

class TestCanonical : public QObject
{
    Q_OBJECT

private slots:
    void rfc8785_data();
    void rfc8785();
    void numbers_data();
    void numbers();
    void refused_data();
    void refused();
    void deepNestingIsRefusedAndLongArraysAreNot();
    void b05_everyFactChangesTheDigest();
    void spellingDoesNotChangeTheDigest();
    void inputThatIsNoJsonHasADigestOfItsOwn();
    void bigIntegersKeepTheirText();
    void digestIsSha256();
    void invalidTextIsRefused();
};

// The examples of RFC 8785 and of its author's test suite.
void TestCanonical::rfc8785_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("canonical");
    QTest::newRow("section 3.2.2")
        << QByteArray(R"({"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]})")
        << QStringLiteral("{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
                          "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    QTest::newRow("section 3.2.3, UTF-16 order")
        << QByteArray(R"({"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
            "\u00f6": "Latin Small Letter O With Diaeresis"})")
        << QString::fromUtf8("{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
                             "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
                             "\"😀\":\"Emoji: Grinning Face\",\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
    QTest::newRow("arrays keep their order") << QByteArray(R"([ 56, {"d": true, "10": null, "1": [ ]} ])")
                                             << QStringLiteral(R"([56,{"1":[],"10":null,"d":true}])");
    QTest::newRow("nested objects") << QByteArray(
                                           R"({"1": {"f": {"f": "hi","F": 5} ,"\n": 56.0}, "10": { }, "": "empty",
            "a": { }, "111": [ {"e": "yes","E": "no" } ], "A": { }})")
                                    << QStringLiteral(R"({"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},)"
                                                      R"("111":[{"E":"no","e":"yes"}],"A":{},"a":{}})");
    QTest::newRow("unicode stays as it is") << QByteArray(R"({"Unnormalized Unicode":"A\u030a"})")
                                            << QString::fromUtf8("{\"Unnormalized Unicode\":\"A\xcc\x8a\"}");
    QTest::newRow("scalar") << QByteArray(" true ") << QStringLiteral("true");
    QTest::newRow("controls") << QByteArray(R"("\b\t\n\f\r\u0000\u001f\u007f\/")")
                              << QString::fromUtf8("\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f/\"");
}

void TestCanonical::rfc8785()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, canonical);
    QCOMPARE(canonicalOf(json), canonical);
    QCOMPARE(canonicalOf(canonical.toUtf8()), canonical);
}

// Appendix B of RFC 8785: the bits of a double and its text.
void TestCanonical::numbers_data()
{
    QTest::addColumn<quint64>("bits");
    QTest::addColumn<QString>("text");
    const auto row = [](quint64 bits, const char *text) {
        QTest::addRow("%016llx", static_cast<unsigned long long>(bits)) << bits << QString::fromLatin1(text);
    };
    row(0x0000000000000000, "0");
    row(0x8000000000000000, "0");
    row(0x0000000000000001, "5e-324");
    row(0x8000000000000001, "-5e-324");
    row(0x7fefffffffffffff, "1.7976931348623157e+308");
    row(0xffefffffffffffff, "-1.7976931348623157e+308");
    row(0x4340000000000000, "9007199254740992");
    row(0xc340000000000000, "-9007199254740992");
    row(0x4430000000000000, "295147905179352830000");
    row(0x44b52d02c7e14af5, "9.999999999999997e+22");
    row(0x44b52d02c7e14af6, "1e+23");
    row(0x44b52d02c7e14af7, "1.0000000000000001e+23");
    row(0x444b1ae4d6e2ef4e, "999999999999999700000");
    row(0x444b1ae4d6e2ef4f, "999999999999999900000");
    row(0x444b1ae4d6e2ef50, "1e+21");
    row(0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7");
    row(0x3eb0c6f7a0b5ed8d, "0.000001");
    row(0x41b3de4355555553, "333333333.3333332");
    row(0x41b3de4355555554, "333333333.33333325");
    row(0x41b3de4355555555, "333333333.3333333");
    row(0x41b3de4355555556, "333333333.3333334");
    row(0x41b3de4355555557, "333333333.33333343");
    row(0xbecbf647612f3696, "-0.0000033333333333333333");
    row(0x43143ff3c1cb0959, "1424953923781206.2");
}

void TestCanonical::numbers()
{
    QFETCH(quint64, bits);
    QFETCH(QString, text);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    // Seventeen digits name every double; the exponent keeps it from being an integer literal.
    const QByteArray literal = QByteArray::number(value, 'e', 17);
    QCOMPARE(canonicalOf(literal), text);
}

void TestCanonical::refused_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("blank") << QByteArray("  ");
    QTest::newRow("not JSON") << QByteArray("ls -l");
    QTest::newRow("two values") << QByteArray("{} {}");
    QTest::newRow("open object") << QByteArray(R"({"a":1)");
    QTest::newRow("repeated key") << QByteArray(R"({"a":1,"b":2,"a":1})");
    QTest::newRow("repeated key by escape") << QByteArray(R"({"a":1,"\u0061":2})");
    QTest::newRow("lone high surrogate") << QByteArray(R"({"a":"\ud83d"})");
    QTest::newRow("lone low surrogate") << QByteArray(R"(["\udead"])");
    QTest::newRow("invalid UTF-8") << QByteArray("\"\xff\"");
    QTest::newRow("NaN") << QByteArray("NaN");
    QTest::newRow("infinity") << QByteArray("[Infinity]");
    QTest::newRow("beyond a double") << QByteArray("1e400");
    QTest::newRow("inexact integer") << QByteArray("9007199254740993");
    QTest::newRow("inexact negative integer") << QByteArray("[-9007199254740993]");
    QTest::newRow("inexact 20 digits") << QByteArray("18446744073709551615");
    QTest::newRow("inexact 30 digits") << QByteArray("123456789012345678901234567890");
    QTest::newRow("leading zero") << QByteArray("01");
    QTest::newRow("comment") << QByteArray("{} // x");
}

void TestCanonical::refused()
{
    QFETCH(QByteArray, json);
    const Result<QByteArray> result = canonicalJson(json);
    QVERIFY(!result.has_value());
    QVERIFY(result.error().code == ErrorCode::Invalid);
    QVERIFY(result.error().message.size() > 40);
}

void TestCanonical::deepNestingIsRefusedAndLongArraysAreNot()
{
    QVERIFY(canonicalJson(QByteArray(512, '[') + QByteArray(512, ']')).has_value());
    QVERIFY(!canonicalJson(QByteArray(513, '[') + QByteArray(513, ']')).has_value());
    QVERIFY(!canonicalJson(QByteArray(1'000'000, '[')).has_value());
    QByteArray array = "[0";
    for (int i = 0; i < 100'000; ++i)
        array += ",1";
    QCOMPARE(canonicalJson(array + ']').value_or(QByteArray()), array + ']');
}

void TestCanonical::b05_everyFactChangesTheDigest()
{
    const Digest original = actionDigest(someFacts());
    QVERIFY(!original.isEmpty());
    QSet<QString> digests{original.value};
    const auto changed = [&digests](const std::function<void(ActionFacts &)> &change) {
        ActionFacts facts = someFacts();
        change(facts);
        digests.insert(actionDigest(facts).value);
    };
    changed([](ActionFacts &f) { f.harness = QStringLiteral("codex"); });
    changed([](ActionFacts &f) { f.kind = QStringLiteral("plan"); });
    changed([](ActionFacts &f) { f.toolName = QStringLiteral("Write"); });
    changed([](ActionFacts &f) { f.input = R"({"command":"ls -l","timeout":1000})"; });
    changed([](ActionFacts &f) { f.input = R"({"command":"ls","timeout":"1000"})"; });
    changed([](ActionFacts &f) { f.cwd = QStringLiteral("/"); });
    changed([](ActionFacts &f) { f.nativeSessionId = QStringLiteral("n2"); });
    changed([](ActionFacts &f) { f.nativeRequestId = QStringLiteral("q2"); });
    changed([](ActionFacts &f) { f.nativeToolUseId = QStringLiteral("t2"); });
    changed([](ActionFacts &f) { f.sessionId = {QStringLiteral("s-2")}; });
    changed([](ActionFacts &f) { f.runId = {QStringLiteral("r-2")}; });
    changed([](ActionFacts &f) { f.attempt = 2; });
    changed([](ActionFacts &f) { f.generation = 2; });
    QCOMPARE(digests.size(), 14);
    QVERIFY(!digests.contains(QString()));
}

void TestCanonical::spellingDoesNotChangeTheDigest()
{
    ActionFacts facts = someFacts();
    facts.input = "{ \"timeout\": 1e3,\n \"\\u0063ommand\": \"l\\u0073\" }";
    QCOMPARE(actionDigest(facts), actionDigest(someFacts()));
    QCOMPARE(inputDigest(facts.input), inputDigest(someFacts().input));
    const Result<QByteArray> canonical = canonicalAction(facts);
    QVERIFY(canonical.has_value());
    QCOMPARE(canonicalJson(*canonical).value_or(QByteArray()), *canonical);
}

void TestCanonical::inputThatIsNoJsonHasADigestOfItsOwn()
{
    QSet<QString> digests;
    for (const QByteArray &input : {QByteArray(), QByteArray("ls -l"), QByteArray("\"ls -l\""), QByteArray("\xff\xfe"),
                                    QByteArray("//4="), QByteArray("{}"), QByteArray("{\"a\":1,\"a\":2}")}) {
        ActionFacts facts = someFacts();
        facts.input = input;
        const Result<QByteArray> canonical = canonicalAction(facts);
        QVERIFY(canonical.has_value());
        QCOMPARE(canonicalJson(*canonical).value_or(QByteArray()), *canonical);
        digests.insert(digestOf(*canonical).value);
    }
    QCOMPARE(digests.size(), 7);
}

void TestCanonical::bigIntegersKeepTheirText()
{
    QVERIFY(inputDigest(R"({"id":9007199254740993})") != inputDigest(R"({"id":9007199254740992})"));
    QVERIFY(inputDigest(R"({"id":9007199254740993})") != inputDigest(R"({"id":9007199254740994})"));
    QCOMPARE(canonicalOf("[9007199254740992,-9007199254740992,9007199254740994]"),
             QStringLiteral("[9007199254740992,-9007199254740992,9007199254740994]"));
}

void TestCanonical::digestIsSha256()
{
    QCOMPARE(digestOf("abc").value, QStringLiteral("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

void TestCanonical::invalidTextIsRefused()
{
    ActionFacts facts = someFacts();
    facts.toolName = QString(QChar(0xd83d));
    const Result<QByteArray> result = canonicalAction(facts);
    QVERIFY(!result.has_value());
    QVERIFY(result.error().code == ErrorCode::Invalid);
}

QTEST_GUILESS_MAIN(TestCanonical)
#include "tst_canonical.moc"
