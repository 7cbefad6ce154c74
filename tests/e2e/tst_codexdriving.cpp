// The driver straight on the real Codex: what no command of the engine reaches yet, and what two hosts would do to each other.
#include "engine/harness/driver.h"
#include "engine/harness/linesplitter.h"
#include "tests/support/standinopenai.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

namespace {

struct NoTools final : ToolHost
{
    QList<ToolDefinition> tools() const override { return {}; }
    ToolReply call(const QString &, const QByteArray &) override { return {}; }
};

// One process with its driver; what the engine's LiveSession does, without store and worker.
struct Host
{
    Host(const QTemporaryDir &folder, const StandInOpenAi &api)
    {
        context.agent.harness = HarnessKind::Codex;
        context.agent.model = QStringLiteral("gpt-5.5");
        context.agent.keyVariable = QStringLiteral("OPENAI_API_KEY");
        context.agent.baseUrl = QStringLiteral("http://127.0.0.1:%1/v1").arg(api.port());
        context.program = qEnvironmentVariable("SIGNALBOX_CODEX");
        context.configFolder = folder.filePath(QStringLiteral("home"));
        context.workspace = folder.filePath(QStringLiteral("work"));
        QDir().mkpath(context.configFolder);
        QDir().mkpath(context.workspace);
        context.hostEnvironment = {{QStringLiteral("PATH"), qEnvironmentVariable("PATH")},
                                   {QStringLiteral("HOME"), folder.path()},
                                   {QStringLiteral("OPENAI_API_KEY"), QStringLiteral("test-key-for-the-stand-in")}};
    }
    ~Host()
    {
        process.closeWriteChannel();
        if (process.state() != QProcess::NotRunning && !process.waitForFinished(5000))
            process.kill(), process.waitForFinished();
    }

    bool start()
    {
        const sandbox::LaunchSpec spec = driver->launchSpec(context);
        QProcessEnvironment environment;
        for (auto it = spec.environment.begin(); it != spec.environment.end(); ++it)
            environment.insert(it.key(), it.value());
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(spec.workingFolder);
        QObject::connect(&process, &QProcess::readyReadStandardOutput, &process, [this] {
            for (const SplitLine &line : splitter.feed(process.readAllStandardOutput()))
                take(driver->feed(line.bytes));
        });
        process.start(spec.argv.first(), spec.argv.mid(1));
        take(driver->begin(context));
        return QTest::qWaitFor([&] { return has<HarnessReady>() || has<StartFailed>(); }, 30000) && has<HarnessReady>();
    }

    void take(const DriverOutput &output)
    {
        events += output.events;
        for (const InputLine &input : output.inputs)
            process.write(input.bytes);
        if (output.closeInput)
            process.closeWriteChannel();
    }

    template <class T> QList<T> all() const
    {
        QList<T> found;
        for (const HarnessEvent &event : events) {
            if (const T *one = std::get_if<T>(&event))
                found.append(*one);
        }
        return found;
    }
    template <class T> bool has() const { return !all<T>().isEmpty(); }
    bool turnsEnd(qsizetype count) { return QTest::qWaitFor([&] { return all<TurnEnded>().size() >= count; }, 30000); }

    LaunchContext context;
    NoTools tools;
    std::unique_ptr<HarnessDriver> driver = makeCodexDriver(tools);
    LineSplitter splitter;
    QList<HarnessEvent> events;
    QProcess process;
};

} // namespace

class TestCodexDriving final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        if (qEnvironmentVariable("SIGNALBOX_CODEX").isEmpty())
            QSKIP("no real Codex: run installer/test.sh, which installs the pinned version");
    }

    void steersInATurn();
    void forksAConversation();
    void newestTurnIsCompared();
    void twoHostsOnOneThread();
    void endsWithItsInput();
};

void TestCodexDriving::steersInATurn()
{
    QTemporaryDir folder;
    StandInOpenAi api;
    Host host(folder, api);
    QVERIFY(host.start());
    host.take(host.driver->prompt(QStringLiteral("one"), QStringLiteral("[[slow 100 50]]")));
    QVERIFY(QTest::qWaitFor([&] { return host.has<TextDelta>(); }, 20000));
    host.take(host.driver->prompt(QStringLiteral("two"), QStringLiteral("[[text turned round]]")));
    QVERIFY(host.turnsEnd(1));
    QCOMPARE(host.all<TurnEnded>().first().text, QStringLiteral("turned round"));
    QVERIFY(!host.all<TurnEnded>().first().isError);
    QCOMPARE(api.requests().last().userTexts.filter(QStringLiteral("slow")).size(), 1); // one turn with both
    QCOMPARE(host.all<TurnStarted>().size(), 1);
}

void TestCodexDriving::forksAConversation()
{
    QTemporaryDir folder;
    StandInOpenAi api;
    QString thread;
    {
        Host host(folder, api);
        QVERIFY(host.start());
        host.take(host.driver->prompt(QStringLiteral("one"), QStringLiteral("[[text remember the word kingfisher]]")));
        QVERIFY(host.turnsEnd(1));
        thread = host.all<ConversationOpened>().first().nativeSessionId;
    }
    Host fork(folder, api);
    fork.context.forkOf = thread;
    QVERIFY(fork.start());
    const ConversationOpened opened = fork.all<ConversationOpened>().first();
    QVERIFY(opened.nativeSessionId != thread);
    fork.take(fork.driver->prompt(QStringLiteral("two"), QStringLiteral("[[text and on]]")));
    QVERIFY(fork.turnsEnd(1));
    QCOMPARE(api.requests().last().threadId, opened.nativeSessionId);
    QCOMPARE(api.requests().last().userTexts.filter(QStringLiteral("kingfisher")).size(), 1);
    QVERIFY2(QFile::exists(opened.path), qPrintable(opened.path));
}

void TestCodexDriving::newestTurnIsCompared()
{
    QTemporaryDir folder;
    StandInOpenAi api;
    QString thread;
    {
        Host host(folder, api);
        QVERIFY(host.start());
        for (const char *id : {"one", "two"}) {
            host.take(host.driver->prompt(QLatin1String(id), QStringLiteral("[[text hello]]")));
            QVERIFY(host.turnsEnd(id == QByteArray("one") ? 1 : 2));
        }
        thread = host.all<ConversationOpened>().first().nativeSessionId;
    }
    Host other(folder, api);
    other.context.resume = true;
    other.context.session.native.nativeSessionId = thread;
    other.context.lastTurnId = QStringLiteral("01a22f9d-0000-7000-8000-000000000000");
    QVERIFY(!other.start());
    QVERIFY(other.all<StartFailed>().value(0).noConversation);
}

void TestCodexDriving::twoHostsOnOneThread()
{
    QTemporaryDir folder;
    StandInOpenAi api;
    Host first(folder, api);
    QVERIFY(first.start());
    first.take(first.driver->prompt(QStringLiteral("one"), QStringLiteral("[[text hello]]")));
    QVERIFY(first.turnsEnd(1));
    Host second(folder, api);
    second.context.resume = true;
    second.context.session.native.nativeSessionId = first.all<ConversationOpened>().first().nativeSessionId;
    QVERIFY(!second.start());
    const StartFailed failed = second.all<StartFailed>().value(0);
    QVERIFY2(failed.message.contains(QStringLiteral("active writer")), qPrintable(failed.message));
    QVERIFY(!failed.noConversation); // it is there, and in use
}

void TestCodexDriving::endsWithItsInput()
{
    QTemporaryDir folder;
    StandInOpenAi api;
    Host host(folder, api);
    QVERIFY(host.start());
    host.take(host.driver->endSession());
    QVERIFY(QTest::qWaitFor([&] { return host.process.state() == QProcess::NotRunning; }, 5000));
    QCOMPARE(host.process.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestCodexDriving)
#include "tst_codexdriving.moc"
