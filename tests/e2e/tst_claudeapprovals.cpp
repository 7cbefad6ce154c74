// Approvals end to end: the real Claude Code, the real worker, a stand-in for the model's API only.
#include "tests/e2e/claudefixture.h"

#include <QJsonDocument>
#include <QJsonObject>

using namespace engine;

class TestClaudeApprovals final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase_data() { addClaudeVersions(); }
    void initTestCase()
    {
        if (qEnvironmentVariable("SIGNALBOX_CLAUDE_332").isEmpty() && qEnvironmentVariable("SIGNALBOX_CLAUDE_197").isEmpty())
            QSKIP("no real Claude Code: run installer/test.sh, which installs the pinned versions");
    }

    void b01_bashPausesWithItsExactAction();
    void b03_approveGoesOnInTheSameTurn();
    void b04_denialReachesTheModel();
    void b05_b06_b07_guards();
    void b09_expiry();
    void b13_refusedStoreKeepsTheApproval();
    void b14_refusedPauseDenies();
    void b18_lostExecution();
    void b20_cancelWhilePaused();
    void b21_b22_b23_continue();
    void b24_b84_twoRequestsInOneTurn();
    void b26_editedArgumentsRun();
    void b28_b33_b82_pausedHeadBlocksItsLine();
    void gateAllAsksForReadOnlyCommands();
    void questionsAndPlans();

private:
    static QString touch(const QString &file) { return QStringLiteral("[[bash touch %1 && echo made-%1]]").arg(file); }
    static bool exists(const Session &session, const QString &file)
    {
        return QFileInfo::exists(session.workspace + u'/' + file);
    }
};

void TestClaudeApprovals::b01_bashPausesWithItsExactAction()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("a.txt")));
    const Approval approval = fixture.nextApproval();
    QCOMPARE(approval.runId, run.id);
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QCOMPARE(approval.toolName, QStringLiteral("Bash"));
    QCOMPARE(QJsonDocument::fromJson(approval.input).object().value(QStringLiteral("command")).toString(),
             QStringLiteral("touch a.txt && echo made-a.txt"));
    QCOMPARE(approval.nativeSessionId, session.native.nativeSessionId);
    QCOMPARE(approval.expiresAt, approval.requestedAt.addSecs(900));
    QVERIFY(!exists(session, QStringLiteral("a.txt")));
    const auto events = fixture.get(fixture.client->runEvents(run.id, 100));
    QVERIFY(events.has_value());
    QVERIFY(QTest::qWaitFor([&] {
        const QList<RunEvent> present = fixture.get(fixture.client->runEvents(run.id, 100)).value_or(QList<RunEvent>{});
        return std::any_of(present.begin(), present.end(), [](const RunEvent &event) { return event.kind == u"RunPaused"; });
    }));
    QVERIFY(fixture.transcript(session.id).contains(QStringLiteral("approval")));
}

void TestClaudeApprovals::b03_approveGoesOnInTheSameTurn()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("b.txt")));
    const Approval approval = fixture.nextApproval();
    const QList<qint64> before = fixture.harnessPids();
    QCOMPARE(before.size(), 1);

    // Resolve stores and sends nothing; Continue carries it.
    const auto resolved = fixture.decide(approval, Verdict::Approve, false);
    QVERIFY2(resolved.has_value(), resolved ? "" : qPrintable(resolved.error().message));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QCOMPARE(toString(fixture.approval(approval.id).delivery), toString(Delivery::NotDelivered));
    QVERIFY(!exists(session, QStringLiteral("b.txt")));
    QVERIFY(fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false)).has_value());

    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(exists(session, QStringLiteral("b.txt")));
    QCOMPARE(fixture.harnessPids(), before);
    QCOMPARE(fixture.promptsSeen(QStringLiteral("touch b.txt")), 1);
    const Approval executed = fixture.approval(approval.id);
    QCOMPARE(toString(executed.delivery), toString(Delivery::Executed));
    QCOMPARE(executed.executedStatus, QStringLiteral("ok"));
    QVERIFY(executed.writtenAt >= executed.decidedAt);
    QCOMPARE(fixture.transcript(session.id).count(QStringLiteral("tool(Bash,done)")), 1);
}

void TestClaudeApprovals::b04_denialReachesTheModel()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("c.txt")));
    const Approval approval = fixture.nextApproval();
    QVERIFY(fixture.decide(approval, Verdict::Deny, true, QStringLiteral("use the other folder")).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(!exists(session, QStringLiteral("c.txt")));
    QVERIFY(fixture.api.requests().last().lastToolResult.contains(QStringLiteral("use the other folder")));
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Denied));
    QVERIFY(fixture.transcript(session.id).contains(QStringLiteral("tool(Bash,denied)")));
}

void TestClaudeApprovals::b05_b06_b07_guards()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("d.txt")));
    const Approval approval = fixture.nextApproval();

    Approval changed = approval;
    changed.digest = Digest{QString(64, u'0')};
    const auto refused = fixture.decide(changed, Verdict::Approve);
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::ActionChanged));
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Pending));
    QVERIFY(!exists(session, QStringLiteral("d.txt")));

    Decision decision{approval.id, approval.digest, Verdict::Approve, {}, {}, QStringLiteral("rita"), QStringLiteral("key-1"), true};
    Decision other{approval.id, approval.digest, Verdict::Deny, {}, {}, QStringLiteral("otto"), {}, true};
    // b08: both are under way at the same time.
    const auto first = fixture.client->resolve(decision);
    const auto second = fixture.client->resolve(other);
    QVERIFY(fixture.get(first).has_value());
    const auto lost = fixture.get(second);
    QVERIFY(!lost.has_value());
    QCOMPARE(toString(lost.error().code), toString(ErrorCode::Conflict));
    QVERIFY2(lost.error().message.contains(QStringLiteral("rita")), qPrintable(lost.error().message));

    const auto repeated = fixture.get(fixture.client->resolve(decision));
    QVERIFY(repeated.has_value());
    QVERIFY(repeated->repeated);
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.transcript(session.id).count(QStringLiteral("tool(Bash")), 1);
}

void TestClaudeApprovals::b09_expiry()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program, true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("e.txt")));
    const Approval approval = fixture.nextApproval();
    fixture.time->advance(890 * 1000);
    // b10: an extension moves the deadline and is audited.
    const auto extended = fixture.get(fixture.client->extendApproval(approval.id, 60, QStringLiteral("rita")));
    QVERIFY2(extended.has_value(), extended ? "" : qPrintable(extended.error().message));
    QCOMPARE(extended->expiresAt, approval.expiresAt.addSecs(60));
    fixture.time->advance(20 * 1000);
    QTest::qWait(100);
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    fixture.time->advance(60 * 1000);
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    const Approval expired = fixture.approval(approval.id);
    QCOMPARE(toString(expired.state), toString(ApprovalState::Expired));
    QVERIFY(expired.decidedBy.isEmpty());
    QVERIFY(!exists(session, QStringLiteral("e.txt")));
    QVERIFY(fixture.api.requests().last().lastToolResult.contains(QStringLiteral("timed out")));
    // b11
    const auto late = fixture.decide(approval, Verdict::Approve);
    QVERIFY(!late.has_value());
    QVERIFY(late.error().code == ErrorCode::Expired || late.error().code == ErrorCode::Conflict);
    const auto audit = fixture.get(fixture.client->audit(100));
    QVERIFY(audit.has_value());
    QVERIFY(std::any_of(audit->begin(), audit->end(), [](const AuditEntry &entry) { return entry.what == u"approval.extend"; }));
}

void TestClaudeApprovals::b13_refusedStoreKeepsTheApproval()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("f.txt")));
    const Approval approval = fixture.nextApproval();
    fixture.breakStore(QStringLiteral("approval_update"));
    const auto refused = fixture.decide(approval, Verdict::Approve);
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::StorageUnavailable));
    QVERIFY2(refused.error().message.contains(QStringLiteral("nothing was sent")), qPrintable(refused.error().message));
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Pending));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    fixture.mendStore();
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
}

void TestClaudeApprovals::b14_refusedPauseDenies()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    fixture.breakStore(QStringLiteral("approval_insert"));
    const Run run = fixture.submit(session, touch(QStringLiteral("g.txt")));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QCOMPARE(fixture.run(run.id).errorCode, QStringLiteral("storage_unavailable"));
    QVERIFY(fixture.pending().isEmpty());
    QVERIFY(!exists(session, QStringLiteral("g.txt")));
    fixture.mendStore();
}

void TestClaudeApprovals::b18_lostExecution()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    const Run run = fixture.submit(session, touch(QStringLiteral("h.txt")));
    const Approval approval = fixture.nextApproval();
    const QList<qint64> pids = fixture.harnessPids();
    QCOMPARE(pids.size(), 1);
    ::kill(pid_t(pids.first()), SIGKILL);
    QVERIFY(QTest::qWaitFor([&] { return fixture.approval(approval.id).nativeLost; }, 10000));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    // The resumed conversation issues the same command again (its directive is still the newest): the stored decision
    // is used for it, and for nothing else.
    QVERIFY(QTest::qWaitFor([&] { return isTerminal(fixture.state(run.id)) || fixture.pending().size() == 1; }, 40000));
    if (!fixture.pending().isEmpty())
        QVERIFY(fixture.pending().first().input != approval.input);
    else
        QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Completed));
    QCOMPARE(fixture.harnessPids().size(), 1);
}

void TestClaudeApprovals::b20_cancelWhilePaused()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("i.txt")));
    const Approval approval = fixture.nextApproval();
    const auto cancelled = fixture.get(fixture.client->cancelRun(run.id, QStringLiteral("rita")));
    QVERIFY2(cancelled.has_value(), cancelled ? "" : qPrintable(cancelled.error().message));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Cancelled));
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Cancelled));
    const auto late = fixture.decide(approval, Verdict::Approve);
    QVERIFY(!late.has_value());
    QCOMPARE(toString(late.error().code), toString(ErrorCode::Conflict));
    const auto goOn = fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false));
    QVERIFY(!goOn.has_value());
    QCOMPARE(toString(goOn.error().code), toString(ErrorCode::Conflict));
    // The same process takes the next prompt.
    const QList<qint64> pids = fixture.harnessPids();
    const Run next = fixture.submit(session, QStringLiteral("[[text still here]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
    QVERIFY(!exists(session, QStringLiteral("i.txt")));
}

void TestClaudeApprovals::b21_b22_b23_continue()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("j.txt")));
    const Approval approval = fixture.nextApproval();
    const auto early = fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false));
    QVERIFY(!early.has_value());
    QCOMPARE(toString(early.error().code), toString(ErrorCode::Forbidden));
    QVERIFY(fixture.decide(approval, Verdict::Approve, false).has_value());
    const auto first = fixture.client->continueRun(run.id, QStringLiteral("rita"), true);
    const auto second = fixture.client->continueRun(run.id, QStringLiteral("rita"), true);
    const auto done = fixture.get(first);
    QVERIFY2(done.has_value(), done ? "" : qPrintable(done.error().message));
    QCOMPARE(toString(done->run.state), toString(RunState::Completed));
    QVERIFY(!done->attached);
    const auto attached = fixture.get(second);
    QVERIFY2(attached.has_value(), attached ? "" : qPrintable(attached.error().message));
    QVERIFY(attached->attached);
    QCOMPARE(fixture.transcript(session.id).count(QStringLiteral("tool(Bash")), 1);
}

void TestClaudeApprovals::b24_b84_twoRequestsInOneTurn()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, QStringLiteral("[[two touch k1.txt ;; touch k2.txt]]"));
    const Approval first = fixture.nextApproval();
    // An engine that restarts between the decisions changes nothing.
    fixture.stop();
    QVERIFY(fixture.start());
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QVERIFY(fixture.decide(first, Verdict::Deny, true, QStringLiteral("not the first")).has_value());
    QVERIFY(QTest::qWaitFor([&] {
        const QList<Approval> open = fixture.pending();
        return open.size() == 1 && open.first().id != first.id;
    }, 20000));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    const Approval second = fixture.pending().first();
    QVERIFY(first.nativeRequestId != second.nativeRequestId);
    QVERIFY(fixture.decide(second, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(exists(session, QStringLiteral("k1.txt")) != exists(session, QStringLiteral("k2.txt")));
    const QString approvedFile = second.input.contains("k2.txt") ? QStringLiteral("k2.txt") : QStringLiteral("k1.txt");
    QVERIFY(exists(session, approvedFile));
}

void TestClaudeApprovals::b26_editedArgumentsRun()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, touch(QStringLiteral("l.txt")));
    const Approval approval = fixture.nextApproval();
    const auto broken = fixture.decide(approval, Verdict::Approve, true, {}, "{\"command\":");
    QVERIFY(!broken.has_value());
    QCOMPARE(toString(broken.error().code), toString(ErrorCode::Invalid));
    const auto resolved = fixture.decide(approval, Verdict::Approve, true, {},
                                         R"({"command":"touch edited.txt","description":"Run command"})");
    QVERIFY2(resolved.has_value(), resolved ? "" : qPrintable(resolved.error().message));
    QVERIFY(!resolved->approval.editedDigest.isEmpty());
    QVERIFY(resolved->approval.editedDigest != approval.digest);
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(exists(session, QStringLiteral("edited.txt")));
    QVERIFY(!exists(session, QStringLiteral("l.txt")));
}

void TestClaudeApprovals::b28_b33_b82_pausedHeadBlocksItsLine()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Agent agent = fixture.claude();
    const Session session = fixture.session(agent);
    const Session other = fixture.session(agent);
    const Run head = fixture.submit(session, touch(QStringLiteral("m.txt")));
    const Approval approval = fixture.nextApproval();
    const Run waiting = fixture.submit(session, QStringLiteral("[[text after]]"));
    const Run elsewhere = fixture.submit(other, QStringLiteral("[[text elsewhere]]"));
    QVERIFY(fixture.settles(elsewhere.id, RunState::Completed));
    QCOMPARE(toString(fixture.state(waiting.id)), toString(RunState::Pending));
    QCOMPARE(toString(fixture.state(head.id)), toString(RunState::Paused));
    const auto line = fixture.get(fixture.client->runs(session.id, 10));
    QVERIFY(line.has_value());
    QVERIFY2(line->last().waitingFor.contains(head.id.value), qPrintable(line->last().waitingFor));
    QVERIFY(QTest::qWaitFor([&] { return fixture.counts.pendingApprovals == 1; }));
    QCOMPARE(fixture.pending().size(), 1);
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(waiting.id, RunState::Completed));
    QTRY_COMPARE(toString(fixture.lastSeen(head.id)), toString(RunState::Completed));
    QVERIFY(QTest::qWaitFor([&] { return fixture.counts.pendingApprovals == 0; }));
    QVERIFY(fixture.run(head.id).sequence < fixture.run(waiting.id).sequence);
}

void TestClaudeApprovals::gateAllAsksForReadOnlyCommands()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session gated = fixture.session(fixture.claude([](Agent &agent) { agent.gate = Gate::All; }));
    const Run run = fixture.submit(gated, QStringLiteral("[[bash echo quiet]]"));
    const Approval approval = fixture.nextApproval();
    QCOMPARE(approval.runId, run.id);
    QVERIFY(fixture.decide(approval, Verdict::Deny).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    const Session native = fixture.session(fixture.claude());
    const Run free = fixture.submit(native, QStringLiteral("[[bash echo quiet]]"));
    QVERIFY(fixture.settles(free.id, RunState::Completed));
    QVERIFY(fixture.transcript(native.id).contains(QStringLiteral("tool(Bash,done)")));
}

void TestClaudeApprovals::questionsAndPlans()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(
        session, QStringLiteral(R"([[tool AskUserQuestion {"questions":[{"question":"Which cache?","header":"Cache","multiSelect":false,"options":[{"label":"Redis","description":"shared"},{"label":"Local","description":"simple"}]}]}]])"));
    const Approval question = fixture.nextApproval();
    QCOMPARE(toString(question.kind), toString(ApprovalKind::Question));
    QCOMPARE(question.title, QStringLiteral("Which cache?"));
    QJsonObject answered = QJsonDocument::fromJson(question.input).object();
    answered.insert(QStringLiteral("answers"), QJsonObject{{QStringLiteral("Which cache?"), QStringLiteral("Local")}});
    QVERIFY(fixture.decide(question, Verdict::Approve, true, {}, QJsonDocument(answered).toJson(QJsonDocument::Compact)).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY2(fixture.api.requests().last().lastToolResult.contains(QStringLiteral("Local")),
             qPrintable(fixture.api.requests().last().lastToolResult));

    const Session planning = fixture.session(fixture.claude([](Agent &agent) { agent.permissionMode = QStringLiteral("plan"); }));
    const Run planned = fixture.submit(planning, QStringLiteral(R"([[tool ExitPlanMode {"plan":"1. look 2. act"}]])"));
    const Approval plan = fixture.nextApproval();
    QCOMPARE(toString(plan.kind), toString(ApprovalKind::Plan));
    QVERIFY(fixture.decide(plan, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(planned.id, RunState::Completed));
}

QTEST_GUILESS_MAIN(TestClaudeApprovals)
#include "tst_claudeapprovals.moc"
