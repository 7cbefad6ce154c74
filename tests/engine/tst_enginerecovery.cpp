// What a restart, a dead harness or a refusing store does to runs and approvals.
#include "tests/engine/stubfixture.h"

using namespace engine;

class TestEngineRecovery final : public QObject
{
    Q_OBJECT

private slots:
    void b13_resolveRefusedByTheStore();
    void b14_pauseRefusedByTheStore();
    void b16_pausedRunSurvivesARestart();
    void b18_lostWhilePausedAndTheSameActionAgain();
    void b19_oldGenerationIsRefused();
    void b37_bothDiedInATurn();
    void runningTurnIsAdopted();
    void refusedBatchesAreKept();
    void restartInTheMiddleOfAStart();
    void manyRestartsLoseNothing();
};

void TestEngineRecovery::b13_resolveRefusedByTheStore()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask 1"));
    const Approval approval = fixture.pendingOnce(1).value(0);
    fixture.breakStore(QStringLiteral("approval_update"));
    const auto refused = fixture.decide(approval, Verdict::Approve);
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::StorageUnavailable));
    QVERIFY2(refused.error().message.contains(QStringLiteral("nothing was sent")), qPrintable(refused.error().message));
    QVERIFY(fixture.decisionsRead().isEmpty());
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    fixture.mendStore();
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
}

void TestEngineRecovery::b14_pauseRefusedByTheStore()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    fixture.breakStore(QStringLiteral("approval_insert"));
    const Run run = fixture.submit(session, QStringLiteral("ask 1"));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QCOMPARE(fixture.run(run.id).errorCode, QStringLiteral("storage_unavailable"));
    QVERIFY(fixture.pending().isEmpty());
    QVERIFY(!fixture.decisionsRead().contains(QStringLiteral("allow")));
    fixture.mendStore();
    const Run next = fixture.submit(session, QStringLiteral("text fine"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
}

void TestEngineRecovery::b16_pausedRunSurvivesARestart()
{
    StubFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("ask 1"));
    const Approval before = fixture.pendingOnce(1).value(0);
    const Run waiting = fixture.submit(session, QStringLiteral("text behind"));
    const QList<qint64> pids = fixture.stubPids();
    fixture.stop();
    fixture.time->advance(100 * 1000);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Approval after = fixture.approval(before.id);
    QCOMPARE(toString(after.state), toString(ApprovalState::Pending));
    QCOMPARE(after.expiresAt, before.expiresAt);
    QCOMPARE(after.digest, before.digest);
    QVERIFY(!after.nativeLost);
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QCOMPARE(fixture.get(fixture.client->runs(session.id, 10)).value().last().position, 1);
    QCOMPARE(fixture.stubPids(), pids);
    // The deadline goes on where it was.
    fixture.time->advance(801 * 1000);
    QVERIFY(fixture.settles(waiting.id, RunState::Completed));
    QCOMPARE(toString(fixture.approval(before.id).state), toString(ApprovalState::Expired));
    QCOMPARE(fixture.decisionsRead(), QStringList{QStringLiteral("deny")});
}

void TestEngineRecovery::b18_lostWhilePausedAndTheSameActionAgain()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("ask 1"));
    const Approval approval = fixture.pendingOnce(1).value(0);
    ::kill(pid_t(fixture.stubPids().value(0)), SIGKILL);
    QVERIFY(QTest::qWaitFor([&] { return fixture.approval(approval.id).nativeLost; }, 10000));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Pending));
    QVERIFY(fixture.decide(approval, Verdict::Approve, false).has_value());
    QVERIFY(fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false)).has_value());
    // The resumed stand-in answers the nudge with text, so nothing uses the stored approval: it ran nothing.
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(fixture.decisionsRead().isEmpty());
    QVERIFY(fixture.approval(approval.id).delivery != Delivery::Executed);
    // Later the very same call appears again: the stored decision is good for exactly one.
    const Run again = fixture.submit(session, QStringLiteral("ask 1"));
    QVERIFY(fixture.settles(again.id, RunState::Completed));
    QCOMPARE(fixture.decisionsRead(), QStringList{QStringLiteral("allow")});
    const Run third = fixture.submit(session, QStringLiteral("ask 1"));
    QCOMPARE(fixture.pendingOnce(1).size(), 1);
    QCOMPARE(toString(fixture.state(third.id)), toString(RunState::Paused));
}

void TestEngineRecovery::b19_oldGenerationIsRefused()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run first = fixture.submit(session, QStringLiteral("text one"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    const QList<qint64> workers = fixture.workerPids();
    QCOMPARE(workers.size(), 1);
    ::kill(pid_t(workers.first()), SIGKILL);
    QVERIFY(QTest::qWaitFor([&] { return !fixture.get(fixture.client->session(session.id))->warm; }, 10000));
    const Run second = fixture.submit(session, QStringLiteral("text two"));
    QVERIFY(fixture.settles(second.id, RunState::Completed));
    QVERIFY(fixture.get(fixture.client->session(session.id))->generation > session.generation);
    QCOMPARE(fixture.workerPids().size(), 1);
    QVERIFY(QTest::qWaitFor([&] { return fixture.stubPids().size() == 1; }, 5000));
}

void TestEngineRecovery::b37_bothDiedInATurn()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("hang"));
    QVERIFY(fixture.settles(run.id, RunState::Running));
    QVERIFY(QTest::qWaitFor([&] { return fixture.stubPids().size() == 1 && fixture.run(run.id).steps.size() >= 2; }, 10000));
    const Run behind = fixture.submit(session, QStringLiteral("text next in line"));
    fixture.stop();
    for (const qint64 pid : fixture.workerPids() + fixture.stubPids())
        ::kill(pid_t(pid), SIGKILL);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QVERIFY2(fixture.run(run.id).errorMessage.contains(QStringLiteral("requeue")), qPrintable(fixture.run(run.id).errorMessage));
    QVERIFY(fixture.settles(behind.id, RunState::Completed));
}

void TestEngineRecovery::runningTurnIsAdopted()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("stream 20000"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.liveText.size() > 100; }, 10000));
    fixture.stop();
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QString wanted;
    for (int i = 0; i < 20000; ++i)
        wanted += QStringLiteral("w%1 ").arg(i);
    QStringList answers;
    for (const Block &block : fixture.blocks(session.id)) {
        if (block.kind == BlockKind::Answer)
            answers.append(block.text);
    }
    QCOMPARE(answers.size(), 1);
    QVERIFY(answers.first() == wanted);
    // Every line once: the stand-in writes one delta a word.
    const QList<QVariant> deltas =
        fixture.sql(QStringLiteral("SELECT count(*) FROM raw_line WHERE instr(bytes, CAST('content_block_delta' AS BLOB)) > 0"));
    QCOMPARE(deltas.value(0).toLongLong(), 20000);
}

void TestEngineRecovery::refusedBatchesAreKept()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run first = fixture.submit(session, QStringLiteral("text warm"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    const Run run = fixture.submit(session, QStringLiteral("ask 1"));
    const Approval approval = fixture.pendingOnce(1).value(0);
    fixture.breakStore(QStringLiteral("raw_line_insert"));
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(QTest::qWaitFor([&] { return !fixture.notices.isEmpty(); }, 5000));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Running));
    fixture.mendStore();
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(fixture.transcript(session.id).endsWith(QStringLiteral("tool(Bash,done)|approval|answer:done")) ||
            fixture.transcript(session.id).contains(QStringLiteral("answer:done")));
}

void TestEngineRecovery::restartInTheMiddleOfAStart()
{
    // The engine closes a few milliseconds after the submit: before the computer, the launch, the handshake or the prompt.
    for (int round = 0; round < 12; ++round) {
        StubFixture fixture;
        QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
        const Session session = fixture.session(fixture.stub());
        const Run run = fixture.submit(session, QStringLiteral("text once"));
        QTest::qWait(round * 3);
        fixture.stop();
        QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
        QVERIFY2(fixture.settles(run.id, RunState::Completed), qPrintable(fixture.run(run.id).errorMessage));
        QCOMPARE(fixture.transcript(session.id), QStringLiteral("prompt:text once|answer:once"));
    }
}

void TestEngineRecovery::manyRestartsLoseNothing()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("stream 60000"));
    for (int i = 0; i < 6; ++i) {
        QTest::qWait(20 + 15 * i);
        fixture.stop();
        QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    }
    QVERIFY(fixture.settles(run.id, RunState::Completed, 40000));
    const QList<QVariant> deltas =
        fixture.sql(QStringLiteral("SELECT count(*) FROM raw_line WHERE instr(bytes, CAST('content_block_delta' AS BLOB)) > 0"));
    QCOMPARE(deltas.value(0).toLongLong(), 60000);
}

QTEST_GUILESS_MAIN(TestEngineRecovery)
#include "tst_enginerecovery.moc"
