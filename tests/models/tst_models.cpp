// The item models under QAbstractItemModelTester while an engine in memory feeds them; a thousand random changes leave
// each equal to a model that was loaded afresh.
#include "models/agentlistmodel.h"
#include "models/approvallistmodel.h"
#include "models/queuemodel.h"
#include "models/sessionlistmodel.h"
#include "models/transcriptmodel.h"
#include "support/fakeengineclient.h"

#include <QAbstractItemModelTester>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>

using namespace engine;

namespace {

Session sessionOf(int number)
{
    Session session;
    session.id = SessionId{QStringLiteral("s-%1").arg(number)};
    session.agentId = AgentId{QStringLiteral("a-1")};
    session.agentName = QStringLiteral("Agent");
    session.title = QStringLiteral("Session %1").arg(number);
    session.createdAt = session.updatedAt = QDateTime::currentDateTimeUtc().addSecs(number);
    return session;
}

Run runOf(int number, RunState state)
{
    Run run;
    run.id = RunId{QStringLiteral("r-%1").arg(number)};
    run.sessionId = SessionId{QStringLiteral("s-%1").arg(number % 7)};
    run.sequence = number;
    run.state = state;
    run.attempt = 1;
    run.prompt = QStringLiteral("prompt %1").arg(number);
    run.createdAt = QDateTime::currentDateTimeUtc();
    return run;
}

Approval approvalOf(int number, ApprovalState state)
{
    Approval approval;
    approval.id = ApprovalId{QStringLiteral("p-%1").arg(number)};
    approval.runId = RunId{QStringLiteral("r-%1").arg(number)};
    approval.sessionId = SessionId{QStringLiteral("s-%1").arg(number % 7)};
    approval.title = QStringLiteral("Run: thing %1").arg(number);
    approval.toolName = QStringLiteral("Bash");
    approval.state = state;
    approval.digest = Digest{QString::number(number).rightJustified(64, u'0')};
    static const QDateTime base = QDateTime::currentDateTimeUtc();
    approval.requestedAt = base.addSecs(-number);
    approval.expiresAt = approval.requestedAt.addSecs(900 + number);
    return approval;
}

template <class Model> QStringList titles(const Model &model, int role)
{
    QStringList list;
    for (int row = 0; row < model.rowCount(); ++row)
        list.append(model.data(model.index(row, 0), role).toString());
    return list;
}

} // namespace

class TestModels final : public QObject
{
    Q_OBJECT

private slots:
    void sessionsMergeAndKeepTheirPlace();
    void b28_inboxHoldsThePendingOnes();
    void b31_queueKeepsTheOrder();
    void agentsByName();
    void transcriptIsAWindow();
    void liveTextGivesWayToItsBlock();
};

void TestModels::sessionsMergeAndKeepTheirPlace()
{
    FakeEngineClient client;
    for (int i = 0; i < 20; ++i)
        client.putSession(sessionOf(i));
    models::SessionListModel model(client);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.load();
    QTRY_COMPARE(model.sessionCount(), 20);
    QPersistentModelIndex kept = model.indexOf(SessionId{QStringLiteral("s-3")});
    QVERIFY(kept.isValid());
    QRandomGenerator random(7);
    for (int step = 0; step < 1000; ++step) {
        Session session = sessionOf(int(random.bounded(25)));
        const int kind = int(random.bounded(4));
        session.activeRun = kind < 2 ? RunId{QStringLiteral("r-1")} : RunId{};
        session.activeState = kind == 0 ? RunState::Paused : RunState::Running;
        session.queued = kind == 2 ? 1 : 0;
        client.putSession(session);
    }
    QTRY_COMPARE(model.sessionCount(), int(client.sessionRows.size()));
    QVERIFY(kept.isValid());
    QCOMPARE(model.idAt(kept), SessionId{QStringLiteral("s-3")});
    client.removeSession(SessionId{QStringLiteral("s-4")});
    QTRY_VERIFY(!model.indexOf(SessionId{QStringLiteral("s-4")}).isValid());
    model.setFilter(QStringLiteral("Session 1"));
    QTRY_VERIFY(model.sessionCount() < 15 && model.sessionCount() > 0);
}

void TestModels::b28_inboxHoldsThePendingOnes()
{
    FakeEngineClient client;
    models::ApprovalListModel model(client, models::ApprovalListModel::Mode::Pending);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.load();
    QTRY_VERIFY(model.isLoaded());
    QRandomGenerator random(11);
    for (int step = 0; step < 1000; ++step)
        client.putApproval(approvalOf(int(random.bounded(40)), random.bounded(2) ? ApprovalState::Pending : ApprovalState::Denied));
    int pending = 0;
    for (const Approval &approval : client.approvalRows)
        pending += approval.state == ApprovalState::Pending ? 1 : 0;
    QTRY_COMPARE(model.rowCount(), pending);
    for (int row = 1; row < model.rowCount(); ++row)
        QVERIFY(model.at(row - 1)->expiresAt <= model.at(row)->expiresAt);
    models::ApprovalListModel fresh(client, models::ApprovalListModel::Mode::Pending);
    fresh.load();
    QTRY_COMPARE(fresh.rowCount(), pending);
    QCOMPARE(titles(model, models::ApprovalListModel::IdRole), titles(fresh, models::ApprovalListModel::IdRole));
}

void TestModels::b31_queueKeepsTheOrder()
{
    FakeEngineClient client;
    for (int i = 0; i < 7; ++i)
        client.putSession(sessionOf(i));
    models::QueueModel model(client);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.load();
    QRandomGenerator random(13);
    for (int number = 0; number < 60; ++number)
        client.putRun(runOf(number, RunState::Pending));
    for (int step = 0; step < 300; ++step) {
        const int number = int(random.bounded(60));
        client.putRun(runOf(number, random.bounded(3) ? RunState::Pending : RunState::Completed));
    }
    int waiting = 0;
    for (const Run &run : client.runRows)
        waiting += run.state == RunState::Pending ? 1 : 0;
    QTRY_COMPARE(model.stats().waiting, waiting);
    QHash<SessionId, qint64> last;
    for (int row = 0; row < model.rowCount(); ++row) {
        const Run *run = model.at(row);
        QVERIFY(run->sequence > last.value(run->sessionId, -1));
        last.insert(run->sessionId, run->sequence);
    }
}

void TestModels::agentsByName()
{
    FakeEngineClient client;
    models::AgentListModel model(client);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const char *name : {"zeta", "Alpha", "beta"}) {
        Agent agent;
        agent.id = newAgentId();
        agent.name = QString::fromLatin1(name);
        agent.archived = agent.name == u"beta";
        client.putAgent(agent);
    }
    model.load();
    QTRY_COMPARE(model.rowCount(), 2);
    QCOMPARE(model.at(0)->name, QStringLiteral("Alpha"));
    model.setShowArchived(true);
    QTRY_COMPARE(model.rowCount(), 3);
    QCOMPARE(model.at(1)->name, QStringLiteral("beta"));
}

void TestModels::transcriptIsAWindow()
{
    FakeEngineClient client;
    const Session session = sessionOf(1);
    client.putSession(session);
    QList<Block> blocks;
    for (int i = 0; i < 50000; ++i) {
        Block block;
        block.sessionId = session.id;
        block.position = i;
        block.kind = BlockKind::Answer;
        block.key = QStringLiteral("k%1").arg(i);
        block.text = QString::number(i);
        blocks.append(block);
    }
    client.blockRows.insert(session.id.value, blocks);
    models::TranscriptModel model(client);
    model.open(session.id, blocks.size());
    QTRY_VERIFY(model.isLoaded());
    QTRY_COMPARE(model.total(), 50000);
    for (qint64 position = 0; position < 50000; position += 317) {
        QTRY_VERIFY(model.blockAt(position) != nullptr);
        QCOMPARE(model.blockAt(position)->text, QString::number(position));
        QVERIFY(model.cachedPages() <= models::TranscriptModel::maxPages);
    }
    QSignalSpy appended(&model, &models::TranscriptModel::appended);
    Block next = blocks.last();
    next.position = 50000;
    next.key = QStringLiteral("new");
    next.text = QStringLiteral("new");
    client.putBlocks({next});
    QTRY_COMPARE(model.total(), 50001);
    QVERIFY(!appended.isEmpty());
}

void TestModels::liveTextGivesWayToItsBlock()
{
    FakeEngineClient client;
    const Session session = sessionOf(1);
    client.putSession(session);
    models::TranscriptModel model(client);
    model.open(session.id, 0);
    QTRY_VERIFY(model.isLoaded());
    FeedBatch batch;
    batch.live = {LiveText{session.id, RunId{QStringLiteral("r-1")}, QStringLiteral("m:0"), BlockKind::Answer, 0, QStringLiteral("one "), false},
                  LiveText{session.id, RunId{QStringLiteral("r-1")}, QStringLiteral("m:0"), BlockKind::Answer, 4, QStringLiteral("two"), false}};
    client.push(batch);
    QTRY_COMPARE(model.live().size(), 1);
    QCOMPARE(model.live().first().text, QStringLiteral("one two"));
    QCOMPARE(model.rows(), 1);
    Block block;
    block.sessionId = session.id;
    block.position = 0;
    block.kind = BlockKind::Answer;
    block.key = QStringLiteral("m:0");
    block.text = QStringLiteral("one two three");
    client.putBlocks({block});
    QTRY_COMPARE(model.total(), 1);
    QVERIFY(model.live().isEmpty());
    FeedBatch dropped;
    dropped.live = {LiveText{session.id, {}, QStringLiteral("n:0"), BlockKind::Answer, 0, QStringLiteral("half"), false}};
    client.push(dropped);
    QTRY_COMPARE(model.live().size(), 1);
    dropped.live.first().dropped = true;
    client.push(dropped);
    QTRY_VERIFY(model.live().isEmpty());
}

QTEST_GUILESS_MAIN(TestModels)
#include "tst_models.moc"
