#include "workerbench.h"

#include <QFile>
#include <sys/stat.h>
#include <unistd.h>

using namespace sandbox;

class TestHostProvider : public QObject
{
    Q_OBJECT

private slots:
    void ensureIsIdempotent();
    void ensuredTwiceAtOnce();
    void labelsAndList();
    void unsafeAndLongNames();
    void absentIsEmptyNotAnError();
    void pauseIsNotSupported();
    void destroyLeavesNothing();
    void destroyOfAHungWorker();
    void staleSocketAndLeftFiles();
    void missingProgram();
    void programThatIsNoWorker();
    void unusableRuntimeFolder_data();
    void unusableRuntimeFolder();
    void runtimePathTooLong();
    void channelWaitsForListeners();
    void channelEndsDuringItsOwnSignal();
    void nothingIsInherited();
};

void TestHostProvider::ensureIsIdempotent()
{
    WorkerBench bench;
    const Computer first = bench.ensure();
    const qint64 pid = bench.files(first).workerPid();
    const Computer second = bench.ensure();
    QCOMPARE(second.id, first.id);
    QCOMPARE(second.state, ComputerState::Running);
    QCOMPARE(bench.files(second).workerPid(), pid);
}

static QCoro::Task<> ensureInto(Provider *provider, ComputerSpec spec, QList<Result<Computer>> *into)
{
    const Result<Computer> computer = co_await provider->ensure(spec);
    into->append(computer);
}

void TestHostProvider::ensuredTwiceAtOnce()
{
    WorkerBench bench;
    QList<Result<Computer>> made;
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s1");
    for (int i = 0; i < 4; ++i)
        ensureInto(&bench.provider, spec, &made);
    EVENTUALLY_EQUAL(made.size(), 4);
    for (const Result<Computer> &computer : made)
        QVERIFY2(computer, computer ? "" : qPrintable(computer.error().message));
    const auto list = QCoro::waitFor(bench.provider.list());
    QCOMPARE(list->size(), 1);
    QVERIFY(bench.open(*made[0], 1));
}

void TestHostProvider::labelsAndList()
{
    WorkerBench bench;
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("sitzung ü/1");
    spec.generation = 4;
    spec.labels = {{QStringLiteral("owner"), QStringLiteral("ö")}};
    const auto made = QCoro::waitFor(bench.provider.ensure(spec));
    QVERIFY(made);
    bench.ensure(QStringLiteral("other"));
    const auto list = QCoro::waitFor(bench.provider.list());
    QVERIFY(list);
    QCOMPARE(list->size(), 2);
    const auto found = QCoro::waitFor(bench.provider.find(spec.sessionId, 4));
    QCOMPARE((*found)->sessionId, spec.sessionId);
    QCOMPARE((*found)->labels, spec.labels);
    QCOMPARE((*found)->state, ComputerState::Running);
}

void TestHostProvider::unsafeAndLongNames()
{
    WorkerBench bench;
    for (const QString &session : {QString(300, u'x'), QStringLiteral("../../../tmp/evil"), QStringLiteral("a b\nc")}) {
        const Computer computer = bench.ensure(session);
        QCOMPARE(computer.sessionId, session);
        QVERIFY(bench.open(computer, 1));
        QVERIFY(QFile::encodeName(bench.files(computer).socket).size() < 108);
        QVERIFY(QFile::exists(bench.files(computer).socket));
    }
    QCOMPARE(bench.leftFiles().size(), 9);
}

void TestHostProvider::absentIsEmptyNotAnError()
{
    WorkerBench bench;
    const auto found = QCoro::waitFor(bench.provider.find(QStringLiteral("nobody"), 1));
    QVERIFY(found);
    QVERIFY(!*found);
    Computer computer;
    computer.sessionId = QStringLiteral("nobody");
    computer.generation = 1;
    QVERIFY(QCoro::waitFor(bench.provider.destroy(computer)));
    QVERIFY(!bench.open(computer, 1));
    QCOMPARE(bench.lastError.failure, Failure::Absent);
}

void TestHostProvider::pauseIsNotSupported()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    QVERIFY(!bench.provider.capabilities().pause);
    QVERIFY(!bench.provider.capabilities().isolation);
    QCOMPARE(QCoro::waitFor(bench.provider.pause(computer)).error().failure, Failure::NotSupported);
    QCOMPARE(QCoro::waitFor(bench.provider.resume(computer)).error().failure, Failure::NotSupported);
}

void TestHostProvider::destroyLeavesNothing()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("setsid sleep 1001 & (setsid sh -c 'trap \"\" TERM; sleep 1002 & wait' &); "
                                         "sleep 0.1; echo ready; exec cat")));
    EVENTUALLY_EQUAL(heard.output, QByteArray("ready\n"));
    const qint64 worker = bench.files(computer).workerPid();
    QVERIFY(bench.processCount(computer) >= 4);
    QVERIFY(QCoro::waitFor(bench.provider.destroy(computer)));
    QCOMPARE(bench.processCount(computer), 0);
    QVERIFY(QCoro::waitFor(untilGone(worker, std::chrono::milliseconds(0))));
    QCOMPARE(bench.leftFiles(), QStringList());
    QCOMPARE(QDir(bench.folder.filePath(QStringLiteral("state")))
                 .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             QStringList());
    EVENTUALLY_EQUAL(heard.closed.size(), 1);
    QCOMPARE(heard.closed[0].failure, Failure::Unreachable);
    QVERIFY(QCoro::waitFor(bench.provider.destroy(computer)));
}

void TestHostProvider::destroyOfAHungWorker()
{
    HostOptions options;
    options.endLimit = std::chrono::milliseconds(300);
    WorkerBench bench(options);
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("setsid sleep 1001 & exec cat")));
    EVENTUALLY_EQUAL(heard.launches.size(), 1);
    ::kill(pid_t(bench.files(computer).workerPid()), SIGSTOP);
    QVERIFY(QCoro::waitFor(bench.provider.destroy(computer)));
    QCOMPARE(bench.processCount(computer), 0);
    QCOMPARE(bench.leftFiles(), QStringList());
}

void TestHostProvider::staleSocketAndLeftFiles()
{
    WorkerBench bench;
    Computer computer = bench.ensure();
    const WorkerFiles files = bench.files(computer);
    const qint64 worker = files.workerPid();
    ::kill(pid_t(worker), SIGKILL);
    QVERIFY(QCoro::waitFor(untilGone(worker, std::chrono::seconds(5))));
    QVERIFY(QFile::exists(files.socket)); // nobody listens behind it
    QVERIFY(!files.isAlive());
    QCOMPARE(QCoro::waitFor(bench.provider.list())->value(0).state, ComputerState::Stopped);
    computer = bench.ensure();
    QCOMPARE(computer.state, ComputerState::Running);
    QVERIFY(bench.open(computer, 1));
    ::kill(pid_t(files.workerPid()), SIGKILL);
    EVENTUALLY(!files.isAlive());
    QVERIFY(QCoro::waitFor(bench.provider.destroy(computer)));
    QCOMPARE(bench.leftFiles(), QStringList());
}

void TestHostProvider::missingProgram()
{
    QTemporaryDir folder;
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s");
    HostProvider missing(folder.filePath(QStringLiteral("worker")), folder.filePath(QStringLiteral("run")),
                         folder.path());
    const auto none = QCoro::waitFor(missing.ensure(spec));
    QCOMPARE(none.error().failure, Failure::Refused);
    QVERIFY(none.error().message.contains(folder.filePath(QStringLiteral("worker"))));
    QVERIFY(none.error().message.contains(QStringLiteral("does not exist")));
    QFile plain(folder.filePath(QStringLiteral("worker")));
    QVERIFY(plain.open(QIODevice::WriteOnly));
    plain.close();
    const auto refused = QCoro::waitFor(missing.ensure(spec));
    QVERIFY(refused.error().message.contains(QStringLiteral("chmod +x")));
    const auto found = QCoro::waitFor(missing.find(QStringLiteral("s"), 1));
    QVERIFY(found && !*found); // a failed start leaves nothing
}

void TestHostProvider::programThatIsNoWorker()
{
    QTemporaryDir folder;
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s");
    HostProvider wrong(QStringLiteral("/bin/false"), folder.filePath(QStringLiteral("run")), folder.path());
    const auto failed = QCoro::waitFor(wrong.ensure(spec));
    QCOMPARE(failed.error().failure, Failure::Refused);
    QVERIFY(failed.error().message.contains(QStringLiteral("/bin/false")));
    const auto found = QCoro::waitFor(wrong.find(QStringLiteral("s"), 1));
    QVERIFY(found && !*found);
}

void TestHostProvider::unusableRuntimeFolder_data()
{
    QTest::addColumn<QString>("make");
    QTest::addColumn<QString>("says");
    QTest::newRow("file in its place") << QStringLiteral("file") << QStringLiteral("is not a folder");
    QTest::newRow("below a file") << QStringLiteral("below") << QStringLiteral("cannot be made");
    QTest::newRow("open to everybody") << QStringLiteral("open") << QStringLiteral("may be written by other users");
    if (::geteuid() == 0)
        QTest::newRow("foreign") << QStringLiteral("foreign") << QStringLiteral("belongs to another user");
    else
        QTest::newRow("read-only") << QStringLiteral("readonly") << QStringLiteral("is not writable");
}

void TestHostProvider::unusableRuntimeFolder()
{
    QFETCH(QString, make);
    QFETCH(QString, says);
    QTemporaryDir folder;
    QString run = folder.filePath(QStringLiteral("run"));
    const auto all = QFile::Permissions(0x7777);
    if (make == u"file" || make == u"below") {
        QFile file(run);
        QVERIFY(file.open(QIODevice::WriteOnly));
        if (make == u"below")
            run += QStringLiteral("/deeper");
    } else {
        QVERIFY(QDir().mkpath(run));
        if (make == u"open")
            QVERIFY(QFile::setPermissions(run, all));
        else if (make == u"foreign")
            QCOMPARE(::chown(QFile::encodeName(run).constData(), 12345, 12345), 0);
        else
            QVERIFY(QFile::setPermissions(run, QFile::ReadOwner | QFile::ExeOwner));
    }
    HostProvider provider(QStringLiteral(BINARY_DIR "/bin/signalbox-worker"), run, folder.path());
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s");
    const auto refused = QCoro::waitFor(provider.ensure(spec));
    QVERIFY(!refused);
    QCOMPARE(refused.error().failure, Failure::Refused);
    QVERIFY2(refused.error().message.contains(says), qPrintable(refused.error().message));
    QVERIFY(refused.error().message.contains(run));
    QVERIFY(refused.error().message.contains(QStringLiteral("XDG_RUNTIME_DIR")));
}

void TestHostProvider::runtimePathTooLong()
{
    QTemporaryDir folder;
    const QString run = folder.path() + u'/' + QString(100, u'd');
    HostProvider provider(QStringLiteral(BINARY_DIR "/bin/signalbox-worker"), run, folder.path());
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s");
    const auto refused = QCoro::waitFor(provider.ensure(spec));
    QVERIFY(!refused);
    QVERIFY(refused.error().message.contains(QStringLiteral("too long")));
}

void TestHostProvider::channelWaitsForListeners()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    {
        auto first = bench.open(computer, 1);
        Heard heard;
        heard.listen(first.get());
        first->launch(shell(QStringLiteral("seq 1 2000000; exit 3")));
        EVENTUALLY_EQUAL(heard.exits.size(), 1);
    }
    auto channel = bench.open(computer, 2);
    QTest::qWait(50); // frames arrive, nobody listens yet
    Heard heard;
    heard.listen(channel.get());
    QTRY_COMPARE_WITH_TIMEOUT(heard.exits, QList<int>{3}, 10000);
    QVERIFY(heard.output == sequence(2000000));

    auto late = bench.open(computer, 3);
    QVERIFY(QCoro::waitFor(bench.provider.destroy(computer)));
    QTest::qWait(50);
    Heard after;
    after.listen(late.get());
    EVENTUALLY_EQUAL(after.closed.size(), 1);
    QVERIFY(!after.gap);
}

void TestHostProvider::channelEndsDuringItsOwnSignal()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    int pieces = 0;
    QObject::connect(channel.get(), &Channel::received, channel.get(), [&] {
        ++pieces;
        channel.reset();
    });
    channel->launch(shell(QStringLiteral("seq 1 1000000")));
    EVENTUALLY_EQUAL(pieces, 1);
    QVERIFY(!channel);
    QVERIFY(bench.open(computer, 2));
}

void TestHostProvider::nothingIsInherited()
{
    // A descriptor that lacks close-on-exec must not reach worker or harness.
    const int leak = ::dup(0);
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(
        shell(QStringLiteral("ls /proc/self/fd | wc -l; cat /proc/self/status | grep -E '^(SigBlk|SigIgn)'; umask")));
    EVENTUALLY_EQUAL(heard.exits.size(), 1);
    ::close(leak);
    const QList<QByteArray> lines = heard.output.trimmed().split('\n');
    QCOMPARE(lines.value(0).trimmed(), QByteArray("4")); // 0, 1, 2 and ls's own
    QVERIFY(lines.value(1).endsWith("0000000000000000"));
    QVERIFY(lines.value(2).endsWith("0000000000000000"));
    QVERIFY(lines.value(3) != "0077" || (::umask(077) == 077));
}

QTEST_GUILESS_MAIN(TestHostProvider)
#include "tst_hostprovider.moc"
