// Approvals at exact moments: what the real program can't be made to do on time. The engine, worker, driver and store
// are the real ones.
#include "tests/engine/stubfixture.h"

using namespace engine;

class TestEngineApprovals final : public QObject
{
    Q_OBJECT

private slots:
    void b06_secondDecisionNamesTheFirst();
    void b07_repeatedKeyIsDeliveredOnce();
    void b09_b12_expiryAndDecisionInTheSameTick();
    void b15_b79_deliveryFailsAndIsMadeUp();
    void b20_cancelWithdraws();
    void b21_everyPendingBlocksContinue();
    void b24_b84_threeParallelRequestsMiddleFirst();
    void b76_everyActIsAudited();
    void b81_oddRequestsReachThePerson_data();
    void b81_oddRequestsReachThePerson();
    void b85_b86_answersReachTheirOwnRequest();
};

void TestEngineApprovals::b06_secondDecisionNamesTheFirst()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask 1"));
    const QList<Approval> pending = fixture.pendingOnce(1);
    QCOMPARE(pending.size(), 1);
    QVERIFY(fixture.decide(pending.first(), Verdict::Deny, true, QStringLiteral("no")).has_value());
    const auto second = fixture.decide(pending.first(), Verdict::Approve);
    QVERIFY(!second.has_value());
    QCOMPARE(toString(second.error().code), toString(ErrorCode::Conflict));
    QVERIFY2(second.error().message.contains(QStringLiteral("rita")) && second.error().message.contains(QStringLiteral("denied")),
             qPrintable(second.error().message));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.decisionsRead(), QStringList{QStringLiteral("deny")});
}

void TestEngineApprovals::b07_repeatedKeyIsDeliveredOnce()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask 1"));
    const Approval approval = fixture.pendingOnce(1).value(0);
    Decision decision{approval.id, approval.digest, Verdict::Approve, {}, {}, QStringLiteral("rita"), QStringLiteral("k"), true};
    QList<QFuture<Result<Resolved>>> futures;
    for (int i = 0; i < 5; ++i)
        futures.append(fixture.client->resolve(decision));
    int repeated = 0;
    for (const auto &future : std::as_const(futures)) {
        const auto resolved = fixture.get(future);
        QVERIFY2(resolved.has_value(), resolved ? "" : qPrintable(resolved.error().message));
        repeated += resolved->repeated ? 1 : 0;
    }
    QCOMPARE(repeated, 4);
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.decisionsRead(), QStringList{QStringLiteral("allow")});
}

void TestEngineApprovals::b09_b12_expiryAndDecisionInTheSameTick()
{
    StubFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    for (int round = 0; round < 6; ++round) {
        const Run run = fixture.submit(session, QStringLiteral("ask 1"));
        const Approval approval = fixture.pendingOnce(1).value(0);
        QVERIFY(!approval.id.isEmpty());
        Decision decision{approval.id, approval.digest, Verdict::Approve, {}, {}, QStringLiteral("rita"), {}, true};
        QFuture<Result<Resolved>> future;
        if (round % 2 == 0) {
            fixture.time->advance(900 * 1000);
            future = fixture.client->resolve(decision);
        } else {
            future = fixture.client->resolve(decision);
            fixture.time->advance(900 * 1000);
        }
        const auto resolved = fixture.get(future);
        QVERIFY(fixture.settles(run.id, RunState::Completed));
        const Approval after = fixture.approval(approval.id);
        QCOMPARE(after.state == ApprovalState::Approved, resolved.has_value());
        QCOMPARE(after.state == ApprovalState::Expired, !resolved.has_value());
        QCOMPARE(fixture.decisionsRead().size(), round + 1);
        QCOMPARE(fixture.decisionsRead().last(), resolved ? QStringLiteral("allow") : QStringLiteral("deny"));
        if (!resolved)
            QVERIFY(after.decidedBy.isEmpty());
    }
}

void TestEngineApprovals::b15_b79_deliveryFailsAndIsMadeUp()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask 1"));
    const Approval approval = fixture.pendingOnce(1).value(0);
    // The worker is stopped, not dead: it takes no bytes.
    const QList<qint64> workers = fixture.workerPids();
    QCOMPARE(workers.size(), 1);
    ::kill(pid_t(workers.first()), SIGSTOP);
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QTest::qWait(150);
    QCOMPARE(toString(fixture.approval(approval.id).delivery), toString(Delivery::NotDelivered));
    // The engine goes and comes back; the decision is stored and goes out again under its id.
    fixture.stop();
    ::kill(pid_t(workers.first()), SIGCONT);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.decisionsRead(), QStringList{QStringLiteral("allow")});
    QCOMPARE(toString(fixture.approval(approval.id).delivery), toString(Delivery::Executed));
}

void TestEngineApprovals::b20_cancelWithdraws()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("ask 2"));
    const QList<Approval> pending = fixture.pendingOnce(2);
    QCOMPARE(pending.size(), 2);
    QVERIFY(fixture.get(fixture.client->cancelRun(run.id, QStringLiteral("rita"))).has_value());
    for (const Approval &approval : pending) {
        QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Cancelled));
        QCOMPARE(toString(fixture.decide(approval, Verdict::Approve).error().code), toString(ErrorCode::Conflict));
    }
    QCOMPARE(toString(fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false)).error().code), toString(ErrorCode::Conflict));
    QTRY_COMPARE(fixture.counts.pendingApprovals, 0);
    const Run next = fixture.submit(session, QStringLiteral("text on"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
    QVERIFY(fixture.decisionsRead().isEmpty());
}

void TestEngineApprovals::b21_everyPendingBlocksContinue()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask 2"));
    const QList<Approval> pending = fixture.pendingOnce(2);
    QVERIFY(fixture.decide(pending.at(0), Verdict::Approve, true).has_value());
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    const auto early = fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false));
    QVERIFY(!early.has_value());
    QCOMPARE(toString(early.error().code), toString(ErrorCode::Forbidden));
    QVERIFY(fixture.decisionsRead().isEmpty());
    QVERIFY(fixture.decide(pending.at(1), Verdict::Approve, true).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.decisionsRead().size(), 2);
}

void TestEngineApprovals::b24_b84_threeParallelRequestsMiddleFirst()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("ask 3"));
    const QList<Approval> pending = fixture.pendingOnce(3);
    QCOMPARE(pending.size(), 3);
    QVERIFY(fixture.decide(pending.at(1), Verdict::Deny, true, QStringLiteral("middle no")).has_value());
    fixture.stop();
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QCOMPARE(fixture.pending().size(), 2);
    QVERIFY(fixture.decide(pending.at(0), Verdict::Approve).has_value());
    QVERIFY(fixture.decide(pending.at(2), Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QStringList decisions = fixture.decisionsRead();
    decisions.sort();
    QCOMPARE(decisions, (QStringList{QStringLiteral("allow"), QStringLiteral("allow"), QStringLiteral("deny")}));
    QHash<QString, QString> outputs;
    for (const Block &block : fixture.blocks(session.id)) {
        if (block.kind == BlockKind::Tool)
            outputs.insert(block.key, block.output);
    }
    QCOMPARE(outputs.size(), 3);
    QVERIFY(outputs.value(pending.at(0).nativeToolUseId).contains(QStringLiteral("work 0")));
    QVERIFY(outputs.value(pending.at(1).nativeToolUseId).contains(QStringLiteral("middle no")));
    QVERIFY(outputs.value(pending.at(2).nativeToolUseId).contains(QStringLiteral("work 2")));
}

void TestEngineApprovals::b76_everyActIsAudited()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("ask 1"));
    const Approval approval = fixture.pendingOnce(1).value(0);
    Approval wrong = approval;
    wrong.digest = Digest{QString(64, u'f')};
    QVERIFY(!fixture.decide(wrong, Verdict::Approve).has_value());
    QVERIFY(fixture.get(fixture.client->extendApproval(approval.id, 60, QStringLiteral("rita"))).has_value());
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QStringList acts;
    for (const AuditEntry &entry : fixture.get(fixture.client->audit(100)).value_or(QList<AuditEntry>{}))
        acts.prepend(entry.what + u'=' + entry.result);
    for (const char *act : {"agent.save=ok", "session.create=ok", "approval.resolve=action_changed", "approval.extend=ok",
                            "approval.approve=ok", "run.continue=ok"})
        QVERIFY2(acts.contains(QLatin1String(act)), act);
}

void TestEngineApprovals::b81_oddRequestsReachThePerson_data()
{
    QTest::addColumn<QString>("kind");
    for (const char *kind : {"long-name", "no-name", "no-input", "null-input", "text-input"})
        QTest::newRow(kind) << QString::fromLatin1(kind);
}

void TestEngineApprovals::b81_oddRequestsReachThePerson()
{
    QFETCH(QString, kind);
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask-odd ") + kind);
    const Approval approval = fixture.pendingOnce(1).value(0);
    QVERIFY(!approval.id.isEmpty());
    QVERIFY(!approval.raw.isEmpty());
    QCOMPARE(approval.digest.value.size(), 64);
    QVERIFY(!approval.title.isEmpty());
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QVERIFY(fixture.decide(approval, Verdict::Deny).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.decisionsRead(), QStringList{QStringLiteral("deny")});
}

void TestEngineApprovals::b85_b86_answersReachTheirOwnRequest()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run first = fixture.submit(session, QStringLiteral("ask 1"));
    const Approval earlier = fixture.pendingOnce(1).value(0);
    QVERIFY(fixture.get(fixture.client->cancelRun(first.id, QStringLiteral("rita"))).has_value());
    const Run second = fixture.submit(session, QStringLiteral("ask 1"));
    const Approval later = fixture.pendingOnce(1).value(0);
    QVERIFY(earlier.id != later.id);
    QVERIFY(earlier.digest != later.digest);
    // The same arguments, another request: an answer to the earlier one reaches nobody.
    QCOMPARE(earlier.input, later.input);
    QVERIFY(!fixture.decide(earlier, Verdict::Approve).has_value());
    QTest::qWait(50);
    QCOMPARE(toString(fixture.approval(later.id).state), toString(ApprovalState::Pending));
    QVERIFY(fixture.decisionsRead().isEmpty());
    QVERIFY(fixture.decide(later, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(second.id, RunState::Completed));
}

QTEST_GUILESS_MAIN(TestEngineApprovals)
#include "tst_engineapprovals.moc"
