#include "sandbox/link/locallink.h"
#include "sandbox/link/workerchannel.h"
#include "workerbench.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>

using namespace sandbox;

// Consoles and workers that die, and consoles that compete.
class TestWorkerSurvival : public QObject
{
    Q_OBJECT

private slots:
    void b97_consoleKilledWhileStreaming();
    void newerEpochTakesOver();
    void staleEpochAndGenerationAreRefused();
    void workerKilled();
    void unusedWorkerEndsItself();
    void endedWorkerEndsItself();
    void stoppedWorkerIsUnreachable();
    void claimOfMoreThanWasWritten();
    void servesAsPidOne();
};

void TestWorkerSurvival::b97_consoleKilledWhileStreaming()
{
    WorkerBench bench;
    const QString store = bench.folder.filePath(QStringLiteral("stored"));
    constexpr int count = 6000000;
    QProcess console;
    console.start(QStringLiteral(BINARY_DIR "/bin/sandbox_console"),
                  {QStringLiteral(BINARY_DIR "/bin/signalbox-worker"), bench.folder.filePath(QStringLiteral("run")),
                   bench.folder.filePath(QStringLiteral("state")), store, QString::number(count)});
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(store).size() > 2000000, 20000);
    console.kill();
    EVENTUALLY_EQUAL(console.state(), QProcess::NotRunning);

    const auto found = QCoro::waitFor(bench.provider.find(QStringLiteral("survivor"), 1));
    QVERIFY(found && *found);
    QCOMPARE((*found)->state, ComputerState::Running);
    QFile file(store);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray stored = file.readAll();
    const QByteArray expected = sequence(count);
    QVERIFY(stored.size() < expected.size());
    const Offsets from{quint64(stored.size()), 0};
    auto channel = bench.open(**found, 2, from);
    QVERIFY2(channel, qPrintable(bench.lastError.message));
    QVERIFY(channel->welcome().launched);
    QVERIFY(!channel->welcome().exited);
    const qint64 pid = channel->welcome().pid;
    QVERIFY(::kill(pid_t(pid), 0) == 0);
    Heard heard;
    heard.listen(channel.get(), from);
    QTRY_COMPARE_WITH_TIMEOUT(heard.outputEnd, quint64(expected.size()), 20000);
    QVERIFY(!heard.gap);
    QVERIFY(stored + heard.output == expected);
    channel->send(QStringLiteral("x"), "same process\n"); // and it still listens
    EVENTUALLY(heard.output.endsWith("same process\n"));
}

void TestWorkerSurvival::newerEpochTakesOver()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto older = bench.open(computer, 5);
    Heard first;
    first.listen(older.get());
    older->launch(shell(QStringLiteral("exec cat")));
    older->send(QStringLiteral("a"), "one\n");
    EVENTUALLY_EQUAL(first.output, QByteArray("one\n"));
    auto newer = bench.open(computer, 6, {4, 0});
    QVERIFY(newer);
    Heard second;
    second.listen(newer.get(), {4, 0});
    EVENTUALLY_EQUAL(first.closed.size(), 1);
    QCOMPARE(first.closed[0].failure, Failure::Stale);
    QVERIFY(first.closed[0].message.contains(QStringLiteral("took the session over")));
    older->send(QStringLiteral("b"), "from the past\n");
    newer->send(QStringLiteral("c"), "two\n");
    EVENTUALLY_EQUAL(second.output, QByteArray("two\n"));
    QCOMPARE(first.output, QByteArray("one\n"));
    QCOMPARE(first.closed.size(), 1);
}

void TestWorkerSurvival::staleEpochAndGenerationAreRefused()
{
    WorkerBench bench;
    Computer computer = bench.ensure(QStringLiteral("s1"), 2);
    auto channel = bench.open(computer, 5);
    Heard heard;
    heard.listen(channel.get());
    for (const quint64 epoch : {5u, 4u, 0u}) {
        QVERIFY(!bench.open(computer, epoch));
        QCOMPARE(bench.lastError.failure, Failure::Stale);
        QVERIFY(bench.lastError.message.contains(QStringLiteral("epoch 5")));
    }
    ComputerSpec older;
    older.sessionId = QStringLiteral("s1");
    older.generation = 1;
    const auto refused = QCoro::waitFor(bench.provider.ensure(older));
    QVERIFY(!refused);
    QCOMPARE(refused.error().failure, Failure::Stale);
    channel->launch(shell(QStringLiteral("exec cat")));
    EVENTUALLY_EQUAL(heard.launches.size(), 1); // the rightful one was not disturbed
    QVERIFY(heard.closed.isEmpty());

    // A newer generation ends the older one for good.
    const Computer next = bench.ensure(QStringLiteral("s1"), 3);
    QCOMPARE(next.state, ComputerState::Running);
    EVENTUALLY_EQUAL(heard.closed.size(), 1);
    QCOMPARE(bench.processCount(computer), 0);
    const auto gone = QCoro::waitFor(bench.provider.find(QStringLiteral("s1"), 2));
    QVERIFY(gone && !*gone);
}

void TestWorkerSurvival::workerKilled()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(
        QStringLiteral("setsid sleep 1001 & (setsid sh -c 'sleep 1002 & exit' &); sleep 0.1; echo ready; exec cat")));
    EVENTUALLY_EQUAL(heard.output, QByteArray("ready\n"));
    const qint64 worker = bench.files(computer).workerPid();
    QVERIFY(worker > 0);
    ::kill(pid_t(worker), SIGKILL);
    EVENTUALLY_EQUAL(heard.closed.size(), 1);
    QCOMPARE(heard.closed[0].failure, Failure::Unreachable);
    QVERIFY(heard.exits.isEmpty());
    EVENTUALLY(::kill(pid_t(heard.launches[0]), 0) != 0 ||
               processesOfWorker(bench.files(computer).socket).indexOf(heard.launches[0]) < 0); // died with it

    const auto found = QCoro::waitFor(bench.provider.find(QStringLiteral("s1"), 1));
    QVERIFY(found && *found);
    QCOMPARE((*found)->state, ComputerState::Stopped);
    QVERIFY(!bench.open(computer, 2));
    QCOMPARE(bench.lastError.failure, Failure::Unreachable);
    QVERIFY(bench.processCount(computer) >= 2); // orphans of nobody

    const Computer anew = bench.ensure();
    QCOMPARE(anew.state, ComputerState::Running);
    QCOMPARE(bench.processCount(computer), 0);
    auto fresh = bench.open(anew, 2);
    QVERIFY(fresh);
    QVERIFY(!fresh->welcome().launched);
}

void TestWorkerSurvival::unusedWorkerEndsItself()
{
    HostOptions options;
    options.unusedLife = std::chrono::milliseconds(150);
    WorkerBench bench(options);
    bench.ensure();
    EVENTUALLY(bench.leftFiles().isEmpty());
    const auto found = QCoro::waitFor(bench.provider.find(QStringLiteral("s1"), 1));
    QVERIFY(found && !*found);
}

void TestWorkerSurvival::endedWorkerEndsItself()
{
    HostOptions options;
    options.endedLife = std::chrono::milliseconds(150);
    WorkerBench bench(options);
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("setsid sleep 1001 & exit 1")));
    EVENTUALLY_EQUAL(heard.exits, QList<int>{1});
    channel.reset();
    EVENTUALLY(bench.leftFiles().isEmpty());
    QCOMPARE(bench.processCount(computer), 0);
}

void TestWorkerSurvival::stoppedWorkerIsUnreachable()
{
    HostOptions options;
    options.answerLimit = std::chrono::milliseconds(200);
    WorkerBench bench(options);
    const Computer computer = bench.ensure();
    const qint64 worker = bench.files(computer).workerPid();
    ::kill(pid_t(worker), SIGSTOP);
    QVERIFY(!bench.open(computer, 1));
    QCOMPARE(bench.lastError.failure, Failure::Unreachable);
    ComputerSpec spec;
    spec.sessionId = computer.sessionId;
    const auto ensured = QCoro::waitFor(bench.provider.ensure(spec));
    QVERIFY(!ensured); // never a second one beside it
    QCOMPARE(ensured.error().failure, Failure::Unreachable);
    ::kill(pid_t(worker), SIGCONT);
    QVERIFY(bench.open(computer, 2));
}

void TestWorkerSurvival::claimOfMoreThanWasWritten()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    QVERIFY(!bench.open(computer, 1, {10, 0}));
    QCOMPARE(bench.lastError.failure, Failure::Protocol);
    QVERIFY(bench.open(computer, 1));
}

// As in a container: first process of its own process namespace, in the foreground.
void TestWorkerSurvival::servesAsPidOne()
{
    QTemporaryDir folder;
    const QString socket = folder.filePath(QStringLiteral("w.sock"));
    QProcess space;
    space.start(QStringLiteral("unshare"),
                {QStringLiteral("--user"), QStringLiteral("--map-root-user"), QStringLiteral("--pid"),
                 QStringLiteral("--fork"), QStringLiteral("--kill-child"), QStringLiteral("--mount-proc"),
                 QStringLiteral(BINARY_DIR "/bin/signalbox-worker"), QStringLiteral("--foreground"),
                 QStringLiteral("--listen"), socket, QStringLiteral("--session"), QStringLiteral("c")});
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(socket) || space.state() == QProcess::NotRunning, 10000);
    if (space.state() == QProcess::NotRunning)
        QSKIP("this system allows no process namespaces here");
    WorkerChannel channel(std::make_unique<LocalLink>(socket));
    const QFuture<Result<void>> attached = channel.attach(QStringLiteral("c"), 1, 1, {}, std::chrono::seconds(10));
    EVENTUALLY(attached.isFinished());
    QVERIFY2(attached.result(), attached.result() ? "" : qPrintable(attached.result().error().message));
    Heard heard;
    heard.listen(&channel);
    channel.launch(shell(QStringLiteral("(setsid sh -c 'sleep 1001 & exit' &); sleep 0.1; kill -TERM 1; kill -KILL 1; "
                                        "exec cat")));
    channel.send(QStringLiteral("a"), "alive\n"); // what runs inside cannot end it
    EVENTUALLY(heard.output.endsWith("alive\n"));
    channel.killHarness();
    EVENTUALLY_EQUAL(heard.exits, QList<int>{137});
    channel.launch(shell(QStringLiteral("set -- /proc/[0-9]*; echo count $#")));
    EVENTUALLY_EQUAL(heard.exits.size(), 2);
    QVERIFY(heard.output.endsWith("count 2\n")); // the worker and sh
    // But who is outside can.
    QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(space.processId()));
    QVERIFY(children.open(QIODevice::ReadOnly));
    QCOMPARE(::kill(pid_t(children.readAll().trimmed().toLongLong()), SIGTERM), 0);
    EVENTUALLY_EQUAL(space.state(), QProcess::NotRunning);
    QCOMPARE(space.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestWorkerSurvival)
#include "tst_workersurvival.moc"
