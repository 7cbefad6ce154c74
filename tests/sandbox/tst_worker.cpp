#include "workerbench.h"

#include <QFile>

using namespace sandbox;

// One worker, one real harness process at a time, through the host provider's channel.
class TestWorker : public QObject
{
    Q_OBJECT

private slots:
    void launchAndEcho();
    void environmentIsComplete();
    void exitCodeAndSignal_data();
    void exitCodeAndSignal();
    void launchFailures();
    void lockFileIsExclusive();
    void secondLaunchWhileOneLivesIsRefused();
    void relaunchStartsAtZero();
    void killEndsDescendantsOfOtherSessions();
    void launchEndsLeftOvers();
    void exitIsToldAgainAfterReattach();
    void lateFloodOfADescendantDoesNotHoldTheExit();
};

void TestWorker::launchAndEcho()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    QCOMPARE(computer.id, QStringLiteral("signalbox-s1-1"));
    auto channel = bench.open(computer, 1);
    QVERIFY(channel);
    QVERIFY(channel->welcome().capabilities.contains(QStringLiteral("approvals")));
    QVERIFY(!channel->welcome().launched);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("exec cat")));
    channel->send(QStringLiteral("a"), "hello\n");
    EVENTUALLY_EQUAL(heard.output, QByteArray("hello\n"));
    QCOMPARE(heard.launches.size(), 1);
    QCOMPARE(heard.written, QStringList{QStringLiteral("a")});
    QCOMPARE(channel->welcome().launchCount, 1u);
    channel->signalHarness(SIGTERM);
    EVENTUALLY_EQUAL(heard.exits, QList<int>{128 + SIGTERM});
}

void TestWorker::environmentIsComplete()
{
    WorkerBench bench;
    qputenv("SECRET_OF_THE_CONSOLE", "1");
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    LaunchSpec spec = shell({});
    spec.argv = QStringList{QStringLiteral("/usr/bin/env")};
    spec.environment = {{QStringLiteral("ONE"), QStringLiteral("1 = ü")}};
    channel->launch(spec);
    EVENTUALLY_EQUAL(heard.exits, QList<int>{0});
    const QList<QByteArray> lines = heard.output.trimmed().split('\n');
    QCOMPARE(lines.size(), 2);
    QCOMPARE(lines[0], QByteArray("ONE=1 = ü"));
    QVERIFY(lines[1].startsWith("SIGNALBOX_WORKER="));
}

void TestWorker::exitCodeAndSignal_data()
{
    QTest::addColumn<QString>("script");
    QTest::addColumn<int>("code");
    QTest::newRow("zero") << QStringLiteral("exit 0") << 0;
    QTest::newRow("three") << QStringLiteral("echo out; echo err >&2; exit 3") << 3;
    QTest::newRow("killed") << QStringLiteral("kill -KILL $$") << 137;
    QTest::newRow("segfault") << QStringLiteral("kill -SEGV $$") << 139;
}

void TestWorker::exitCodeAndSignal()
{
    QFETCH(QString, script);
    QFETCH(int, code);
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(script));
    EVENTUALLY_EQUAL(heard.exits, QList<int>{code});
    if (script.contains(QStringLiteral("err"))) {
        QCOMPARE(heard.output, QByteArray("out\n"));
        QCOMPARE(heard.errorOutput, QByteArray("err\n"));
    }
}

void TestWorker::launchFailures()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    LaunchSpec missing = shell({});
    missing.argv = QStringList{QStringLiteral("/no/such/program")};
    channel->launch(missing);
    LaunchSpec relative = shell({});
    relative.argv = QStringList{QStringLiteral("sh")};
    channel->launch(relative);
    LaunchSpec folder = shell(QStringLiteral("true"));
    folder.workingFolder = QStringLiteral("/no/such/folder");
    channel->launch(folder);
    channel->send(QStringLiteral("x"), "lost");
    EVENTUALLY_EQUAL(heard.refused, QStringList{QStringLiteral("x: no harness is running")});
    QCOMPARE(heard.launchFailures.size(), 3);
    QVERIFY(heard.launchFailures[0].contains(QStringLiteral("/no/such/program")));
    QVERIFY(heard.launchFailures[1].contains(QStringLiteral("absolute")));
    QVERIFY(heard.launchFailures[2].contains(QStringLiteral("/no/such/folder")));
    QVERIFY(heard.launches.isEmpty());
    channel->launch(shell(QStringLiteral("exit 4")));
    EVENTUALLY_EQUAL(heard.exits, QList<int>{4});
    QCOMPARE(channel->welcome().launchCount, 1u);
}

void TestWorker::lockFileIsExclusive()
{
    WorkerBench bench;
    const QString lock = bench.folder.filePath(QStringLiteral("native.lock"));
    auto first = bench.open(bench.ensure(QStringLiteral("one")), 1);
    auto second = bench.open(bench.ensure(QStringLiteral("two")), 1);
    Heard one, two;
    one.listen(first.get());
    two.listen(second.get());
    // A descendant that lives on must not hold the lock.
    first->launch(shell(QStringLiteral("setsid sleep 1000 & exec cat"), lock));
    EVENTUALLY_EQUAL(one.launches.size(), 1);
    second->launch(shell(QStringLiteral("exec cat"), lock));
    EVENTUALLY_EQUAL(two.launchFailures.size(), 1);
    QVERIFY(two.launchFailures[0].contains(lock));
    first->closeInput();
    EVENTUALLY_EQUAL(one.exits, QList<int>{0});
    second->launch(shell(QStringLiteral("exec cat"), lock));
    EVENTUALLY_EQUAL(two.launches.size(), 1);
}

void TestWorker::secondLaunchWhileOneLivesIsRefused()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("exec cat")));
    channel->launch(shell(QStringLiteral("echo second")));
    EVENTUALLY_EQUAL(heard.launchFailures.size(), 1);
    channel->send(QStringLiteral("a"), "first");
    EVENTUALLY_EQUAL(heard.output, QByteArray("first"));
}

void TestWorker::relaunchStartsAtZero()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("read x; echo got $x")));
    channel->send(QStringLiteral("same-id"), "one\n");
    EVENTUALLY_EQUAL(heard.exits.size(), 1);
    QCOMPARE(heard.output, QByteArray("got one\n"));
    channel->acknowledge({8, 0});
    heard.output.clear();
    heard.outputEnd = 0;
    channel->launch(shell(QStringLiteral("read x; echo got $x")));
    channel->send(QStringLiteral("same-id"), "two\n"); // ids are per launch
    EVENTUALLY_EQUAL(heard.exits.size(), 2);
    QCOMPARE(heard.output, QByteArray("got two\n"));
    QVERIFY(!heard.gap);
    QCOMPARE(channel->welcome().launchCount, 2u);
    channel->acknowledge({1000, 0}); // more than was sent: ignored, the output is still there
    auto again = bench.open(bench.ensure(), 2);
    Heard replay;
    replay.listen(again.get());
    EVENTUALLY_EQUAL(replay.exits.size(), 1);
    QCOMPARE(replay.output, QByteArray("got two\n"));
}

void TestWorker::killEndsDescendantsOfOtherSessions()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    // Also one whose parents are all dead, and one that emptied its environment.
    channel->launch(
        shell(QStringLiteral("setsid sleep 1001 & setsid sh -c 'setsid sleep 1002 & setsid sleep 1003 & wait' & "
                             "(setsid sh -c 'sleep 1004 & exit' &) ; env -i /bin/sleep 1005 & "
                             "sleep 0.2; echo ready; exec cat")));
    EVENTUALLY_EQUAL(heard.output, QByteArray("ready\n"));
    QVERIFY(bench.processCount(computer) >= 6);
    channel->killHarness();
    EVENTUALLY_EQUAL(heard.exits, QList<int>{137});
    QCOMPARE(bench.processCount(computer), 0);
    const QString worker = QString::number(bench.files(computer).workerPid());
    QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(worker));
    QVERIFY(children.open(QIODevice::ReadOnly));
    QCOMPARE(children.readAll(), QByteArray());
}

void TestWorker::launchEndsLeftOvers()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("setsid sleep 1001 >/dev/null 2>&1 & exit 0")));
    EVENTUALLY_EQUAL(heard.exits.size(), 1);
    QCOMPARE(bench.processCount(computer), 1); // a tool may outlive its harness
    channel->launch(shell(QStringLiteral("exec cat")));
    EVENTUALLY_EQUAL(heard.launches.size(), 2);
    QCOMPARE(bench.processCount(computer), 1); // the new harness alone
}

void TestWorker::exitIsToldAgainAfterReattach()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard first;
    first.listen(channel.get());
    channel->launch(shell(QStringLiteral("read x; echo last words; exit 9")));
    EVENTUALLY_EQUAL(first.launches.size(), 1);
    channel->send(QStringLiteral("go"), "\n");
    EVENTUALLY_EQUAL(first.written.size(), 1);
    channel.reset(); // nobody is attached when it ends
    auto again = bench.open(computer, 2);
    Heard heard;
    heard.listen(again.get());
    EVENTUALLY_EQUAL(heard.exits, QList<int>{9});
    QCOMPARE(heard.output, QByteArray("last words\n"));
    auto third = bench.open(computer, 3, {11, 0});
    QVERIFY(third->welcome().exited);
    QCOMPARE(third->welcome().exitCode, 9);
    Heard late;
    late.listen(third.get(), {11, 0});
    EVENTUALLY_EQUAL(late.exits, QList<int>{9});
    QVERIFY(late.output.isEmpty());
}

void TestWorker::lateFloodOfADescendantDoesNotHoldTheExit()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.keep = false;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("setsid yes & exit 5")));
    EVENTUALLY_EQUAL(heard.exits, QList<int>{5});
}

QTEST_GUILESS_MAIN(TestWorker)
#include "tst_worker.moc"
