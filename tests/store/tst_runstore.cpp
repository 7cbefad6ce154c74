#include "teststore.h"

#include <sqlite3.h>

using namespace engine;

namespace {

const QString owner = QStringLiteral("engine-1");

NewRun request(const SessionId &session, const QString &key = {})
{
    NewRun run;
    run.sessionId = session;
    run.prompt = QStringLiteral("do it");
    run.requestedBy = QStringLiteral("olivia");
    run.origin = QStringLiteral("window");
    run.idempotencyKey = key;
    return run;
}

RunId claim(TestStore &store, qint64 now = 0, int maxConcurrency = 100)
{
    const auto claimed = store.runs->claimNext(owner, TestStore::at(now), maxConcurrency);
    if (!claimed)
        qFatal("%s", qPrintable(claimed.error().message));
    return *claimed ? (*claimed)->id : RunId();
}

void finish(TestStore &store, const RunId &id, RunState to = RunState::Completed)
{
    const Run run = store.runs->get(id).value();
    RunPatch patch;
    patch.endedAt = TestStore::at(1000);
    const auto moved = store.runs->move(id, run.attempt, run.state, to, patch);
    if (!moved)
        qFatal("%s", qPrintable(moved.error().message));
}

} // namespace

class TestRunStore : public QObject
{
    Q_OBJECT

private slots:
    void aNewRunReadsBack();
    void b31_oneAtATimeInOrder();
    void b32_sessionsOverlapUpToTheLimit();
    void b33_aPausedHeadBlocksItsLineOnly();
    void b35_orderFollowsTheSequenceNotTheClock();
    void b36_backOffAtTheHeadBlocksTheLine();
    void b38_lateWritesAreFenced();
    void b41_theLimitIsNamedAndTheKeyAnswersTheOriginal();
    void b42_aCancelledWaitingRunNeverStarts();
    void b39_requeueGrantsOneAttemptAtTheEnd();
    void b55_aDeletedSessionTakesNoRuns();
    void guardedMoves();
    void theDatabaseItselfRefusesTwoActiveRuns();
    void patchesAreStored();
    void adoptAndCancelRequests();
    void countsAddUp();
    void listsAreOrdered();
    void keepsItsPlaceOverARestart();
};

void TestRunStore::aNewRunReadsBack()
{
    TestStore store;
    const SessionId session = store.addSession();
    const Submitted submitted = store.runs->enqueue(request(session, QStringLiteral("k")), {5, 3}, store.at(7)).value();
    QVERIFY(!submitted.duplicate);
    const Run run = store.runs->get(submitted.run.id).value();
    QVERIFY(run == submitted.run);
    QCOMPARE(run.sessionId, session);
    QCOMPARE(run.agentId, store.agent);
    QCOMPARE(toString(run.state), toString(RunState::Pending));
    QCOMPARE(run.attempt, 0);
    QCOMPARE(run.maxAttempts, 3);
    QCOMPARE(run.prompt, QStringLiteral("do it"));
    QCOMPARE(run.requestedBy, QStringLiteral("olivia"));
    QCOMPARE(run.createdAt, store.at(7));
    QVERIFY(!run.startedAt.isValid());
    QCOMPARE(run.position, 1);
    VERIFY_FAILS(store.runs->get({QStringLiteral("r-none")}), ErrorCode::NotFound);
}

void TestRunStore::b31_oneAtATimeInOrder()
{
    TestStore store;
    const SessionId session = store.addSession();
    const QList<RunId> ids{store.addRun(session), store.addRun(session), store.addRun(session)};
    QCOMPARE(store.runs->get(ids[2])->position, 3);
    QCOMPARE(store.runs->get(ids[2])->waitingFor, QStringLiteral("behind run ") + ids[1].value);
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(claim(store), ids[i]);
        QCOMPARE(claim(store), RunId());
        for (int waiting = i + 1; waiting < 3; ++waiting)
            QCOMPARE(store.runs->get(ids[waiting])->position, waiting - i);
        finish(store, ids[i], i == 1 ? RunState::Error : RunState::Completed);
    }
    QCOMPARE(claim(store), RunId());
}

void TestRunStore::b32_sessionsOverlapUpToTheLimit()
{
    TestStore store;
    QList<RunId> ids;
    for (int i = 0; i < 4; ++i)
        ids += store.addRun(store.addSession());
    QCOMPARE(claim(store, 0, 3), ids[0]);
    QCOMPARE(claim(store, 0, 3), ids[1]);
    QCOMPARE(claim(store, 0, 3), ids[2]);
    QCOMPARE(claim(store, 0, 3), RunId());
    QCOMPARE(store.runs->active()->size(), 3);
    finish(store, ids[1]);
    QCOMPARE(claim(store, 0, 3), ids[3]);
}

void TestRunStore::b33_aPausedHeadBlocksItsLineOnly()
{
    TestStore store;
    const SessionId session = store.addSession();
    const Run head = store.addRunning(session);
    const RunId second = store.addRun(session), third = store.addRun(session);
    VERIFY_OK(store.runs->move(head.id, 1, RunState::Running, RunState::Paused));
    const QString reason = QStringLiteral("waiting for approval of run ") + head.id.value;
    QCOMPARE(store.runs->get(second)->waitingFor, reason);
    QCOMPARE(store.runs->get(third)->waitingFor, reason);
    QCOMPARE(claim(store), RunId());
    const RunId other = store.addRun(store.addSession());
    QCOMPARE(claim(store, 0, 1), other); // a paused run holds no place of the engine
    RunPatch continued;
    continued.continued = true;
    QVERIFY(store.runs->move(head.id, 1, RunState::Paused, RunState::Running, continued)->continued);
    QCOMPARE(claim(store), RunId());
    QVERIFY(!store.runs->move(head.id, 1, RunState::Running, RunState::Paused)->continued);
    finish(store, head.id, RunState::Cancelled);
    QCOMPARE(claim(store), second);
}

void TestRunStore::b35_orderFollowsTheSequenceNotTheClock()
{
    TestStore store;
    const SessionId session = store.addSession();
    const QList<RunId> ids{store.addRun(session, 5000), store.addRun(session, 5000), store.addRun(session, 10)};
    QVERIFY(store.runs->get(ids[0])->sequence < store.runs->get(ids[1])->sequence);
    QVERIFY(store.runs->get(ids[1])->sequence < store.runs->get(ids[2])->sequence);
    for (const RunId &id : ids) {
        QCOMPARE(claim(store, 6000), id);
        finish(store, id);
    }
}

void TestRunStore::b36_backOffAtTheHeadBlocksTheLine()
{
    TestStore store;
    const SessionId session = store.addSession();
    const Submitted head = store.runs->enqueue(request(session), {10, 2}, store.at(0)).value();
    const RunId sibling = store.addRun(session);
    QCOMPARE(claim(store), head.run.id);
    RunPatch retry;
    retry.availableAt = store.at(60'000);
    const Run waiting = store.runs->move(head.run.id, 1, RunState::Running, RunState::Pending, retry).value();
    QVERIFY2(waiting.waitingFor.startsWith(QLatin1String("retry at ")), qPrintable(waiting.waitingFor));
    QCOMPARE(waiting.position, 1);
    QCOMPARE(store.runs->get(sibling)->position, 2);
    QCOMPARE(claim(store, 59'999), RunId());
    QCOMPARE(store.runs->nextAvailable(store.at(0)).value(), std::optional<QDateTime>(store.at(60'000)));
    QCOMPARE(claim(store, 60'000), head.run.id);
    QCOMPARE(store.runs->get(head.run.id)->attempt, 2);
    QCOMPARE(store.runs->nextAvailable(store.at(0)).value(), std::optional<QDateTime>());
}

void TestRunStore::b38_lateWritesAreFenced()
{
    TestStore store;
    const SessionId session = store.addSession();
    const Run first = store.runs->enqueue(request(session), {10, 2}, store.at(0)).value().run;
    claim(store);
    RunPatch retry;
    retry.availableAt = store.at(0);
    VERIFY_OK(store.runs->move(first.id, 1, RunState::Running, RunState::Pending, retry));
    const auto lateWritesFail = [&] {
        VERIFY_FAILS(store.runs->addStep(first.id, 1, {QStringLiteral("late"), store.at(1)}), ErrorCode::Stale);
        VERIFY_FAILS(store.runs->setUsage(first.id, 1, {1, 2, 3, 4, 5}), ErrorCode::Stale);
        VERIFY_FAILS(store.runs->adopt(first.id, 1, owner), ErrorCode::Stale);
        VERIFY_FAILS(store.runs->move(first.id, 1, RunState::Running, RunState::Completed), ErrorCode::Conflict);
        EventBatch batch;
        batch.sessionId = session;
        batch.fence = RunFence{first.id, 1};
        batch.newBlocks.append(Block());
        VERIFY_FAILS(store.events->append(batch), ErrorCode::Stale);
        Run late = first;
        late.attempt = 1;
        VERIFY_FAILS(store.approvals->insert(store.makeApproval(late, QStringLiteral("d")), {}), ErrorCode::Stale);
    };
    lateWritesFail(); // while it waits for the second attempt
    QCOMPARE(claim(store), first.id);
    lateWritesFail(); // while that one runs
    const Run now = store.runs->get(first.id).value();
    QCOMPARE(toString(now.state), toString(RunState::Running));
    QCOMPARE(now.usage, Usage());
    QCOMPARE(store.events->blocks(session, 0, 10)->total, 0);
    VERIFY_OK(store.runs->addStep(first.id, 2, {QStringLiteral("fine"), store.at(1)}));
}

void TestRunStore::b41_theLimitIsNamedAndTheKeyAnswersTheOriginal()
{
    TestStore store;
    const SessionId session = store.addSession();
    const RunLimits limits{2, 1};
    const Submitted first = store.runs->enqueue(request(session, QStringLiteral("k1")), limits, store.at(0)).value();
    VERIFY_OK(store.runs->enqueue(request(session), limits, store.at(0)));
    const auto refused = store.runs->enqueue(request(session), limits, store.at(0));
    VERIFY_FAILS(refused, ErrorCode::QueueFull);
    QVERIFY(refused.error().message.contains(QLatin1String(" 2 ")));
    const Submitted again = store.runs->enqueue(request(session, QStringLiteral("k1")), limits, store.at(9)).value();
    QVERIFY(again.duplicate);
    QCOMPARE(again.run.id, first.run.id);
    QCOMPARE(claim(store), first.run.id);
    VERIFY_OK(store.runs->enqueue(request(session), limits, store.at(0)));
    finish(store, first.run.id);
    QVERIFY(store.runs->enqueue(request(session, QStringLiteral("k1")), limits, store.at(9))->duplicate);
    const Submitted other =
        store.runs->enqueue(request(store.addSession(), QStringLiteral("k1")), limits, store.at(0)).value();
    QVERIFY(!other.duplicate);
    const auto tooLong = store.runs->enqueue(request(session, QString(513, u'k')), limits, store.at(0));
    VERIFY_FAILS(tooLong, ErrorCode::Invalid);
    QVERIFY(tooLong.error().message.contains(QLatin1String("512")));
    VERIFY_OK(store.runs->enqueue(request(store.addSession(), QString(512, u'k')), limits, store.at(0)));
}

void TestRunStore::b42_aCancelledWaitingRunNeverStarts()
{
    TestStore store;
    const SessionId session = store.addSession();
    const QList<RunId> ids{store.addRun(session), store.addRun(session), store.addRun(session)};
    finish(store, ids[1], RunState::Cancelled);
    QCOMPARE(toString(store.runs->get(ids[1])->state), toString(RunState::Cancelled));
    QVERIFY(!store.runs->get(ids[1])->startedAt.isValid());
    QCOMPARE(store.runs->get(ids[1])->position, 0);
    QCOMPARE(store.runs->get(ids[2])->position, 2);
    finish(store, ids[0], RunState::Cancelled);
    QCOMPARE(store.runs->get(ids[2])->position, 1);
    QCOMPARE(claim(store), ids[2]);
    QCOMPARE(claim(store), RunId());
}

void TestRunStore::b39_requeueGrantsOneAttemptAtTheEnd()
{
    TestStore store;
    const SessionId session = store.addSession();
    const Run run = store.addRunning(session);
    VERIFY_FAILS(store.runs->requeue(run.id, 10, store.at(1)), ErrorCode::Conflict);
    RunPatch failed;
    failed.endedAt = store.at(5);
    failed.errorCode = QStringLiteral("harness_failed");
    failed.errorMessage = QStringLiteral("it died");
    VERIFY_OK(store.runs->move(run.id, 1, RunState::Running, RunState::Error, failed));
    const RunId waiting = store.addRun(session);
    VERIFY_FAILS(store.runs->requeue(run.id, 1, store.at(1)), ErrorCode::QueueFull);
    const Run requeued = store.runs->requeue(run.id, 10, store.at(6)).value();
    QCOMPARE(toString(requeued.state), toString(RunState::Pending));
    QCOMPARE(requeued.maxAttempts, 2);
    QCOMPARE(requeued.errorCode, QString());
    QCOMPARE(requeued.position, 2);
    QVERIFY(!requeued.endedAt.isValid());
    QVERIFY(requeued.sequence > store.runs->get(waiting)->sequence);
    QCOMPARE(claim(store, 6), waiting);
    finish(store, waiting);
    QCOMPARE(claim(store, 6), run.id);
    QCOMPARE(store.runs->get(run.id)->attempt, 2);
    VERIFY_FAILS(store.runs->addStep(run.id, 1, {QStringLiteral("late"), store.at(7)}), ErrorCode::Stale);
}

void TestRunStore::b55_aDeletedSessionTakesNoRuns()
{
    TestStore store;
    const SessionId session = store.addSession();
    VERIFY_OK(store.sessions->remove(session, store.at(0)));
    VERIFY_FAILS(store.runs->enqueue(request(session), {}, store.at(0)), ErrorCode::NotFound);
    VERIFY_FAILS(store.runs->enqueue(request({QStringLiteral("s-none")}), {}, store.at(0)), ErrorCode::NotFound);
}

void TestRunStore::guardedMoves()
{
    TestStore store;
    const Run run = store.addRunning(store.addSession());
    VERIFY_FAILS(store.runs->move(run.id, 1, RunState::Completed, RunState::Running), ErrorCode::Conflict);
    VERIFY_FAILS(store.runs->move(run.id, 1, RunState::Pending, RunState::Completed), ErrorCode::Conflict);
    const auto otherState = store.runs->move(run.id, 1, RunState::Paused, RunState::Running);
    VERIFY_FAILS(otherState, ErrorCode::Conflict);
    QVERIFY(otherState.error().message.contains(QLatin1String("RUNNING")));
    VERIFY_FAILS(store.runs->move(run.id, 2, RunState::Running, RunState::Completed), ErrorCode::Conflict);
    VERIFY_FAILS(store.runs->move({QStringLiteral("r-none")}, 1, RunState::Running, RunState::Completed),
                 ErrorCode::NotFound);
    QVERIFY(store.runs->get(run.id).value() == run);
    VERIFY_OK(store.runs->move(run.id, 1, RunState::Running, RunState::Completed));
    VERIFY_FAILS(store.runs->move(run.id, 1, RunState::Running, RunState::Completed), ErrorCode::Conflict);
}

void TestRunStore::theDatabaseItselfRefusesTwoActiveRuns()
{
    TestStore store;
    const SessionId session = store.addSession();
    store.addRunning(session);
    const RunId second = store.addRun(session);
    sqlite3 *other = nullptr;
    QCOMPARE(sqlite3_open(store.path().toUtf8().constData(), &other), SQLITE_OK);
    for (const char *state : {"RUNNING", "PAUSED"}) {
        const QByteArray sql =
            QByteArray("UPDATE run SET state = '") + state + "' WHERE id = '" + second.value.toLatin1() + '\'';
        QCOMPARE(sqlite3_exec(other, sql.constData(), nullptr, nullptr, nullptr), SQLITE_CONSTRAINT);
    }
    sqlite3_close(other);
}

void TestRunStore::patchesAreStored()
{
    TestStore store;
    const Run run = store.addRunning(store.addSession());
    QCOMPARE(run.steps, (QList<RunStep>{{QStringLiteral("claimed"), store.at(0)}}));
    QCOMPARE(run.startedAt, store.at(0));
    QCOMPARE(run.leaseOwner, owner);
    RunPatch patch;
    patch.startedAt = store.at(11);
    patch.endedAt = store.at(12);
    patch.errorCode = QStringLiteral("c");
    patch.errorMessage = QStringLiteral("m 'quoted' ?");
    patch.usage = Usage{1, 2, 3, 4, 5};
    patch.steps = {{QStringLiteral("a \"b\""), store.at(1)}, {QStringLiteral("c"), store.at(2)}};
    patch.leaseOwner = QString();
    const Run moved = store.runs->move(run.id, 1, RunState::Running, RunState::Error, patch).value();
    QCOMPARE(moved.startedAt, store.at(11));
    QCOMPARE(moved.endedAt, store.at(12));
    QCOMPARE(moved.errorCode, QStringLiteral("c"));
    QCOMPARE(moved.errorMessage, *patch.errorMessage);
    QCOMPARE(moved.usage, *patch.usage);
    QCOMPARE(moved.steps, run.steps + patch.steps);
    QCOMPARE(moved.leaseOwner, QString());
    QCOMPARE(moved.prompt, run.prompt);
    QVERIFY(store.runs->get(run.id).value() == moved);
}

void TestRunStore::adoptAndCancelRequests()
{
    TestStore store;
    const Run run = store.addRunning(store.addSession());
    QCOMPARE(store.runs->adopt(run.id, 1, QStringLiteral("engine-2"))->leaseOwner, QStringLiteral("engine-2"));
    QVERIFY(store.runs->requestCancel(run.id)->cancelRequested);
    QCOMPARE(store.runs->setUsage(run.id, 1, {1, 2, 3, 4, 5})->usage, (Usage{1, 2, 3, 4, 5}));
    finish(store, run.id);
    VERIFY_FAILS(store.runs->requestCancel(run.id), ErrorCode::Conflict);
    VERIFY_FAILS(store.runs->adopt(run.id, 1, owner), ErrorCode::Conflict);
    VERIFY_FAILS(store.runs->requestCancel({QStringLiteral("r-none")}), ErrorCode::NotFound);
}

void TestRunStore::countsAddUp()
{
    TestStore store;
    const Run running = store.addRunning(store.addSession());
    const Run paused = store.addRunning(store.addSession());
    VERIFY_OK(store.approvals->insert(store.makeApproval(paused, QStringLiteral("d")), {}));
    VERIFY_OK(store.runs->move(paused.id, 1, RunState::Running, RunState::Paused));
    for (const auto &[ended, cost] : {std::pair<qint64, qint64>(50, 7), {100, 20}, {150, 300}}) {
        const Run done = store.addRunning(store.addSession());
        RunPatch patch;
        patch.endedAt = store.at(ended);
        patch.usage = Usage{0, 0, 0, 0, cost};
        VERIFY_OK(store.runs->move(done.id, 1, RunState::Running, RunState::Completed, patch));
    }
    store.addRun(running.sessionId);
    store.addRun(running.sessionId);
    const Counts counts = store.runs->counts(store.at(1000), store.at(100)).value();
    QCOMPARE(counts, (Counts{1, 1, 2, 1, 320}));
}

void TestRunStore::listsAreOrdered()
{
    TestStore store;
    const SessionId session = store.addSession(), other = store.addSession();
    const QList<RunId> ids{store.addRun(session), store.addRun(other), store.addRun(session), store.addRun(session)};
    const auto idsOf = [](const Result<QList<Run>> &runs) {
        QList<RunId> list;
        for (const Run &run : runs.value())
            list += run.id;
        return list;
    };
    QCOMPARE(idsOf(store.runs->list(session, 2)), (QList<RunId>{ids[2], ids[3]}));
    QCOMPARE(idsOf(store.runs->list(session, 20)), (QList<RunId>{ids[0], ids[2], ids[3]}));
    QCOMPARE(idsOf(store.runs->waiting(3)), (QList<RunId>{ids[0], ids[1], ids[2]}));
    claim(store);
    claim(store);
    QCOMPARE(idsOf(store.runs->active()), (QList<RunId>{ids[0], ids[1]}));
    QCOMPARE(idsOf(store.runs->waiting(9)), (QList<RunId>{ids[2], ids[3]}));
}

void TestRunStore::keepsItsPlaceOverARestart()
{
    TestStore store;
    const SessionId session = store.addSession();
    const Run head = store.addRunning(session);
    const RunId second = store.addRun(session);
    VERIFY_OK(store.runs->move(head.id, 1, RunState::Running, RunState::Paused));
    store.reopen();
    QCOMPARE(toString(store.runs->get(head.id)->state), toString(RunState::Paused));
    QCOMPARE(store.runs->get(second)->position, 1);
    QCOMPARE(claim(store), RunId());
    finish(store, head.id, RunState::Cancelled);
    store.reopen();
    QCOMPARE(claim(store), second);
}

QTEST_GUILESS_MAIN(TestRunStore)
#include "tst_runstore.moc"
