// The driver over every recording of the real program. In them "out" is what the host wrote, "in" what Codex did.
#include "engine/harness/linesplitter.h"
#include "tests/harness/driverlog.h"

#include <QDir>
#include <QFile>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace engine;
using nlohmann::json;

namespace {

struct CodexLine
{
    bool fromHost = false;
    bool isEnd = false;
    QByteArray bytes;
    json value; // null when the line is no JSON on purpose
};

QStringList codexRecordings()
{
    QStringList names;
    for (const QString &file : QDir(QStringLiteral(TEST_DATA "/codex")).entryList({QStringLiteral("*.jsonl")}, QDir::Files))
        names.append(file.chopped(6));
    return names;
}

QList<CodexLine> codexRecording(const QString &name)
{
    QFile file(QStringLiteral(TEST_DATA "/codex/%1.jsonl").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QList<CodexLine> lines;
    while (!file.atEnd()) {
        const json entry = json::parse(file.readLine().toStdString());
        CodexLine line;
        line.fromHost = entry.at("dir") == "out";
        line.isEnd = entry.at("dir") == "eof";
        if (entry.contains("raw"))
            line.bytes = QByteArray::fromStdString(entry.at("raw").get<std::string>());
        else if (!line.isEnd)
            line.value = entry.at("msg"), line.bytes = QByteArray::fromStdString(line.value.dump());
        lines.append(line);
    }
    return lines;
}

std::string methodOf(const json &value)
{
    return value.is_object() ? value.value("method", "") : "";
}

QStringList describedAll(const QList<HarnessEvent> &events)
{
    QStringList log;
    for (const HarnessEvent &event : events)
        log.append(describe(event));
    return log;
}

// As the recorded host's requests set it up.
LaunchContext contextOf(const QList<CodexLine> &lines)
{
    LaunchContext context;
    context.agent.harness = HarnessKind::Codex;
    context.agent.gate = Gate::Native;
    context.workspace = QStringLiteral("/workspace");
    for (const CodexLine &line : lines) {
        const std::string method = methodOf(line.value);
        if (!line.fromHost || (method != "thread/start" && method != "thread/resume"))
            continue;
        const json params = line.value.value("params", json::object());
        context.resume = method == "thread/resume";
        context.session.native.nativeSessionId = QString::fromStdString(params.value("threadId", ""));
        context.agent.approvalPolicy = QString::fromStdString(
            params.contains("approvalPolicy") && params["approvalPolicy"].is_string() ? params.value("approvalPolicy", "") : "");
        context.agent.sandboxMode = QString::fromStdString(params.value("sandbox", ""));
        break;
    }
    return context;
}

// Plays the recorded host's part through the driver's own functions and keeps what went over the wire.
struct CodexPlayer
{
    struct Wire
    {
        bool fromHost = false;
        bool isEnd = false;
        QByteArray bytes;
    };

    explicit CodexPlayer(const LaunchContext &given) : context(given) { keep(driver->begin(context)); }

    QStringList keep(const DriverOutput &output)
    {
        for (const InputLine &input : output.inputs)
            wire.append({true, false, input.bytes.trimmed()});
        return describedAll(output.events);
    }

    QStringList play(const CodexLine &line)
    {
        if (line.isEnd) {
            wire.append({false, true, {}});
            return describedAll(driver->processExited(0, {}).events);
        }
        if (line.fromHost) {
            act(line.value);
            return {};
        }
        json value = line.value;
        if (value.contains("id") && !value.contains("method")) {
            const auto found = ids.find(value["id"].dump());
            if (found == ids.end())
                return {}; // an answer to a request that only the recorded host made
            value["id"] = found->second;
        }
        Wire heard{false, false, QByteArray::fromStdString(value.dump())};
        wire.append(heard);
        return keep(driver->feed(heard.bytes));
    }

    void act(const json &value)
    {
        if (!value.is_object())
            return;
        const std::string method = methodOf(value);
        const json params = value.value("params", json::object());
        const std::string id = value.contains("id") ? value["id"].dump() : "";
        if (method.empty()) {
            answer(value);
        } else if (method == "initialize") {
            ids.emplace(id, "sb-initialize");
        } else if (method == "thread/start" || method == "thread/resume") {
            ids.emplace(id, "sb-open");
        } else if (method == "turn/start" || method == "turn/steer") {
            const QString name = QStringLiteral("prompt-%1").arg(wire.size());
            ids.emplace(id, name.toStdString());
            const json input = params.value("input", json::array());
            keep(driver->prompt(name, QString::fromStdString(input.empty() ? "" : input[0].value("text", ""))));
        } else if (method == "turn/interrupt") {
            const qsizetype before = wire.size();
            keep(driver->interrupt());
            if (wire.size() > before)
                ids.emplace(id, json::parse(wire.last().bytes.toStdString())["id"].get<std::string>());
        }
    }

    void answer(const json &value)
    {
        for (const PermissionRequested &open : driver->openRequests()) {
            if (!open.requestId.startsWith(QString::fromStdString(value["id"].dump()) + u'@'))
                continue;
            const json result = value.value("result", json());
            const std::string word = result.is_object() && result.contains("decision") && result["decision"].is_string()
                                         ? result.value("decision", "")
                                         : result.is_object() ? result.value("action", "accept") : "error";
            const QString name = QStringLiteral("decision-%1").arg(wire.size());
            if (word == "accept" || word == "acceptForSession")
                keep(driver->allow(name, open.requestId, open.input));
            else
                keep(driver->deny(name, open.requestId, QStringLiteral("no")));
            return;
        }
    }

    // What a new engine has: the wire's record.
    QStringList replay(const Wire &line)
    {
        if (line.isEnd)
            return describedAll(driver->processExited(0, {}).events);
        if (line.fromHost) {
            written.insert(line.bytes);
            driver->replayInput(line.bytes);
            return {};
        }
        const DriverOutput output = driver->feed(line.bytes);
        generated += output.inputs;
        return describedAll(output.events);
    }

    // What a rebuilt driver would send, since the record does not hold it.
    QStringList missing() const
    {
        QStringList names;
        for (const InputLine &input : generated) {
            if (!written.contains(input.bytes.trimmed()) && !driver->isRecorded(input))
                names.append(input.id);
        }
        return names;
    }

    LaunchContext context;
    FakeTools tools;
    std::unique_ptr<HarnessDriver> driver = makeCodexDriver(tools);
    QList<Wire> wire;
    std::map<std::string, std::string> ids;
    QSet<QByteArray> written;
    QList<InputLine> generated;
};

// The record as it is, without a part of ours.
QStringList heard(const QList<CodexLine> &lines, const std::function<QList<QByteArray>(const QByteArray &)> &change)
{
    FakeTools tools;
    const std::unique_ptr<HarnessDriver> driver = makeCodexDriver(tools);
    driver->begin(contextOf(lines));
    QStringList log;
    for (const CodexLine &line : lines) {
        if (line.isEnd) {
            log += describedAll(driver->processExited(0, {}).events);
        } else if (line.fromHost) {
            driver->replayInput(line.bytes);
        } else {
            for (const QByteArray &bytes : change(line.bytes))
                log += describedAll(driver->feed(bytes).events);
        }
    }
    return log;
}

QList<QByteArray> asItIs(const QByteArray &line)
{
    return {line};
}

const QStringList withLog{QStringLiteral("plain_text_turn"),          QStringLiteral("reasoning_turn"),
                          QStringLiteral("exec_approval_accept"),     QStringLiteral("exec_approval_decline"),
                          QStringLiteral("exec_approval_cancel"),     QStringLiteral("patch_readonly_accept"),
                          QStringLiteral("permissions_request"),      QStringLiteral("user_input_feature"),
                          QStringLiteral("mcp_elicitation_accept"),   QStringLiteral("mcp_tool_call_decline"),
                          QStringLiteral("dynamic_tool_namespace"),   QStringLiteral("turn_interrupt_stream"),
                          QStringLiteral("turn_interrupt_running_command"), QStringLiteral("error_err401"),
                          QStringLiteral("error_cut"),                QStringLiteral("resume_missing_rollout"),
                          QStringLiteral("write_stdin_untrusted"),    QStringLiteral("codemode_exec_approval"),
                          QStringLiteral("policy_onfailure"),         QStringLiteral("fault_two_processes_one_thread")};

} // namespace

class TestCodexRecordings final : public QObject
{
    Q_OBJECT

private slots:
    void everyRecording_data() { add(codexRecordings()); }
    void everyRecording();
    void expectedLog_data() { add(withLog); }
    void expectedLog();
    void cutAtEveryLine_data() { add(codexRecordings()); }
    void cutAtEveryLine();
    void bytesOneByOne_data() { add(codexRecordings()); }
    void bytesOneByOne();
    void noiseBetween_data() { add(codexRecordings()); }
    void noiseBetween();
    void doubledLines_data() { add(codexRecordings()); }
    void doubledLines();
    void truncatedLines_data() { add(codexRecordings()); }
    void truncatedLines();

private:
    static void add(const QStringList &names)
    {
        QTest::addColumn<QString>("name");
        for (const QString &name : names)
            QTest::newRow(qPrintable(name)) << name;
    }
};

void TestCodexRecordings::everyRecording()
{
    QFETCH(QString, name);
    const QList<CodexLine> lines = codexRecording(name);
    QVERIFY(!lines.isEmpty());
    const QStringList log = heard(lines, asItIs);
    qsizetype completed = 0;
    qsizetype asked = 0;
    qsizetype toolCalls = 0;
    for (const CodexLine &line : lines) {
        const std::string method = methodOf(line.value);
        completed += !line.fromHost && method == "turn/completed";
        asked += !line.fromHost && line.value.contains("id") && !method.empty();
        toolCalls += !line.fromHost && method == "item/tool/call";
    }
    const auto count = [&](const char *start) {
        return std::count_if(log.begin(), log.end(), [&](const QString &event) { return event.startsWith(QLatin1String(start)); });
    };
    // A refused prompt and a death end a turn too, without the harness's word.
    const auto unsaid = std::count_if(log.begin(), log.end(), [](const QString &event) {
        return event.startsWith(u"turn ended") && (event.contains(u"process_exited") || event.contains(u"failed: refused"));
    });
    QCOMPARE(count("turn ended") - unsaid, completed);
    QCOMPARE(count("asks"), asked - toolCalls); // the console's own tools answer by themselves
    QCOMPARE(count("unknown"), 0);
    QCOMPARE(count("identity mismatch"), 0);
    QCOMPARE(count("broken"), 0);
    // Whatever began is told to be over, but for the tools of a process that died.
    const bool died = std::any_of(log.begin(), log.end(), [](const QString &event) { return event.contains(u"process_exited"); });
    QVERIFY(died || count("tool ended") >= count("tool call_"));
}

void TestCodexRecordings::expectedLog()
{
    QFETCH(QString, name);
    const QByteArray found = heard(codexRecording(name), asItIs).join(u'\n').toUtf8() + '\n';
    QFile file(QStringLiteral(TEST_DATA "/codex/expected/%1.txt").arg(name));
    if (qEnvironmentVariableIsSet("UPDATE_EXPECTED")) {
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(found);
        file.close();
    }
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
    const QStringList expected = QString::fromUtf8(file.readAll()).split(u'\n');
    const QStringList real = QString::fromUtf8(found).split(u'\n');
    for (qsizetype i = 0; i < std::max(expected.size(), real.size()); ++i)
        QCOMPARE(real.value(i), expected.value(i));
}

// An engine that restarts after any line goes on where the old one was, and sends nothing a second time.
void TestCodexRecordings::cutAtEveryLine()
{
    QFETCH(QString, name);
    const QList<CodexLine> lines = codexRecording(name);
    const LaunchContext context = contextOf(lines);
    CodexPlayer original(context);
    QStringList live;
    for (const CodexLine &line : lines)
        live += original.play(line);
    const auto wire = original.wire;

    CodexPlayer reference(context);
    QList<QStringList> events;
    QList<DriverPhase> phases;
    QList<QList<PermissionRequested>> open;
    for (const auto &line : wire) {
        events.append(reference.replay(line));
        phases.append(reference.driver->phase());
        open.append(reference.driver->openRequests());
    }
    QCOMPARE(reference.driver->phase(), original.driver->phase());
    QCOMPARE(reference.missing(), QStringList());

    const qsizetype step = 1 + wire.size() / 60; // the cost is quadratic
    for (qsizetype cut = 0; cut < wire.size(); cut += step) {
        CodexPlayer rebuilt(context);
        for (qsizetype i = 0; i <= cut; ++i)
            rebuilt.replay(wire.at(i));
        QCOMPARE(rebuilt.driver->phase(), phases.at(cut));
        QCOMPARE(rebuilt.driver->openRequests(), open.at(cut));
        for (qsizetype i = cut + 1; i < wire.size(); ++i)
            QCOMPARE(rebuilt.replay(wire.at(i)), events.at(i));
        QCOMPARE(rebuilt.missing(), QStringList());
    }
}

void TestCodexRecordings::bytesOneByOne()
{
    QFETCH(QString, name);
    const QList<CodexLine> lines = codexRecording(name);
    const QStringList whole = heard(lines, asItIs);
    LineSplitter splitter;
    const QStringList bytewise = heard(lines, [&](const QByteArray &line) {
        QList<QByteArray> out;
        const QByteArray wire = line + "\r\n";
        for (qsizetype i = 0; i < wire.size(); ++i) {
            for (const SplitLine &split : splitter.feed(wire.mid(i, 1)))
                out.append(split.bytes);
        }
        return out;
    });
    QCOMPARE(bytewise, whole);
}

void TestCodexRecordings::noiseBetween()
{
    QFETCH(QString, name);
    const QList<CodexLine> lines = codexRecording(name);
    QStringList noisy = heard(lines, [](const QByteArray &line) {
        return QList<QByteArray>{"\x1b[31mERROR\x1b[0m not a line of the protocol", "[]", "", "{\"foo\":1}",
                                 "{\"id\":99999,\"result\":{}}", "\xff\xfe", line, "{\"method\":\"never/seen\",\"params\":{}}"};
    });
    QVERIFY(noisy.removeIf([](const QString &event) { return event.startsWith(u"unknown"); }) > 0);
    QCOMPARE(noisy, heard(lines, asItIs));
}

// A line told twice tells nothing new; only pieces of text and mere news can't be told apart.
void TestCodexRecordings::doubledLines()
{
    QFETCH(QString, name);
    const QList<CodexLine> lines = codexRecording(name);
    QStringList doubled = heard(lines, [](const QByteArray &line) {
        const bool isNews = line.contains("/delta\"") || line.contains("TextDelta\"") || line.contains("outputDelta\"") ||
                            line.contains("\"method\":\"error\"") || line.contains("arning\"") ||
                            line.contains("PartAdded\"") || line.contains("terminalInteraction\"");
        return isNews ? QList<QByteArray>{line} : QList<QByteArray>{line, line};
    });
    QCOMPARE(doubled, heard(lines, asItIs));
}

// Half a line is kept and shown, whatever it was, and the lines behind it are still understood.
void TestCodexRecordings::truncatedLines()
{
    QFETCH(QString, name);
    const QList<CodexLine> lines = codexRecording(name);
    const QStringList log = heard(lines, [](const QByteArray &line) {
        QList<QByteArray> out;
        for (const qsizetype at : {qsizetype(1), line.size() / 3, line.size() / 2, line.size() - 1})
            out.append(line.left(at));
        out.append(line);
        return out;
    });
    QStringList known = log;
    known.removeIf([](const QString &event) { return event.startsWith(u"unknown not JSON"); });
    QCOMPARE(known, heard(lines, asItIs));
    QVERIFY(log.size() > known.size());
}

QTEST_GUILESS_MAIN(TestCodexRecordings)
#include "tst_codexrecordings.moc"
