// The queue per session over the real engine, with the stand-in harness.
#include "tests/engine/stubfixture.h"

using namespace engine;

class TestEngineQueue final : public QObject
{
    Q_OBJECT

private slots:
    void b31_strictOrder();
    void b32_overlapUpToTheLimit();
    void b33_pausedHeadBlocksItsLineOnly();
    void b34_startsWithoutWaitingForThePoll();
    void b36_backOffAtTheHeadBlocks();
    void b38_retriedOnceWithAnAttemptLeft();
    void b39_requeueGrantsOneAttempt();
    void b41_keyAndLimit();
    void b42_cancelledWhileWaitingNeverStarts();
    void b55_deleteWhileActiveIsRefused();
};

void TestEngineQueue::b31_strictOrder()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    QList<RunId> ids;
    for (int i = 0; i < 20; ++i)
        ids.append(fixture.submit(session, QStringLiteral("text %1").arg(i)).id);
    QVERIFY(fixture.settles(ids.last(), RunState::Completed));
    QStringList answers;
    for (const Block &block : fixture.blocks(session.id)) {
        if (block.kind == BlockKind::Answer)
            answers.append(block.text);
    }
    QStringList wanted;
    for (int i = 0; i < 20; ++i)
        wanted.append(QString::number(i));
    QCOMPARE(answers, wanted);
}

void TestEngineQueue::b32_overlapUpToTheLimit()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QVERIFY(fixture.get(fixture.client->setSetting(QStringLiteral("queue.max_concurrency"), QStringLiteral("2"), QStringLiteral("olga"))).has_value());
    const Agent agent = fixture.stub();
    QList<RunId> ids;
    for (int i = 0; i < 3; ++i)
        ids.append(fixture.submit(fixture.session(agent), QStringLiteral("hang")).id);
    const auto running = [&] {
        int count = 0;
        for (const RunId &id : std::as_const(ids))
            count += fixture.state(id) == RunState::Running ? 1 : 0;
        return count;
    };
    QVERIFY(QTest::qWaitFor([&] { return running() == 2; }, 15000));
    QTest::qWait(200);
    QCOMPARE(running(), 2);
    QCOMPARE(toString(fixture.state(ids.last())), toString(RunState::Pending));
    QVERIFY(fixture.get(fixture.client->cancelRun(ids.first(), QStringLiteral("olga"))).has_value());
    QVERIFY(fixture.settles(ids.last(), RunState::Running));
}

void TestEngineQueue::b33_pausedHeadBlocksItsLineOnly()
{
    StubFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Agent agent = fixture.stub();
    const Session session = fixture.session(agent);
    const Run head = fixture.submit(session, QStringLiteral("ask 1"));
    QCOMPARE(fixture.pendingOnce(1).size(), 1);
    const Run behind = fixture.submit(session, QStringLiteral("text behind"));
    const Run elsewhere = fixture.submit(fixture.session(agent), QStringLiteral("text elsewhere"));
    QVERIFY(fixture.settles(elsewhere.id, RunState::Completed));
    QCOMPARE(toString(fixture.state(behind.id)), toString(RunState::Pending));
    const Run waiting = fixture.get(fixture.client->runs(session.id, 10)).value().last();
    QVERIFY2(waiting.waitingFor.contains(head.id.value), qPrintable(waiting.waitingFor));
    // Expiry releases the line as well as a decision does.
    fixture.time->advance(901 * 1000);
    QVERIFY(fixture.settles(behind.id, RunState::Completed));
    QCOMPARE(toString(fixture.state(head.id)), toString(RunState::Completed));
}

void TestEngineQueue::b34_startsWithoutWaitingForThePoll()
{
    StubFixture fixture;
    fixture.pollMs = 3600 * 1000;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    for (int i = 0; i < 3; ++i) {
        const Run run = fixture.submit(session, QStringLiteral("text now"));
        QVERIFY(fixture.settles(run.id, RunState::Completed));
    }
}

void TestEngineQueue::b36_backOffAtTheHeadBlocks()
{
    StubFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub([](Agent &agent) { agent.maxAttempts = 2; }));
    const Run head = fixture.submit(session, QStringLiteral("die"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.run(head.id).state == RunState::Pending && fixture.run(head.id).attempt == 1; }, 15000));
    const Run behind = fixture.submit(session, QStringLiteral("text behind"));
    QTest::qWait(100);
    QCOMPARE(toString(fixture.state(behind.id)), toString(RunState::Pending));
    fixture.time->advance(6000);
    QVERIFY(fixture.settles(head.id, RunState::Error));
    QVERIFY(fixture.settles(behind.id, RunState::Completed));
    QCOMPARE(fixture.run(head.id).attempt, 2);
}

void TestEngineQueue::b38_retriedOnceWithAnAttemptLeft()
{
    StubFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub([](Agent &agent) { agent.maxAttempts = 2; }));
    const Run run = fixture.submit(session, QStringLiteral("die"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.run(run.id).attempt == 1 && fixture.state(run.id) == RunState::Pending; }, 15000));
    fixture.time->advance(6000);
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QCOMPARE(fixture.run(run.id).attempt, 2);
    QVERIFY2(fixture.run(run.id).errorMessage.contains(QStringLiteral("exit code 7")), qPrintable(fixture.run(run.id).errorMessage));
}

void TestEngineQueue::b39_requeueGrantsOneAttempt()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("die"));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    const auto again = fixture.get(fixture.client->requeueRun(run.id, QStringLiteral("olga")));
    QVERIFY2(again.has_value(), again ? "" : qPrintable(again.error().message));
    QVERIFY(QTest::qWaitFor([&] { return fixture.run(run.id).attempt == 2 && fixture.state(run.id) == RunState::Error; }, 15000));
    const Run done = fixture.submit(session, QStringLiteral("text fine"));
    QVERIFY(fixture.settles(done.id, RunState::Completed));
    const auto refused = fixture.get(fixture.client->requeueRun(done.id, QStringLiteral("olga")));
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::Conflict));
}

void TestEngineQueue::b41_keyAndLimit()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub([](Agent &agent) { agent.maxQueued = 1; }));
    const Run head = fixture.submit(session, QStringLiteral("hang"), QStringLiteral("one"));
    QVERIFY(fixture.settles(head.id, RunState::Running));
    QCOMPARE(fixture.submit(session, QStringLiteral("something else"), QStringLiteral("one")).id, head.id);
    fixture.submit(session, QStringLiteral("text waits"));
    const auto refused = fixture.get(fixture.client->submit({session.id, QStringLiteral("text too many"), QStringLiteral("olga"), {}, {}}));
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::QueueFull));
    const auto longKey = fixture.get(
        fixture.client->submit({session.id, QStringLiteral("text"), QStringLiteral("olga"), {}, QString(513, u'k')}));
    QVERIFY(!longKey.has_value());
    QCOMPARE(toString(longKey.error().code), toString(ErrorCode::Invalid));
}

void TestEngineQueue::b42_cancelledWhileWaitingNeverStarts()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run head = fixture.submit(session, QStringLiteral("hang"));
    QVERIFY(fixture.settles(head.id, RunState::Running));
    const Run waiting = fixture.submit(session, QStringLiteral("text never"));
    const Run last = fixture.submit(session, QStringLiteral("text last"));
    QVERIFY(fixture.get(fixture.client->cancelRun(waiting.id, QStringLiteral("olga"))).has_value());
    QCOMPARE(toString(fixture.state(waiting.id)), toString(RunState::Cancelled));
    QCOMPARE(fixture.get(fixture.client->runs(session.id, 10)).value().last().position, 1);
    QVERIFY(fixture.get(fixture.client->cancelRun(head.id, QStringLiteral("olga"))).has_value());
    QVERIFY(fixture.settles(last.id, RunState::Completed));
    QTRY_VERIFY(fixture.lastSeen(waiting.id) == RunState::Cancelled);
    QVERIFY(!fixture.seen.value(waiting.id).contains(RunState::Running));
    QVERIFY(!fixture.transcript(session.id).contains(QStringLiteral("never")));
}

void TestEngineQueue::b55_deleteWhileActiveIsRefused()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("hang"));
    QVERIFY(fixture.settles(run.id, RunState::Running));
    const auto refused = fixture.get(fixture.client->deleteSession(session.id, QStringLiteral("olga")));
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::Conflict));
    QVERIFY(fixture.get(fixture.client->cancelRun(run.id, QStringLiteral("olga"))).has_value());
    QVERIFY(fixture.get(fixture.client->deleteSession(session.id, QStringLiteral("olga"))).has_value());
    const auto gone = fixture.get(fixture.client->submit({session.id, QStringLiteral("text"), QStringLiteral("olga"), {}, {}}));
    QVERIFY(!gone.has_value());
    QCOMPARE(toString(gone.error().code), toString(ErrorCode::NotFound));
    QVERIFY(QTest::qWaitFor([&] { return fixture.stubPids().isEmpty() && fixture.workerPids().isEmpty(); }, 10000));
}

QTEST_GUILESS_MAIN(TestEngineQueue)
#include "tst_enginequeue.moc"
