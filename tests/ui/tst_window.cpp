// Approvals as a person meets them: the real window, mouse and keyboard, over the real engine.
#include "tests/ui/windowfixture.h"
#include "ui/approvals/approvalspage.h"

#include <QTableView>

using namespace engine;

class TestWindow final : public QObject
{
    Q_OBJECT

private slots:
    void b01_b28_requestIsInChatAndInbox();
    void b03_approveByMouse();
    void b04_denyWithANote();
    void b06_decidedElsewhere();
    void b09_b10_countdownAndExpiry();
    void b13_refusedStoreIsSaid();
    void b16_survivesARestart();
    void b18_lostExecutionIsLabelled();
    void b20_stopWithdraws();
    void b24_twoRequests();
    void b26_editShowsTheDifference();
    void b75_inboxByKeyboard();
    void b76_auditIsListed();
    void b81_oddRequestIsShownRaw();
    void continueWaitsWhenTheSwitchIsOff();

private:
    Session open(WindowFixture &fixture, const std::function<void(Agent &)> &change = {})
    {
        const Session session = fixture.engine.session(fixture.engine.stub(change));
        fixture.window->openSession(session.id);
        return session;
    }
};

void TestWindow::b01_b28_requestIsInChatAndInbox()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.shows(QStringLiteral("work 0")));
    QVERIFY(fixture.shows(QStringLiteral("Needs you")));
    QTRY_COMPARE(fixture.badge(), 1);
    QVERIFY(fixture.window->windowTitle().startsWith(QStringLiteral("(1)")));
    fixture.window->showPage(QStringLiteral("approvals"));
    QTRY_COMPARE(fixture.window->findChild<ui::ApprovalsPage *>()->pendingRows(), 1);
    const Approval approval = fixture.engine.pending().value(0);
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.shows(QStringLiteral("work 0")));
    QTRY_VERIFY(fixture.engine.approval(approval.id).seenAt.isValid());
    QCOMPARE(fixture.engine.approval(approval.id).seenBy, QStringLiteral("rita"));
    QVERIFY(fixture.engine.get(fixture.engine.client->cancelRun(approval.runId, QStringLiteral("otto"))).has_value());
    QTRY_COMPARE(fixture.badge(), 0);
    QTRY_COMPARE(fixture.window->findChild<ui::ApprovalsPage *>()->pendingRows(), 0);
}

void TestWindow::b03_approveByMouse()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Session session = open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("allow")});
    QTRY_VERIFY(!fixture.card());
    QTRY_VERIFY(fixture.engine.transcript(session.id).contains(QStringLiteral("answer:done")));
    QCOMPARE(fixture.engine.get(fixture.engine.client->audit(1))->first().who, QStringLiteral("rita"));
}

void TestWindow::b04_denyWithANote()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Session session = open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    fixture.card()->focusNote();
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("use the copy"));
    QVERIFY(fixture.press(QStringLiteral("Deny")));
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("deny")});
    QTRY_VERIFY(fixture.engine.transcript(session.id).contains(QStringLiteral("tool(Bash,denied)")));
    const QList<Block> blocks = fixture.engine.blocks(session.id);
    QVERIFY(std::any_of(blocks.begin(), blocks.end(), [](const Block &block) { return block.output.contains(QStringLiteral("use the copy")); }));
}

void TestWindow::b06_decidedElsewhere()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    fixture.window->showPage(QStringLiteral("approvals"));
    const Approval approval = fixture.engine.pendingOnce(1).value(0);
    fixture.window->openApproval(approval.id);
    QTRY_VERIFY(fixture.card() && fixture.card()->approval().id == approval.id);
    Decision decision{approval.id, approval.digest, Verdict::Deny, {}, {}, QStringLiteral("otto"), {}, true};
    QVERIFY(fixture.engine.get(fixture.engine.client->resolve(decision)).has_value());
    // The card tells who was faster and offers no second decision.
    QVERIFY(fixture.shows(QStringLiteral("otto")));
    QTRY_VERIFY(!fixture.button(QStringLiteral("Approve")) || !fixture.button(QStringLiteral("Approve"))->isEnabled());
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("deny")});
}

void TestWindow::b09_b10_countdownAndExpiry()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture, [](Agent &agent) { agent.approvalTimeoutSeconds = 5; });
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.shows(QStringLiteral("left")));
    QVERIFY(fixture.press(QStringLiteral("+15 min")));
    const Approval approval = fixture.engine.pending().value(0);
    QTRY_VERIFY(fixture.engine.approval(approval.id).expiresAt > approval.requestedAt.addSecs(600));

    WindowFixture other;
    QVERIFY2(other.start(), qPrintable(other.engine.failure.message));
    open(other, [](Agent &agent) { agent.approvalTimeoutSeconds = 5; });
    QVERIFY(other.type(QStringLiteral("ask 1")));
    QVERIFY(other.showsCard());
    const Approval late = other.engine.pending().value(0);
    QTRY_VERIFY_WITH_TIMEOUT(other.engine.approval(late.id).state == ApprovalState::Expired, 10000);
    QTRY_COMPARE(other.engine.decisionsRead(), QStringList{QStringLiteral("deny")});
    QTRY_COMPARE(other.badge(), 0);
    other.window->openApproval(late.id);
    QVERIFY(other.shows(QStringLiteral("Timed out")));
}

void TestWindow::b13_refusedStoreIsSaid()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    const Approval approval = fixture.engine.pendingOnce(1).value(0);
    QTRY_VERIFY(fixture.engine.approval(approval.id).seenAt.isValid());
    fixture.engine.breakStore(QStringLiteral("approval_update"));
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QVERIFY(fixture.shows(QStringLiteral("nothing was sent"), 15000));
    QVERIFY(fixture.engine.decisionsRead().isEmpty());
    fixture.engine.mendStore();
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("allow")});
}

void TestWindow::b16_survivesARestart()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Session session = open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    const Approval before = fixture.engine.pendingOnce(1).value(0);
    QTest::keyClicks(fixture.composer(), QStringLiteral("a draft"));
    QVERIFY(fixture.restart());
    // The same session is open again, its card and its draft are there.
    QVERIFY(fixture.showsCard());
    QTRY_COMPARE(fixture.card()->approval().id, before.id);
    QTRY_VERIFY(fixture.composer() && fixture.composer()->toPlainText() == u"a draft");
    fixture.window->openApproval(before.id); // there is room for the whole card: what was not seen can't be approved
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("allow")});
    QTRY_VERIFY(fixture.engine.transcript(session.id).contains(QStringLiteral("answer:done")));
}

void TestWindow::b18_lostExecutionIsLabelled()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    ::kill(pid_t(fixture.engine.stubPids().value(0)), SIGKILL);
    QTRY_VERIFY(fixture.engine.pending().value(0).nativeLost);
    fixture.window->openApproval(fixture.engine.pending().value(0).id);
    QVERIFY(QTest::qWaitFor([&] {
        return WindowFixture::text(fixture.window.get()).contains(QStringLiteral("native execution lost"), Qt::CaseInsensitive);
    }, 10000));
}

void TestWindow::b20_stopWithdraws()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    const Approval approval = fixture.engine.pendingOnce(1).value(0);
    QVERIFY(fixture.press(QStringLiteral("Stop")));
    QTRY_VERIFY(fixture.engine.state(approval.runId) == RunState::Cancelled);
    QTRY_VERIFY(!fixture.card());
    QTRY_COMPARE(fixture.badge(), 0);
    QCOMPARE(toString(fixture.engine.approval(approval.id).state), toString(ApprovalState::Cancelled));
}

void TestWindow::b24_twoRequests()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 2")));
    QVERIFY(fixture.showsCard());
    QTRY_COMPARE(fixture.badge(), 2);
    const ApprovalId first = fixture.card()->approval().id;
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_VERIFY(fixture.card() && fixture.card()->approval().id != first);
    QTRY_COMPARE(fixture.badge(), 1);
    QVERIFY(fixture.engine.decisionsRead().isEmpty());
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_COMPARE(fixture.engine.decisionsRead().size(), 2);
}

void TestWindow::b26_editShowsTheDifference()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    const Approval approval = fixture.engine.pendingOnce(1).value(0);
    fixture.window->openApproval(approval.id);
    QTRY_VERIFY(fixture.card() && fixture.card()->approval().id == approval.id);
    QVERIFY(fixture.press(QStringLiteral("Edit…")));
    QPlainTextEdit *editor = nullptr;
    QTRY_VERIFY([&] {
        for (QPlainTextEdit *edit : fixture.card()->findChildren<QPlainTextEdit *>()) {
            if (!edit->isReadOnly())
                editor = edit;
        }
        return editor != nullptr;
    }());
    editor->setPlainText(QStringLiteral("{\"command\": "));
    QTRY_VERIFY(!fixture.card()->mayApprove());
    editor->setPlainText(QStringLiteral("{\"command\": \"work elsewhere\", \"description\": \"stub\"}"));
    QTRY_VERIFY(fixture.card()->mayApprove());
    QVERIFY(fixture.shows(QStringLiteral("work elsewhere")));
    fixture.card()->approve();
    QTRY_VERIFY(!fixture.engine.approval(approval.id).editedDigest.isEmpty());
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("allow")});
    QTRY_VERIFY([&] {
        const QList<Block> blocks = fixture.engine.blocks(approval.sessionId);
        return std::any_of(blocks.begin(), blocks.end(), [](const Block &block) { return block.output.contains(QStringLiteral("work elsewhere")); });
    }());
}

void TestWindow::b75_inboxByKeyboard()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Agent agent = fixture.engine.stub();
    const Run first = fixture.engine.submit(fixture.engine.session(agent), QStringLiteral("ask 1"));
    const Run second = fixture.engine.submit(fixture.engine.session(agent), QStringLiteral("ask 1"));
    QCOMPARE(fixture.engine.pendingOnce(2).size(), 2);
    QTest::keyClick(fixture.window.get(), Qt::Key_3, Qt::ControlModifier);
    QCOMPARE(fixture.window->page(), QStringLiteral("approvals"));
    auto *page = fixture.window->findChild<ui::ApprovalsPage *>();
    QTRY_COMPARE(page->pendingRows(), 2);
    QTableView *table = nullptr;
    for (QTableView *view : page->findChildren<QTableView *>()) {
        if (view->isVisible())
            table = view;
    }
    QVERIFY(table);
    table->setFocus();
    if (!table->currentIndex().isValid())
        QTest::keyClick(table, Qt::Key_J);
    QTRY_VERIFY(fixture.card() && fixture.card()->isVisible());
    const ApprovalId shown = fixture.card()->approval().id;
    // State is text and icon, not colour alone.
    QVERIFY(fixture.shows(QStringLiteral("Needs you")));
    QTest::keyClick(table, Qt::Key_D);
    QTRY_VERIFY(fixture.engine.approval(shown).state == ApprovalState::Denied || QApplication::focusWidget() != table);
    if (fixture.engine.approval(shown).state == ApprovalState::Pending)
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QTRY_VERIFY(fixture.engine.approval(shown).state == ApprovalState::Denied);
    QTRY_COMPARE(page->pendingRows(), 1);
    const RunId denied = fixture.engine.approval(shown).runId;
    QTRY_VERIFY(fixture.engine.state(denied) == RunState::Completed);
    QVERIFY(denied == first.id || denied == second.id);
}

void TestWindow::b76_auditIsListed()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_COMPARE(fixture.engine.decisionsRead().size(), 1);
    QStringList acts;
    for (const AuditEntry &entry : fixture.engine.get(fixture.engine.client->audit(50)).value_or(QList<AuditEntry>{}))
        acts.append(entry.what);
    QVERIFY(acts.contains(QStringLiteral("approval.approve")));
    QVERIFY(acts.contains(QStringLiteral("run.continue")));
}

void TestWindow::b81_oddRequestIsShownRaw()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask-odd text-input")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.shows(QStringLiteral("rm -rf /")));
    QVERIFY(fixture.press(QStringLiteral("Deny")));
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("deny")});
}

void TestWindow::continueWaitsWhenTheSwitchIsOff()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    QVERIFY(fixture.engine
                .get(fixture.engine.client->setSetting(QStringLiteral("approvals.continue_after_resolving"), QStringLiteral("false"),
                                                       QStringLiteral("rita")))
                .has_value());
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QTRY_VERIFY(!fixture.card()->continuesAfterResolving());
    const Approval approval = fixture.engine.pendingOnce(1).value(0);
    QVERIFY(fixture.press(QStringLiteral("Approve")));
    QTRY_VERIFY(fixture.engine.approval(approval.id).state == ApprovalState::Approved);
    QTest::qWait(100);
    QVERIFY(fixture.engine.decisionsRead().isEmpty());
    QVERIFY(fixture.press(QStringLiteral("Continue")));
    QTRY_COMPARE(fixture.engine.decisionsRead(), QStringList{QStringLiteral("allow")});
}

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
