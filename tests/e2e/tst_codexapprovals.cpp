// Approvals end to end: the real Codex, the real worker, a stand-in for the model's API only.
#include "tests/e2e/codexfixture.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

using namespace engine;

class TestCodexApprovals final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        if (qEnvironmentVariable("SIGNALBOX_CODEX").isEmpty())
            QSKIP("no real Codex: run installer/test.sh, which installs the pinned version");
    }

    void b02_b03_escalationPausesAndGoesOn();
    void b04_denialReachesTheModel();
    void b05_b26_guards();
    void b09_expiry();
    void b14_refusedPauseDenies();
    void patchShowsItsDiff();
    void b16_pausedOverARestart();
    void b18_lostExecution();
    void b20_cancelWhilePaused();
    void b24_twoRequestsInOneTurn();
    void gateAllAsksForEverything();

private:
    static bool exists(const Session &session, const QString &file)
    {
        return QFileInfo::exists(session.workspace + u'/' + file);
    }
    static QString writes(const QString &file)
    {
        return QStringLiteral("[[escalate touch %1 && echo made-%1]]").arg(file);
    }
};

// No approval option is set anywhere: on-request applies.
void TestCodexApprovals::b02_b03_escalationPausesAndGoesOn()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, writes(QStringLiteral("a.txt")));
    const Approval approval = fixture.nextApproval();
    QCOMPARE(approval.runId, run.id);
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QCOMPARE(approval.toolName, QStringLiteral("commandExecution"));
    const QString command = QJsonDocument::fromJson(approval.input).object().value(QStringLiteral("command")).toString();
    QVERIFY2(command.contains(QStringLiteral("touch a.txt && echo made-a.txt")), qPrintable(command));
    QVERIFY2(approval.title.startsWith(QStringLiteral("Run: ")), qPrintable(approval.title));
    QCOMPARE(approval.reason, QStringLiteral("It must write."));
    QCOMPARE(approval.nativeSessionId, fixture.native(session).nativeSessionId);
    QVERIFY(!approval.editable);
    QVERIFY(!exists(session, QStringLiteral("a.txt")));
    const QList<qint64> pids = fixture.harnessPids();

    // Resolve stores and sends nothing; Continue carries it.
    QVERIFY(fixture.decide(approval, Verdict::Approve, false).has_value());
    QCOMPARE(toString(fixture.approval(approval.id).delivery), toString(Delivery::NotDelivered));
    QVERIFY(!exists(session, QStringLiteral("a.txt")));
    QVERIFY(fixture.get(fixture.client->continueRun(run.id, QStringLiteral("rita"), false)).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(exists(session, QStringLiteral("a.txt")));
    QCOMPARE(fixture.harnessPids(), pids);
    QCOMPARE(fixture.promptsSeen(QStringLiteral("escalate")), 1);
    const Approval executed = fixture.approval(approval.id);
    QCOMPARE(toString(executed.delivery), toString(Delivery::Executed));
    QCOMPARE(executed.executedStatus, QStringLiteral("ok"));
    QCOMPARE(fixture.transcript(session.id).count(QStringLiteral("tool(commandExecution,done)")), 1);
}

void TestCodexApprovals::b04_denialReachesTheModel()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, writes(QStringLiteral("c.txt")));
    const Approval approval = fixture.nextApproval();
    QVERIFY(fixture.decide(approval, Verdict::Deny, true, QStringLiteral("use the other folder")).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(!exists(session, QStringLiteral("c.txt")));
    const StandInOpenAi::Request last = fixture.api.requests().last();
    QVERIFY2(last.lastToolResult.contains(QStringLiteral("rejected"), Qt::CaseInsensitive), qPrintable(last.lastToolResult));
    QCOMPARE(last.userTexts.filter(QStringLiteral("use the other folder")).size(), 1);
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Denied));
    QVERIFY(fixture.transcript(session.id).contains(QStringLiteral("tool(commandExecution,denied)")));
}

void TestCodexApprovals::b05_b26_guards()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, writes(QStringLiteral("d.txt")));
    const Approval approval = fixture.nextApproval();
    Approval changed = approval;
    changed.digest = Digest{QString(64, u'0')};
    const auto refused = fixture.decide(changed, Verdict::Approve);
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::ActionChanged));
    // Codex runs a command as the model wrote it: an edit is refused, not dropped.
    const auto edited = fixture.decide(approval, Verdict::Approve, true, {}, "{\"command\":\"true\"}");
    QVERIFY(!edited.has_value());
    QCOMPARE(toString(edited.error().code), toString(ErrorCode::NotSupported));
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Pending));
    QVERIFY(!exists(session, QStringLiteral("d.txt")));
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
}

void TestCodexApprovals::b09_expiry()
{
    CodexFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, writes(QStringLiteral("e.txt")));
    const Approval approval = fixture.nextApproval();
    fixture.time->advance(901 * 1000);
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    const Approval expired = fixture.approval(approval.id);
    QCOMPARE(toString(expired.state), toString(ApprovalState::Expired));
    QVERIFY(expired.decidedBy.isEmpty());
    QVERIFY(!exists(session, QStringLiteral("e.txt")));
    QCOMPARE(fixture.api.requests().last().userTexts.filter(QStringLiteral("timed out")).size(), 1);
    const auto late = fixture.decide(approval, Verdict::Approve);
    QVERIFY(!late.has_value());
}

void TestCodexApprovals::b14_refusedPauseDenies()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    fixture.breakStore(QStringLiteral("approval_insert"));
    const Run run = fixture.submit(session, writes(QStringLiteral("g.txt")));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QCOMPARE(fixture.run(run.id).errorCode, QStringLiteral("storage_unavailable"));
    QVERIFY(fixture.pending().isEmpty());
    QVERIFY(!exists(session, QStringLiteral("g.txt")));
    fixture.mendStore();
}

void TestCodexApprovals::patchShowsItsDiff()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[add notes.txt alpha and beta]]"));
    const Approval approval = fixture.nextApproval();
    QCOMPARE(approval.toolName, QStringLiteral("fileChange"));
    QCOMPARE(toString(approval.kind), toString(ApprovalKind::Tool));
    const QJsonObject change =
        QJsonDocument::fromJson(approval.input).object().value(QStringLiteral("changes")).toArray().first().toObject();
    QVERIFY2(change.value(QStringLiteral("path")).toString().endsWith(QStringLiteral("notes.txt")), approval.input.constData());
    QCOMPARE(change.value(QStringLiteral("diff")).toString(), QStringLiteral("alpha and beta\n"));
    QVERIFY2(approval.title.contains(QStringLiteral("notes.txt")), qPrintable(approval.title));
    QVERIFY(!exists(session, QStringLiteral("notes.txt")));
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QFile made(session.workspace + QStringLiteral("/notes.txt"));
    QVERIFY(made.open(QIODevice::ReadOnly));
    QCOMPARE(made.readAll(), QByteArray("alpha and beta\n"));
    QCOMPARE(toString(fixture.approval(approval.id).delivery), toString(Delivery::Executed));

    const Run other = fixture.submit(session, QStringLiteral("[[add other.txt gamma]]"));
    QVERIFY(fixture.decide(fixture.nextApproval(), Verdict::Deny).has_value());
    QVERIFY(fixture.settles(other.id, RunState::Completed));
    QVERIFY(!exists(session, QStringLiteral("other.txt")));
}

void TestCodexApprovals::b16_pausedOverARestart()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, writes(QStringLiteral("k.txt")));
    const Approval approval = fixture.nextApproval();
    const QList<qint64> pids = fixture.harnessPids();
    fixture.stop();
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QCOMPARE(fixture.harnessPids(), pids);
    QCOMPARE(fixture.pending().size(), 1);
    QCOMPARE(fixture.pending().first().id, approval.id);
    QVERIFY(!fixture.pending().first().nativeLost);
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(exists(session, QStringLiteral("k.txt")));
    QCOMPARE(fixture.promptsSeen(QStringLiteral("escalate")), 1);
}

void TestCodexApprovals::b18_lostExecution()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    const Run run = fixture.submit(session, writes(QStringLiteral("h.txt")));
    const Approval approval = fixture.nextApproval();
    for (const qint64 pid : fixture.harnessPids())
        ::kill(pid_t(pid), SIGKILL);
    QVERIFY(QTest::qWaitFor([&] { return fixture.approval(approval.id).nativeLost; }, 10000));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    // The resumed turn says words only, or asks for the very same command, for which the stored decision is used.
    QVERIFY(QTest::qWaitFor([&] { return isTerminal(fixture.state(run.id)) || fixture.pending().size() == 1; }, 60000));
    if (!fixture.pending().isEmpty())
        QVERIFY(fixture.pending().first().input != approval.input);
    else
        QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Completed));
}

void TestCodexApprovals::b20_cancelWhilePaused()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, writes(QStringLiteral("i.txt")));
    const Approval approval = fixture.nextApproval();
    QVERIFY(fixture.get(fixture.client->cancelRun(run.id, QStringLiteral("rita"))).has_value());
    QCOMPARE(toString(fixture.approval(approval.id).state), toString(ApprovalState::Cancelled));
    const auto late = fixture.decide(approval, Verdict::Approve);
    QVERIFY(!late.has_value());
    const QList<qint64> pids = fixture.harnessPids();
    const Run next = fixture.submit(session, QStringLiteral("[[text still here]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
    QVERIFY(!exists(session, QStringLiteral("i.txt")));
}

void TestCodexApprovals::b24_twoRequestsInOneTurn()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex([](Agent &agent) {
        agent.approvalPolicy = QStringLiteral("untrusted");
        agent.sandboxMode = QStringLiteral("workspace-write");
    }));
    const Run run = fixture.submit(session, QStringLiteral("[[two touch l1.txt ;; touch l2.txt]]"));
    int decided = 0;
    QVERIFY(QTest::qWaitFor([&] {
        // Codex may ask for both at once or one behind the other.
        for (const Approval &approval : fixture.pending()) {
            const bool isFirst = approval.input.contains("l1.txt");
            if (fixture.decide(approval, isFirst ? Verdict::Deny : Verdict::Approve).has_value())
                ++decided;
        }
        return isTerminal(fixture.state(run.id));
    }, 60000));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Completed));
    QCOMPARE(decided, 2);
    QVERIFY(!exists(session, QStringLiteral("l1.txt")));
    QVERIFY(exists(session, QStringLiteral("l2.txt")));
}

void TestCodexApprovals::gateAllAsksForEverything()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex([](Agent &agent) { agent.gate = Gate::All; }));
    const Run run = fixture.submit(session, QStringLiteral("[[exec ls]]"));
    const Approval approval = fixture.nextApproval();
    QCOMPARE(approval.toolName, QStringLiteral("commandExecution"));
    QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    const Run tool = fixture.submit(session, QStringLiteral("[[tool session_info {}]]"));
    const Approval asked = fixture.nextApproval();
    QCOMPARE(asked.toolName, QStringLiteral("signalbox.session_info"));
    QVERIFY(fixture.decide(asked, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(tool.id, RunState::Completed));
    QVERIFY(fixture.api.requests().last().lastToolResult.contains(session.workspace));
}

QTEST_GUILESS_MAIN(TestCodexApprovals)
#include "tst_codexapprovals.moc"
