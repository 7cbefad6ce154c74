// Sessions, queue and bad starts as a person meets them.
#include "tests/ui/windowfixture.h"
#include "ui/queue/queuepage.h"
#include "ui/queue/trackview.h"
#include "ui/sessions/transcriptview.h"

using namespace engine;

class TestWindowQueue final : public QObject
{
    Q_OBJECT

private slots:
    void b31_b33_lineIsVisible();
    void b41_fullQueueGivesTheTextBack();
    void b42_cancelWaitingFromTheWindow();
    void b82_messageWhileAnApprovalWaitsIsQueued();
    void streamedAnswerIsShown();
    void failedStartIsShown();
    void everyPageHasAnEmptyState();

private:
    Session open(WindowFixture &fixture, const std::function<void(Agent &)> &change = {})
    {
        const Session session = fixture.engine.session(fixture.engine.stub(change));
        fixture.window->openSession(session.id);
        return session;
    }
};

void TestWindowQueue::b31_b33_lineIsVisible()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Session session = open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.type(QStringLiteral("text second")));
    QVERIFY(fixture.type(QStringLiteral("text third")));
    QTRY_COMPARE(fixture.engine.get(fixture.engine.client->runs(session.id, 10))->size(), 3);
    QVERIFY(fixture.shows(QStringLiteral("text second")));
    QVERIFY(fixture.shows(QStringLiteral("waiting for approval")));
    fixture.window->showPage(QStringLiteral("queue"));
    auto *page = fixture.window->findChild<ui::QueuePage *>();
    QTRY_COMPARE(page->tracks()->trackCount(), 1);
    const QList<Run> runs = fixture.engine.get(fixture.engine.client->runs(session.id, 10)).value_or(QList<Run>{});
    QTRY_VERIFY(!page->tracks()->blockRect(runs.at(2).id).isEmpty());
    const int first = page->tracks()->blockRect(runs.at(0).id).x();
    const int second = page->tracks()->blockRect(runs.at(1).id).x();
    const int third = page->tracks()->blockRect(runs.at(2).id).x();
    QVERIFY(first < second && second < third);
}

void TestWindowQueue::b41_fullQueueGivesTheTextBack()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture, [](Agent &agent) { agent.maxQueued = 1; });
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.type(QStringLiteral("text waits")));
    QTRY_COMPARE(fixture.engine.counts.queued, 1);
    QVERIFY(fixture.type(QStringLiteral("text too many")));
    QTRY_VERIFY(fixture.composer() && fixture.composer()->toPlainText() == u"text too many");
    QVERIFY(QTest::qWaitFor([&] { return WindowFixture::text(fixture.window.get()).contains(QStringLiteral("limit")) ||
                                         WindowFixture::text(fixture.window.get()).contains(QStringLiteral("full")); }, 5000));
}

void TestWindowQueue::b42_cancelWaitingFromTheWindow()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Session session = open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    QVERIFY(fixture.type(QStringLiteral("text never")));
    QTRY_COMPARE(fixture.engine.get(fixture.engine.client->runs(session.id, 10))->size(), 2);
    const QList<Run> runs = fixture.engine.get(fixture.engine.client->runs(session.id, 10)).value_or(QList<Run>{});
    fixture.window->showPage(QStringLiteral("queue"));
    auto *page = fixture.window->findChild<ui::QueuePage *>();
    QTRY_VERIFY(!page->tracks()->blockRect(runs.last().id).isEmpty());
    QTest::mouseClick(page->tracks()->viewport(), Qt::LeftButton, {}, page->tracks()->blockRect(runs.last().id).center());
    QTRY_COMPARE(page->tracks()->current(), runs.last().id);
    QVERIFY(fixture.press(QStringLiteral("Cancel run")));
    QTRY_VERIFY(fixture.engine.state(runs.last().id) == RunState::Cancelled);
}

void TestWindowQueue::b82_messageWhileAnApprovalWaitsIsQueued()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    const Session session = open(fixture);
    QVERIFY(fixture.type(QStringLiteral("ask 1")));
    QVERIFY(fixture.showsCard());
    // The button says so before it is pressed.
    QTest::keyClicks(fixture.composer(), QStringLiteral("text yes, approve it"));
    QVERIFY(QTest::qWaitFor([&] {
        for (const QAbstractButton *button : fixture.window->findChildren<QAbstractButton *>()) {
            if (button->isVisible() && button->text().contains(QStringLiteral("Queue (1")))
                return true;
        }
        return false;
    }, 5000));
    QTest::keyClick(fixture.composer(), Qt::Key_Return);
    QTRY_COMPARE(fixture.engine.get(fixture.engine.client->runs(session.id, 10))->size(), 2);
    QTest::qWait(100);
    QCOMPARE(fixture.engine.pending().size(), 1);
    QVERIFY(fixture.engine.decisionsRead().isEmpty());
    QVERIFY(fixture.press(QStringLiteral("Deny")));
    QTRY_VERIFY(fixture.engine.get(fixture.engine.client->runs(session.id, 10))->last().state == RunState::Completed);
}

void TestWindowQueue::streamedAnswerIsShown()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    open(fixture);
    QVERIFY(fixture.type(QStringLiteral("stream 30")));
    auto *view = fixture.window->findChild<ui::TranscriptView *>();
    QTRY_VERIFY(view->visibleText().contains(QStringLiteral("w0 w1 w2")));
    QTRY_VERIFY(view->visibleText().contains(QStringLiteral("w29")));
    QCOMPARE(view->visibleText().count(QStringLiteral("w29")), 1);
    QVERIFY(view->followsTail());
}

void TestWindowQueue::failedStartIsShown()
{
    StubFixture holder;
    QVERIFY2(holder.start(), qPrintable(holder.failure.message));
    LocalEngineClient second(holder.options());
    QSettings settings(holder.folder.filePath(QStringLiteral("other.ini")), QSettings::IniFormat);
    ui::MainWindow window(second, settings);
    window.resize(1366, 768);
    window.show();
    second.start();
    QVERIFY(QTest::qWaitFor([&] {
        return WindowFixture::text(&window).contains(QString::number(QCoreApplication::applicationPid()));
    }, 10000));
}

void TestWindowQueue::everyPageHasAnEmptyState()
{
    WindowFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.engine.failure.message));
    for (const char *page : {"sessions", "queue", "approvals", "agents", "sandboxes", "settings"}) {
        fixture.window->showPage(QString::fromLatin1(page));
        QCOMPARE(fixture.window->page(), QString::fromLatin1(page));
        QTest::qWait(20);
        QVERIFY2(WindowFixture::text(fixture.window.get()).size() > 40, page);
    }
}

QTEST_MAIN(TestWindowQueue)
#include "tst_windowqueue.moc"
