// Recordings played through the channel, the splitter and the driver.
#include "engine/harness/linesplitter.h"
#include "engine/harness/replay/replaychannel.h"
#include "engine/harness/replay/replayprovider.h"
#include "engine/tools/consoletools.h"
#include "tests/harness/driverlog.h"

#include <QCoroTask>
#include <QElapsedTimer>
#include <QSet>
#include <QSignalSpy>
#include <QTest>

using namespace engine;

namespace {

const QString asked = QStringLiteral("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee");

// The smallest host: what an engine does with a channel and a driver.
class Host : public QObject
{
    Q_OBJECT

public:
    explicit Host(const QString &recording, double speed = 0)
    {
        sandbox::ComputerSpec spec;
        spec.sessionId = QStringLiteral("s");
        spec.labels = {{QStringLiteral("recording"), recording}, {QStringLiteral("speed"), QString::number(speed)}};
        channel = std::move(*QCoro::waitFor(provider.open(*QCoro::waitFor(provider.ensure(spec)), 1, {})));
        connect(channel.get(), &sandbox::Channel::received, this,
                [this](sandbox::Stream stream, quint64 offset, const QByteArray &bytes) {
                    if (stream == sandbox::Stream::ErrorOutput)
                        return;
                    inOrder = inOrder && offset == received;
                    received += quint64(bytes.size());
                    for (const SplitLine &line : splitter.feed(bytes))
                        run(driver->feed(line.bytes));
                });
        connect(channel.get(), &sandbox::Channel::exited, this, [this](int code) {
            exitCode = code;
            run(driver->processExited(code, {}));
        });
        connect(channel.get(), &sandbox::Channel::launchFailed, this, [this](const QString &message) { failure = message; });
    }

    void launch()
    {
        LaunchContext context = contextFor(asked, gate);
        context.program = QStringLiteral(":/demo");
        channel->launch(driver->launchSpec(context));
        run(driver->begin(context));
    }

    bool prompt(const QString &text = QStringLiteral("go"))
    {
        ended.reset();
        run(driver->prompt(QStringLiteral("r:%1").arg(++prompts), text));
        return until([this] { return ended.has_value() || exitCode >= 0; });
    }

    bool untilReady()
    {
        return until([this] { return driver->phase() == DriverPhase::Ready; });
    }

    // Wakes with each chunk; polling would take longer than the recordings do.
    bool until(const std::function<bool()> &reached)
    {
        QSignalSpy spy(channel.get(), &sandbox::Channel::received);
        while (!reached()) {
            if (!spy.wait(10000))
                return reached();
        }
        return true;
    }

    void run(const DriverOutput &output)
    {
        for (const InputLine &input : output.inputs)
            channel->send(input.id, input.bytes);
        for (const HarnessEvent &event : output.events) {
            log.append(describe(event));
            if (const auto *request = std::get_if<PermissionRequested>(&event)) {
                requests.append(*request);
                if (decide)
                    run(decide(*request));
            } else if (const auto *end = std::get_if<TurnEnded>(&event)) {
                ended = *end;
            } else if (const auto *text = std::get_if<TextCompleted>(&event)) {
                keys.append(text->key);
            } else if (const auto *tool = std::get_if<ToolStarted>(&event)) {
                keys.append(tool->toolUseId);
                openTools.insert(tool->toolUseId);
            } else if (const auto *toolEnd = std::get_if<ToolEnded>(&event)) {
                unknownTools += !openTools.remove(toolEnd->toolUseId);
                states.append(toString(toolEnd->state));
            }
        }
    }

    void decideAll(bool allow)
    {
        decide = [this, allow](const PermissionRequested &request) {
            const QString id = QStringLiteral("p") + request.requestId;
            return allow ? driver->allow(id, request.requestId, request.input)
                         : driver->deny(id, request.requestId, QStringLiteral("not now"));
        };
    }

    bool has(const QString &part) const
    {
        return std::any_of(log.begin(), log.end(), [&](const QString &line) { return line.contains(part); });
    }

    ReplayProvider provider;
    std::unique_ptr<sandbox::Channel> channel;
    ConsoleTools tools;
    std::unique_ptr<HarnessDriver> driver = makeClaudeDriver(tools);
    LineSplitter splitter;
    Gate gate = Gate::Native;
    std::function<DriverOutput(const PermissionRequested &)> decide;
    QStringList log;
    QStringList keys;
    QStringList states;
    QSet<QString> openTools;
    int unknownTools = 0;
    QList<PermissionRequested> requests;
    std::optional<TurnEnded> ended;
    QString failure;
    int exitCode = -1;
    int prompts = 0;
    quint64 received = 0;
    bool inOrder = true;
};

QString demo(const char *name)
{
    return QStringLiteral(SOURCE_DIR "/resources/demo/%1.jsonl").arg(QLatin1String(name));
}

} // namespace

class TestReplay : public QObject
{
    Q_OBJECT

private slots:
    void demos_data();
    void demos();
    void migrationBranches();
    void demosTakeTheirTime_data();
    void demosTakeTheirTime();
    void keysAreFreshEachTime();
    void waitsForTheDecision();
    void interruptCancelsTheRequest();
    void inputsApplyOnce();
    void endSessionExits();
    void realRecordings_data();
    void realRecordings();
    void missingRecording();
    void providerFindsWhatItMade();
};

void TestReplay::demos_data()
{
    QTest::addColumn<QString>("recording");
    QTest::addColumn<bool>("allow");
    QTest::addColumn<int>("requests");
    for (const char *name : {"tidy-release", "approve-migration", "question", "trouble"}) {
        const QByteArray row(name);
        const int allowed = row == "approve-migration" ? 2 : row == "question" ? 1 : 0;
        const int denied = row == "approve-migration" ? 1 : allowed;
        QTest::newRow(QByteArray(row + " allow").constData()) << demo(name) << true << allowed;
        QTest::newRow(QByteArray(row + " deny").constData()) << demo(name) << false << denied;
    }
}

void TestReplay::demos()
{
    QFETCH(QString, recording);
    QFETCH(bool, allow);
    QFETCH(int, requests);
    Host host(recording);
    host.decideAll(allow);
    host.launch();
    QVERIFY(host.untilReady());
    for (int round = 0; round < 3; ++round) {
        host.requests.clear();
        QVERIFY(host.prompt());
        if (round == 0)
            QCOMPARE(host.requests.size(), requests);
        QVERIFY(host.ended);
        QCOMPARE(host.ended->isError, recording.contains(QStringLiteral("trouble")) && host.ended->apiStatus == 529);
        QVERIFY(host.ended->usage.outputTokens > 0 || host.ended->isError);
        QCOMPARE(host.driver->phase(), DriverPhase::Ready);
        QCOMPARE(host.driver->openRequests().size(), 0);
        QCOMPARE(host.openTools, QSet<QString>{}); // every tool reported back
    }
    QVERIFY(host.inOrder);
    QCOMPARE(host.unknownTools, 0);
    QVERIFY2(!host.has(QStringLiteral("unknown ")), qPrintable(host.log.join(u'\n')));
    QVERIFY(!host.has(QStringLiteral("identity mismatch")));
    QVERIFY(host.has(QStringLiteral("turn started ") + asked));
    QVERIFY(host.has(QStringLiteral("delta ")));
    QCOMPARE(host.states.contains(QStringLiteral("denied")), !allow && requests > 0);
    QCOMPARE(host.exitCode, -1);
}

void TestReplay::migrationBranches()
{
    for (const bool allow : {true, false}) {
        Host host(demo("approve-migration"));
        host.decideAll(allow);
        host.launch();
        QVERIFY(host.untilReady());
        QVERIFY(host.prompt());
        QCOMPARE(host.requests.first().toolName, QStringLiteral("Bash"));
        if (allow)
            QCOMPARE(host.requests.last().toolName, QStringLiteral("Write"));
        QCOMPARE(host.states.contains(QStringLiteral("denied")), !allow);
    }
    Host question(demo("question"));
    question.decideAll(true);
    question.launch();
    QVERIFY(question.untilReady());
    QVERIFY(question.prompt());
    QVERIFY(question.requests.first().kind == ApprovalKind::Question);
    Host trouble(demo("trouble"));
    trouble.launch();
    QVERIFY(trouble.untilReady());
    QVERIFY(trouble.prompt());
    QVERIFY(trouble.has(QStringLiteral("retry 1/")));
    QVERIFY(trouble.states.contains(QStringLiteral("failed")));
    QCOMPARE(trouble.ended->apiStatus, 529);
}

void TestReplay::demosTakeTheirTime_data()
{
    QTest::addColumn<QString>("recording");
    for (const char *name : {"tidy-release", "approve-migration", "question", "trouble"})
        QTest::newRow(name) << demo(name);
}

void TestReplay::demosTakeTheirTime()
{
    QFETCH(QString, recording);
    Host host(recording, 4);
    host.decideAll(true);
    host.launch();
    QVERIFY(host.untilReady());
    QElapsedTimer timer;
    timer.start();
    QVERIFY(host.prompt());
    // 4 to 12 s at its own speed.
    QVERIFY2(timer.elapsed() >= 900 && timer.elapsed() < 6000, qPrintable(QString::number(timer.elapsed())));
}

void TestReplay::keysAreFreshEachTime()
{
    QStringList keys;
    for (int launch = 0; launch < 2; ++launch) {
        Host host(demo("approve-migration"));
        host.decideAll(true);
        host.launch();
        QVERIFY(host.untilReady());
        for (int i = 0; i < 4; ++i)
            QVERIFY(host.prompt());
        keys += host.keys;
        for (const PermissionRequested &request : std::as_const(host.requests))
            keys.append(request.requestId);
    }
    QVERIFY(keys.size() > 20);
    QCOMPARE(QSet<QString>(keys.begin(), keys.end()).size(), keys.size());
}

void TestReplay::waitsForTheDecision()
{
    Host host(demo("approve-migration"));
    host.launch();
    QVERIFY(host.untilReady());
    host.run(host.driver->prompt(QStringLiteral("r:1"), QStringLiteral("go")));
    QTRY_COMPARE(host.driver->openRequests().size(), 1);
    const qsizetype before = host.log.size();
    QTest::qWait(200);
    QCOMPARE(host.log.size(), before);
    const PermissionRequested request = host.driver->openRequests().first();
    host.run(host.driver->allow(QStringLiteral("p"), request.requestId, request.input));
    QTRY_VERIFY(host.log.size() > before);
}

void TestReplay::interruptCancelsTheRequest()
{
    Host host(demo("approve-migration"));
    host.launch();
    QVERIFY(host.untilReady());
    host.run(host.driver->prompt(QStringLiteral("interrupted"), QStringLiteral("go")));
    QTRY_COMPARE(host.driver->openRequests().size(), 1);
    host.run(host.driver->interrupt());
    QTRY_VERIFY(host.ended.has_value());
    QVERIFY(host.ended->interrupted);
    QVERIFY(host.ended->isError);
    QCOMPARE(host.ended->terminalReason, QStringLiteral("aborted_tools"));
    QCOMPARE(host.log.filter(QStringLiteral("withdrawn ")).size(), 1);
    QCOMPARE(host.driver->phase(), DriverPhase::Ready);
    host.decideAll(true);
    QVERIFY(host.prompt());
    QVERIFY(!host.ended->isError);
    host.run(host.driver->interrupt()); // idle: nothing happens
    QTest::qWait(50);
    QCOMPARE(host.driver->phase(), DriverPhase::Ready);
}

void TestReplay::inputsApplyOnce()
{
    Host host(demo("tidy-release"));
    host.launch();
    QVERIFY(host.untilReady());
    QSignalSpy written(host.channel.get(), &sandbox::Channel::inputWritten);
    const QList<InputLine> inputs = host.driver->prompt(QStringLiteral("r:1"), QStringLiteral("go")).inputs;
    for (int i = 0; i < 3; ++i)
        host.channel->send(inputs.first().id, inputs.first().bytes);
    QTRY_VERIFY(host.ended.has_value());
    QTest::qWait(100);
    QCOMPARE(host.log.filter(QStringLiteral("turn ended")).size(), 1);
    QCOMPARE(written.size(), 3);
}

void TestReplay::endSessionExits()
{
    Host host(demo("question"));
    host.launch();
    QVERIFY(host.untilReady());
    host.run(host.driver->endSession());
    QTRY_COMPARE(host.exitCode, 0);
    QSignalSpy refused(host.channel.get(), &sandbox::Channel::inputRefused);
    host.channel->send(QStringLiteral("late"), "{}\n");
    QTRY_COMPARE(refused.size(), 1);
    host.exitCode = -1;
    host.channel->killHarness();
    QTest::qWait(50);
    QCOMPARE(host.exitCode, -1); // exited() comes once
}

void TestReplay::realRecordings_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"2.1.197/02_perm_allow", "2.1.332/02_perm_allow", "2.1.332/39_two_tools_parallel",
                             "2.1.332/73_ask_user_question", "2.1.197/31_api_500_once", "2.1.332/14_queue_midturn_replay"})
        QTest::newRow(name) << QString::fromLatin1(name);
}

void TestReplay::realRecordings()
{
    QFETCH(QString, name);
    Host host(recordingPath(name));
    host.decideAll(true);
    host.launch();
    QVERIFY(host.untilReady());
    QVERIFY(host.prompt());
    QVERIFY(host.ended);
    QVERIFY(!host.ended->isError);
    QVERIFY(!host.has(QStringLiteral("identity mismatch")));
}

void TestReplay::missingRecording()
{
    Host host(QStringLiteral("/nonexistent/recording.jsonl"));
    host.launch();
    QTRY_VERIFY(!host.failure.isEmpty());
    QVERIFY(host.failure.contains(QStringLiteral("/nonexistent/recording.jsonl")));
    Host wrong(QStringLiteral(SOURCE_DIR "/CMakeLists.txt"));
    wrong.launch();
    QTRY_VERIFY(wrong.failure.contains(QStringLiteral("no recording")));
}

void TestReplay::providerFindsWhatItMade()
{
    ReplayProvider provider;
    QVERIFY(!*QCoro::waitFor(provider.find(QStringLiteral("s"), 1)));
    sandbox::ComputerSpec spec;
    spec.sessionId = QStringLiteral("s");
    const auto computer = QCoro::waitFor(provider.ensure(spec));
    QVERIFY(computer);
    QCOMPARE((*QCoro::waitFor(provider.find(QStringLiteral("s"), 1)))->id, computer->id);
    QVERIFY(!*QCoro::waitFor(provider.find(QStringLiteral("s"), 2)));
    QCOMPARE(QCoro::waitFor(provider.list())->size(), 1);
    QCOMPARE(QCoro::waitFor(provider.pause(*computer)).error().failure, sandbox::Failure::NotSupported);
    QVERIFY(QCoro::waitFor(provider.destroy(*computer)));
    QVERIFY(QCoro::waitFor(provider.destroy(*computer)));
    QVERIFY(!*QCoro::waitFor(provider.find(QStringLiteral("s"), 1)));
    QCOMPARE(QCoro::waitFor(provider.open(*computer, 1, {})).error().failure, sandbox::Failure::Absent);
}

QTEST_GUILESS_MAIN(TestReplay)
#include "tst_replay.moc"
