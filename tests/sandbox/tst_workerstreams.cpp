#include "workerbench.h"

#include <QRandomGenerator>
#include <sys/resource.h>

using namespace sandbox;

// What goes in and comes out of a harness: nothing lost, nothing twice, nothing blocked.
class TestWorkerStreams : public QObject
{
    Q_OBJECT

private slots:
    void exactOverManyCuts();
    void inputAppliedOnceOverReconnects();
    void childThatNeverReads();
    void childThatClosedItsInput();
    void closeInputEndsAFilter();
    void capHoldsTheChildBack();
    void fullDiskHoldsTheChildBack();
    void floodsInputAndOutputAtOnce();
};

void TestWorkerStreams::exactOverManyCuts()
{
    const QByteArray expected = sequence(8000000);
    QVERIFY(expected.size() > 60 * 1000 * 1000);
    WorkerBench bench;
    const Computer computer = bench.ensure();
    QRandomGenerator random(1);
    QByteArray stored;
    bool exited = false;
    int attaches = 0;
    for (quint64 epoch = 1; !exited; ++epoch) {
        QVERIFY(epoch < 2000);
        auto channel = bench.open(computer, epoch, {quint64(stored.size()), 0});
        QVERIFY2(channel, qPrintable(bench.lastError.message));
        ++attaches;
        bool cut = false;
        const qsizetype until = stored.size() + random.bounded(3000000);
        const bool acknowledges = random.bounded(2) == 0;
        QObject::connect(channel.get(), &Channel::received, channel.get(),
                         [&](Stream stream, quint64 offset, const QByteArray &bytes) {
                             if (cut || stream != Stream::Output)
                                 return;
                             QCOMPARE(offset, quint64(stored.size()));
                             stored += bytes;
                             if (acknowledges)
                                 channel->acknowledge({quint64(stored.size()), 0});
                             cut = stored.size() >= until;
                         });
        QObject::connect(channel.get(), &Channel::exited, channel.get(), [&](int code) {
            if (!cut)
                exited = code == 7;
        });
        if (!channel->welcome().launched)
            channel->launch(shell(QStringLiteral("seq 1 8000000; exit 7")));
        QTRY_VERIFY_WITH_TIMEOUT(cut || exited, 20000);
    }
    qInfo("%d attaches", attaches);
    QVERIFY(attaches > 15);
    QCOMPARE(stored.size(), expected.size());
    QVERIFY(stored == expected);
}

void TestWorkerStreams::inputAppliedOnceOverReconnects()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    constexpr int count = 300;
    QByteArray expected;
    for (int i = 0; i < count; ++i)
        expected += "message " + QByteArray::number(i) + '\n';
    QByteArray stored;
    int next = 0;
    for (quint64 epoch = 1; next < count; ++epoch) {
        auto channel = bench.open(computer, epoch, {quint64(stored.size()), 0});
        QVERIFY(channel);
        Heard heard;
        heard.listen(channel.get(), {quint64(stored.size()), 0});
        if (!channel->welcome().launched)
            channel->launch(shell(QStringLiteral("exec cat")));
        // The last ten again: their answers were cut off.
        const int from = qMax(0, next - 10);
        const int to = qMin(count, next + 23);
        for (int i = from; i < to; ++i)
            channel->send(QString::number(i), "message " + QByteArray::number(i) + '\n');
        const bool cutAtOnce = epoch % 3 == 0;
        if (!cutAtOnce)
            EVENTUALLY_EQUAL(heard.written.size(), to - from);
        stored += heard.output;
        QVERIFY(!heard.gap);
        if (!cutAtOnce)
            next = to;
    }
    auto last = bench.open(computer, 1000, {quint64(stored.size()), 0});
    Heard heard;
    heard.listen(last.get(), {quint64(stored.size()), 0});
    for (int i = 0; i < count; ++i)
        last->send(QString::number(i), "message " + QByteArray::number(i) + '\n');
    EVENTUALLY_EQUAL(heard.written.size(), count);
    last->closeInput();
    EVENTUALLY_EQUAL(heard.exits.size(), 1);
    stored += heard.output;
    QCOMPARE(stored, expected);
    QCOMPARE(last->welcome().lastInputId, QStringLiteral("299"));
}

void TestWorkerStreams::childThatNeverReads()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("while :; do echo tick; sleep 0.02; done")));
    const QByteArray large(8 * 1024 * 1024, 'x');
    channel->send(QStringLiteral("large"), large);
    channel->send(QStringLiteral("after"), "small");
    EVENTUALLY(heard.output.count('\n') > 5); // the loop is not blocked
    QVERIFY(heard.written.isEmpty());
    for (int i = 0; i < 20; ++i)
        channel->send(QStringLiteral("flood%1").arg(i), large);
    EVENTUALLY(!heard.refused.isEmpty());
    QVERIFY(heard.refused[0].contains(QStringLiteral("does not read")));
    heard.refused.clear();
    channel->killHarness();
    EVENTUALLY_EQUAL(heard.exits, QList<int>{137});
    QVERIFY(heard.refused.filter(QStringLiteral("large: ")).size() == 1);
    QVERIFY(heard.refused.filter(QStringLiteral("after: ")).size() == 1);
}

void TestWorkerStreams::childThatClosedItsInput()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("exec <&-; echo closed; exec sleep 1000 </dev/null")));
    EVENTUALLY_EQUAL(heard.output, QByteArray("closed\n"));
    channel->send(QStringLiteral("a"), "into the void");
    EVENTUALLY_EQUAL(heard.refused, QStringList{QStringLiteral("a: the harness closed its input")});
    channel->send(QStringLiteral("a"), "into the void");
    EVENTUALLY_EQUAL(heard.refused.size(), 2);
    QVERIFY(heard.exits.isEmpty());
}

void TestWorkerStreams::closeInputEndsAFilter()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("exec wc -c")));
    channel->send(QStringLiteral("a"), QByteArray(5 * 1024 * 1024, 'x'));
    channel->closeInput(); // after what waits
    EVENTUALLY_EQUAL(heard.exits, QList<int>{0});
    QCOMPARE(heard.output.trimmed(), QByteArray::number(5 * 1024 * 1024));
}

void TestWorkerStreams::capHoldsTheChildBack()
{
    HostOptions options;
    options.journalBytes = 4 * 1024 * 1024;
    WorkerBench bench(options);
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    const QByteArray expected = sequence(4000000);
    channel->launch(shell(QStringLiteral("seq 1 4000000; echo done >&2")));
    EVENTUALLY(heard.outputEnd >= options.journalBytes);
    // It has stopped: nothing more comes while other frames do.
    channel->launch(shell(QStringLiteral("true")));
    EVENTUALLY_EQUAL(heard.launchFailures.size(), 1);
    const quint64 stoppedAt = heard.outputEnd;
    QVERIFY(stoppedAt < options.journalBytes + 1024 * 1024);
    QTest::qWait(100); // proves an absence: time is what is tested
    QCOMPARE(heard.outputEnd, stoppedAt);
    QVERIFY(heard.errorOutput.isEmpty());
    QObject::connect(channel.get(), &Channel::received, channel.get(), [&] {
        channel->acknowledge({heard.outputEnd, 0});
    });
    channel->acknowledge({heard.outputEnd, 0});
    QTRY_COMPARE_WITH_TIMEOUT(heard.exits, QList<int>{0}, 20000);
    QVERIFY(heard.output == expected);
    QVERIFY(!heard.gap);
}

void TestWorkerStreams::fullDiskHoldsTheChildBack()
{
    WorkerBench bench;
    const Computer computer = bench.ensure();
    auto channel = bench.open(computer, 1);
    Heard heard;
    heard.listen(channel.get());
    // A file size limit refuses the journal's writes like a full disk does.
    const pid_t worker = pid_t(bench.files(computer).workerPid());
    rlimit full{1000000, RLIM_INFINITY};
    QCOMPARE(::prlimit(worker, RLIMIT_FSIZE, &full, nullptr), 0);
    channel->launch(shell(QStringLiteral("seq 1 1000000; exit 2")));
    EVENTUALLY_EQUAL(heard.outputEnd, quint64(1000000));
    channel->send(QStringLiteral("x"), "the worker is not blocked");
    EVENTUALLY_EQUAL(heard.written.size(), 1);
    QCOMPARE(heard.outputEnd, quint64(1000000));
    QVERIFY(heard.exits.isEmpty());
    rlimit free{RLIM_INFINITY, RLIM_INFINITY};
    QCOMPARE(::prlimit(worker, RLIMIT_FSIZE, &free, nullptr), 0);
    EVENTUALLY_EQUAL(heard.exits, QList<int>{2});
    QVERIFY(heard.output == sequence(1000000));
    QVERIFY(!heard.gap);
}

void TestWorkerStreams::floodsInputAndOutputAtOnce()
{
    WorkerBench bench;
    auto channel = bench.open(bench.ensure(), 1);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("exec cat")));
    QByteArray expected;
    for (int i = 0; i < 40; ++i) {
        const QByteArray block = QByteArray::number(i).rightJustified(1024 * 1024, '.');
        expected += block;
        channel->send(QString::number(i), block);
    }
    channel->closeInput();
    QTRY_COMPARE_WITH_TIMEOUT(heard.exits, QList<int>{0}, 20000);
    QVERIFY(heard.output == expected);
    QCOMPARE(heard.written.size(), 40);
}

QTEST_GUILESS_MAIN(TestWorkerStreams)
#include "tst_workerstreams.moc"
