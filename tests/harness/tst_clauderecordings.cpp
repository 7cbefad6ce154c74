// The driver over every recording of the real programs.
#include "tests/harness/driverlog.h"

#include <QFile>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace engine;

class TestClaudeRecordings : public QObject
{
    Q_OBJECT

private slots:
    void everyRecording_data();
    void everyRecording();
    void expectedLog_data();
    void expectedLog();
    void cutAtEveryLine_data();
    void cutAtEveryLine();
};

namespace {

const QStringList important{
    QStringLiteral("2.1.197/01_text_two_turns"),      QStringLiteral("2.1.332/01_text_two_turns"),
    QStringLiteral("2.1.197/04_perm_deny"),           QStringLiteral("2.1.332/02_perm_allow"),
    QStringLiteral("2.1.332/05_perm_deny_interrupt"), QStringLiteral("2.1.332/11_interrupt_perm_pending"),
    QStringLiteral("2.1.332/13_set_mode_model"),      QStringLiteral("2.1.332/30_api_401"),
    QStringLiteral("2.1.197/36_stream_cut"),          QStringLiteral("2.1.332/36b_stream_cut_once"),
    QStringLiteral("2.1.332/38b_budget_resume"),      QStringLiteral("2.1.332/39_two_tools_parallel"),
    QStringLiteral("2.1.332/42_resume_missing"),      QStringLiteral("2.1.332/73_ask_user_question"),
    QStringLiteral("2.1.332/74_plan_mode_exit"),      QStringLiteral("2.1.332/82_flags"),
    QStringLiteral("2.1.332/84_slash")};

QString typeOf(const nlohmann::json &json, const char *key)
{
    if (!json.is_object())
        return {};
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

nlohmann::json objectOf(const nlohmann::json &json, const char *key)
{
    if (!json.is_object())
        return {};
    const auto found = json.find(key);
    return found != json.end() ? *found : nlohmann::json();
}

// Plays the recorded host's part through the driver's own functions and keeps what went over the wire.
struct Player
{
    explicit Player(const QString &session) { keep(driver->begin(contextFor(session)).inputs, {}); }

    QList<HarnessEvent> play(RecordedLine line)
    {
        if (line.dir == u"in") {
            act(line);
            return {};
        }
        if (line.dir == u"out") {
            for (auto it = ids.begin(); it != ids.end(); ++it)
                line.bytes.replace(QByteArray('"' + it.key() + '"'), QByteArray('"' + it.value() + '"'));
            wire.append(line);
            DriverOutput output = driver->feed(line.bytes);
            keep(output.inputs, {});
            return output.events;
        }
        wire.append(line);
        return finish(line);
    }

    // What a new engine has: the wire's record.
    QList<HarnessEvent> replay(const RecordedLine &line)
    {
        if (line.dir == u"out")
            return driver->feed(line.bytes).events;
        if (line.dir == u"in")
            driver->replayInput(line.bytes);
        return finish(line);
    }

    QList<HarnessEvent> finish(const RecordedLine &line)
    {
        if (line.dir == u"exit")
            return driver->processExited(line.exitCode, errorTail).events;
        if (line.dir == u"stderr")
            errorTail += line.bytes + '\n';
        return {};
    }

    void act(const RecordedLine &line)
    {
        const auto json = nlohmann::json::parse(line.bytes.toStdString(), nullptr, false);
        const QString type = typeOf(json, "type");
        const auto request = objectOf(json, "request");
        const QString subtype = typeOf(request, "subtype");
        const QByteArray id = typeOf(json, "request_id").toUtf8();
        const auto content = objectOf(objectOf(json, "message"), "content");
        const auto response = objectOf(json, "response");
        const QString requestId = typeOf(response, "request_id");
        const auto decision = objectOf(response, "response");
        if (type == u"user" && content.is_string()) {
            keep(driver->prompt(typeOf(json, "uuid").isEmpty() ? QStringLiteral("r-%1:1").arg(wire.size()) : typeOf(json, "uuid"),
                                QString::fromStdString(content.get<std::string>())).inputs, {});
        } else if (subtype == u"initialize" && !ids.contains(id)) {
            ids.insert(id, "sb-initialize");
        } else if (subtype == u"interrupt") {
            keep(driver->interrupt().inputs, id);
        } else if (subtype == u"set_model" && request.contains("model")) {
            keep(driver->setModel(typeOf(request, "model")).inputs, id);
        } else if (subtype == u"set_permission_mode") {
            keep(driver->setPermissionMode(typeOf(request, "mode")).inputs, id);
        } else if (subtype == u"end_session") {
            keep(driver->endSession().inputs, id);
        } else if (typeOf(decision, "behavior") == u"allow" && decision.contains("updatedInput")) {
            keep(driver->allow(requestId, requestId, QByteArray::fromStdString(decision["updatedInput"].dump())).inputs, {});
        } else if (typeOf(decision, "behavior") == u"deny") {
            keep(driver->deny(requestId, requestId, typeOf(decision, "message")).inputs, {});
        } else {
            driver->replayInput(line.bytes);
            wire.append(line);
        }
    }

    // The recorded answer to a request of ours comes under the recorded id.
    void keep(const QList<InputLine> &inputs, const QByteArray &recordedId)
    {
        for (const InputLine &input : inputs) {
            wire.append({QStringLiteral("in"), input.bytes.trimmed(), 0});
            if (!recordedId.isEmpty())
                ids.insert(recordedId, input.id.toUtf8());
        }
    }

    FakeTools tools;
    std::unique_ptr<HarnessDriver> driver = makeClaudeDriver(tools);
    QByteArray errorTail;
    QHash<QByteArray, QByteArray> ids;
    QList<RecordedLine> wire;
};

QStringList described(const QList<HarnessEvent> &events)
{
    QStringList lines;
    for (const HarnessEvent &event : events)
        lines.append(describe(event));
    return lines;
}

void addRecordings(const QStringList &names)
{
    QTest::addColumn<QString>("name");
    for (const QString &name : names)
        QTest::newRow(qPrintable(name)) << name;
}

} // namespace

void TestClaudeRecordings::everyRecording_data()
{
    const QStringList names = recordingNames();
    QVERIFY2(names.size() >= 270, qPrintable(QString::number(names.size())));
    addRecordings(names);
}

void TestClaudeRecordings::everyRecording()
{
    QFETCH(QString, name);
    const QList<RecordedLine> lines = readRecording(recordingPath(name));
    QVERIFY(!lines.isEmpty());
    Player player(recordedSession(lines));
    int results = 0;
    int ended = 0;
    QStringList askedOnWire;
    QStringList asked;
    for (const RecordedLine &line : lines) {
        const QList<HarnessEvent> events = player.play(line);
        bool unknown = false;
        for (const HarnessEvent &event : events) {
            if (const auto *request = std::get_if<PermissionRequested>(&event)) {
                asked.append(request->requestId);
                QVERIFY(line.bytes.contains(request->input));
            }
            ended += std::holds_alternative<TurnEnded>(event) || std::holds_alternative<StartFailed>(event);
            unknown = unknown || std::holds_alternative<UnknownLine>(event);
        }
        QVERIFY2(!unknown, qPrintable(QString::fromUtf8(line.bytes.left(300))));
        if (line.dir == u"exit") {
            QCOMPARE(player.driver->phase(), DriverPhase::Ended);
            QCOMPARE(player.driver->openRequests().size(), 0);
            continue;
        }
        if (line.dir != u"out")
            continue;
        const auto json = nlohmann::json::parse(line.bytes.toStdString());
        const bool isResult = typeOf(json, "type") == u"result";
        results += isResult;
        if (isResult)
            QCOMPARE(ended, results);
        if (typeOf(json, "type") == u"control_request" && typeOf(json["request"], "subtype") == u"can_use_tool")
            askedOnWire.append(typeOf(json, "request_id"));
    }
    QCOMPARE(asked, askedOnWire);
    // The exit may end one more turn, or a start.
    QVERIFY(ended == results || ended == results + 1);
}

void TestClaudeRecordings::expectedLog_data()
{
    addRecordings(important);
}

void TestClaudeRecordings::expectedLog()
{
    QFETCH(QString, name);
    const QList<RecordedLine> lines = readRecording(recordingPath(name));
    Player player(recordedSession(lines));
    QStringList log;
    for (const RecordedLine &line : lines)
        log += described(player.play(line));
    const QString path =
        QStringLiteral(TEST_DATA "/claude/expected/%1.txt").arg(QString(name).replace(u'/', u'_'));
    const QByteArray found = log.join(u'\n').toUtf8() + '\n';
    QFile file(path);
    if (qEnvironmentVariableIsSet("UPDATE_EXPECTED")) {
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(found);
        file.close();
    }
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(path));
    const QStringList expected = QString::fromUtf8(file.readAll()).split(u'\n');
    const QStringList real = QString::fromUtf8(found).split(u'\n');
    for (qsizetype i = 0; i < std::max(expected.size(), real.size()); ++i)
        QCOMPARE(real.value(i), expected.value(i));
}

void TestClaudeRecordings::cutAtEveryLine_data()
{
    addRecordings(recordingNames());
}

// An engine that restarts after any line goes on where the old one was.
void TestClaudeRecordings::cutAtEveryLine()
{
    QFETCH(QString, name);
    const QList<RecordedLine> lines = readRecording(recordingPath(name));
    const QString session = recordedSession(lines);
    Player original(session);
    QList<QStringList> events(original.wire.size());
    QList<DriverPhase> phases;
    QList<QList<PermissionRequested>> open;
    for (const RecordedLine &line : lines) {
        const qsizetype before = original.wire.size();
        const QStringList seen = described(original.play(line));
        // What a line caused stands first in the record, then what was written because of it.
        events.resize(original.wire.size());
        if (original.wire.size() > before)
            events[before] = seen;
    }
    // The state after each line of the record, by a driver that saw them all.
    Player reference(session);
    const QList<RecordedLine> wire = original.wire;
    for (qsizetype i = 0; i < wire.size(); ++i) {
        QCOMPARE(described(reference.replay(wire.at(i))), events.at(i));
        phases.append(reference.driver->phase());
        open.append(reference.driver->openRequests());
    }
    QCOMPARE(reference.driver->phase(), original.driver->phase());
    QCOMPARE(reference.driver->openRequests(), original.driver->openRequests());
    // The cost is quadratic: long recordings are cut at fewer places.
    const qsizetype step = 1 + wire.size() / 100;
    for (qsizetype cut = 0; cut < wire.size(); cut += step) {
        Player rebuilt(session);
        for (qsizetype i = 0; i <= cut; ++i)
            rebuilt.replay(wire.at(i));
        QCOMPARE(rebuilt.driver->phase(), phases.at(cut));
        QCOMPARE(rebuilt.driver->openRequests(), open.at(cut));
        for (qsizetype i = cut + 1; i < wire.size(); ++i)
            QCOMPARE(described(rebuilt.replay(wire.at(i))), events.at(i));
    }
}

QTEST_GUILESS_MAIN(TestClaudeRecordings)
#include "tst_clauderecordings.moc"
