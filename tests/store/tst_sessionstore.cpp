#include "teststore.h"

#include <QElapsedTimer>
#include <sqlite3.h>

using namespace engine;

namespace {

QStringList titles(const Result<QList<Session>> &sessions)
{
    QStringList list;
    for (const Session &session : sessions.value())
        list += session.title;
    return list;
}

SessionQuery search(const QString &text)
{
    SessionQuery query;
    query.text = text;
    return query;
}

} // namespace

class TestSessionStore : public QObject
{
    Q_OBJECT

private slots:
    void sessionsReadBack();
    void settersChangeTheirFieldOnly();
    void unknownSessionsAreNotFound();
    void derivedFieldsFollowRunsApprovalsAndBlocks();
    void listOrder();
    void searchFindsTitleAndAgent();
    void b55_removeIsRefusedWhileRunsAreActiveOrWait();
    void b55_aRemovedIdIsNeverUsedAgain();
    void channelState();
    void tenThousandSessionsListFast();
};

void TestSessionStore::sessionsReadBack()
{
    TestStore store;
    Session session;
    session.id = newSessionId();
    session.agentId = store.agent;
    session.title = QStringLiteral("T");
    session.workspace = QStringLiteral("/w");
    session.native = {QStringLiteral("n"), QStringLiteral("/t"), 5, QStringLiteral("h")};
    session.generation = 3;
    session.model = QStringLiteral("m");
    session.permissionMode = QStringLiteral("plan");
    session.createdAt = store.at(1);
    session.updatedAt = store.at(2);
    VERIFY_OK(store.sessions->insert(session));
    session.agentName = QStringLiteral("Agent One");
    QVERIFY(store.sessions->get(session.id).value() == session);
    VERIFY_FAILS(store.sessions->insert(session), ErrorCode::Conflict);
    session.id = newSessionId();
    session.agentId = {QStringLiteral("a-none")};
    VERIFY_FAILS(store.sessions->insert(session), ErrorCode::Conflict);
}

void TestSessionStore::settersChangeTheirFieldOnly()
{
    TestStore store;
    const SessionId id = store.addSession();
    Session expected = store.sessions->get(id).value();
    const NativeIdentity native{QStringLiteral("n"), QStringLiteral("/t"), 9, QStringLiteral("hash")};
    VERIFY_OK(store.sessions->setTitle(id, QStringLiteral("new")));
    VERIFY_OK(store.sessions->setModel(id, QStringLiteral("m")));
    VERIFY_OK(store.sessions->setMode(id, QStringLiteral("plan")));
    VERIFY_OK(store.sessions->setNative(id, native));
    VERIFY_OK(store.sessions->setWorkspace(id, QStringLiteral("/w")));
    VERIFY_OK(store.sessions->setGeneration(id, 4));
    VERIFY_OK(store.sessions->touch(id, store.at(77)));
    expected.title = QStringLiteral("new");
    expected.model = QStringLiteral("m");
    expected.permissionMode = QStringLiteral("plan");
    expected.native = native;
    expected.workspace = QStringLiteral("/w");
    expected.generation = 4;
    expected.updatedAt = store.at(77);
    QVERIFY(store.sessions->get(id).value() == expected);
}

void TestSessionStore::unknownSessionsAreNotFound()
{
    TestStore store;
    const SessionId id{QStringLiteral("s-none")};
    VERIFY_FAILS(store.sessions->get(id), ErrorCode::NotFound);
    VERIFY_FAILS(store.sessions->setTitle(id, {}), ErrorCode::NotFound);
    VERIFY_FAILS(store.sessions->touch(id, store.at(0)), ErrorCode::NotFound);
    VERIFY_FAILS(store.sessions->remove(id, store.at(0)), ErrorCode::NotFound);
    VERIFY_FAILS(store.sessions->channelState(id), ErrorCode::NotFound);
    VERIFY_FAILS(store.sessions->setChannelState(id, {}), ErrorCode::NotFound);
}

void TestSessionStore::derivedFieldsFollowRunsApprovalsAndBlocks()
{
    TestStore store;
    const SessionId id = store.addSession();
    const auto state = [&] {
        const Session s = store.sessions->get(id).value();
        return QStringLiteral("%1 %2 queued=%3 pending=%4 last=%5 blocks=%6")
            .arg(s.activeRun.isEmpty() ? QStringLiteral("idle") : QStringLiteral("active"), toString(s.activeState))
            .arg(s.queued)
            .arg(s.pendingApprovals)
            .arg(toString(s.lastOutcome))
            .arg(s.blocks);
    };
    QCOMPARE(state(), QStringLiteral("idle COMPLETED queued=0 pending=0 last=COMPLETED blocks=0"));
    const RunId first = store.addRun(id, 500), second = store.addRun(id, 600);
    QCOMPARE(state(), QStringLiteral("idle COMPLETED queued=2 pending=0 last=COMPLETED blocks=0"));
    QCOMPARE(store.sessions->get(id)->updatedAt, store.at(600));
    const Run run = **store.runs->claimNext(QStringLiteral("e"), store.at(700), 9);
    QCOMPARE(run.id, first);
    QCOMPARE(state(), QStringLiteral("active RUNNING queued=1 pending=0 last=COMPLETED blocks=0"));
    QCOMPARE(store.sessions->get(id)->activeRun, first);
    Approval approval = store.makeApproval(run, QStringLiteral("d"));
    VERIFY_OK(store.approvals->insert(approval, {}));
    VERIFY_OK(store.runs->move(first, 1, RunState::Running, RunState::Paused));
    QCOMPARE(state(), QStringLiteral("active PAUSED queued=1 pending=1 last=COMPLETED blocks=0"));
    VERIFY_OK(store.approvals->cancelPendingOfRun(first, store.at(800)));
    VERIFY_OK(store.runs->move(first, 1, RunState::Paused, RunState::Error));
    QCOMPARE(state(), QStringLiteral("idle COMPLETED queued=1 pending=0 last=ERROR blocks=0"));
    VERIFY_OK(store.runs->move(second, 0, RunState::Pending, RunState::Cancelled));
    EventBatch batch;
    batch.sessionId = id;
    batch.newBlocks = {Block(), Block()};
    VERIFY_OK(store.events->append(batch));
    QCOMPARE(state(), QStringLiteral("idle COMPLETED queued=0 pending=0 last=CANCELLED blocks=2"));
}

void TestSessionStore::listOrder()
{
    TestStore store;
    QHash<QString, SessionId> ids;
    for (const char *title : {"idle old", "idle new", "queued", "running", "paused"})
        ids.insert(QString::fromLatin1(title), store.addSession(QString::fromLatin1(title)));
    const Run paused = store.addRunning(ids[QStringLiteral("paused")]);
    VERIFY_OK(store.runs->move(paused.id, 1, RunState::Running, RunState::Paused));
    store.addRunning(ids[QStringLiteral("running")]);
    store.addRun(ids[QStringLiteral("queued")]);
    for (const char *title : {"paused", "running", "queued", "idle old"})
        VERIFY_OK(store.sessions->touch(ids[QString::fromLatin1(title)], store.at(100)));
    VERIFY_OK(store.sessions->touch(ids[QStringLiteral("idle new")], store.at(200)));
    QCOMPARE(titles(store.sessions->list({})).join(u','), QStringLiteral("paused,running,queued,idle new,idle old"));
    SessionQuery page;
    page.limit = 2;
    page.offset = 1;
    QCOMPARE(titles(store.sessions->list(page)).join(u','), QStringLiteral("running,queued"));
}

void TestSessionStore::searchFindsTitleAndAgent()
{
    TestStore store;
    store.addSession(QString::fromUtf8("Große ÄNDERUNG"));
    const SessionId second = store.addSession(QStringLiteral("100% sure_"));
    QCOMPARE(titles(store.sessions->list(search(QString::fromUtf8("änder")))).size(), 1);
    QCOMPARE(titles(store.sessions->list(search(QStringLiteral("0% S")))), QStringList{QStringLiteral("100% sure_")});
    QCOMPARE(titles(store.sessions->list(search(QStringLiteral("agent one")))).size(), 2);
    QCOMPARE(titles(store.sessions->list(search(QStringLiteral("%")))).size(), 1);
    VERIFY_OK(store.sessions->setTitle(second, QStringLiteral("other")));
    QCOMPARE(titles(store.sessions->list(search(QStringLiteral("sure")))).size(), 0);
    SessionQuery ofAgent;
    ofAgent.agentId = {QStringLiteral("a-none")};
    QCOMPARE(store.sessions->list(ofAgent)->size(), 0);
    ofAgent.agentId = store.agent;
    QCOMPARE(store.sessions->list(ofAgent)->size(), 2);
}

void TestSessionStore::b55_removeIsRefusedWhileRunsAreActiveOrWait()
{
    TestStore store;
    const SessionId id = store.addSession();
    const RunId run = store.addRun(id);
    VERIFY_FAILS(store.sessions->remove(id, store.at(0)), ErrorCode::Conflict);
    VERIFY_OK(store.runs->claimNext(QStringLiteral("e"), store.at(0), 1));
    const auto refused = store.sessions->remove(id, store.at(0));
    VERIFY_FAILS(refused, ErrorCode::Conflict);
    QVERIFY(refused.error().message.contains(run.value));
    VERIFY_OK(store.runs->move(run, 1, RunState::Running, RunState::Paused));
    VERIFY_FAILS(store.sessions->remove(id, store.at(0)), ErrorCode::Conflict);
    VERIFY_OK(store.runs->move(run, 1, RunState::Paused, RunState::Cancelled));
    VERIFY_OK(store.sessions->remove(id, store.at(0)));
}

void TestSessionStore::b55_aRemovedIdIsNeverUsedAgain()
{
    TestStore store;
    const SessionId id = store.addSession(), kept = store.addSession();
    const Session session = store.sessions->get(id).value();
    for (const SessionId &each : {id, kept}) {
        const Run run = store.addRunning(each);
        VERIFY_OK(store.approvals->insert(store.makeApproval(run, QStringLiteral("d")), {}));
        EventBatch batch;
        batch.sessionId = each;
        batch.raw = {RawLine()};
        batch.newBlocks = {Block()};
        RunEvent event;
        event.runId = run.id;
        batch.events = {event};
        batch.channel = ChannelState{1, 1, 1, 1, 1};
        VERIFY_OK(store.events->append(batch));
        VERIFY_OK(store.approvals->cancelPendingOfRun(run.id, store.at(1)));
        VERIFY_OK(store.runs->move(run.id, 1, RunState::Running, RunState::Completed));
    }
    VERIFY_OK(store.sessions->remove(id, store.at(1)));
    VERIFY_FAILS(store.sessions->get(id), ErrorCode::NotFound);
    VERIFY_FAILS(store.events->blocks(id, 0, 1), ErrorCode::NotFound);
    VERIFY_FAILS(store.sessions->insert(session), ErrorCode::Conflict);
    sqlite3 *other = nullptr;
    QCOMPARE(sqlite3_open(store.path().toUtf8().constData(), &other), SQLITE_OK);
    for (const char *table : {"session", "run", "approval", "block", "raw_line", "run_event", "session_channel"}) {
        sqlite3_stmt *count = nullptr;
        const QByteArray sql = QByteArray("SELECT count(*) FROM ") + table;
        QCOMPARE(sqlite3_prepare_v2(other, sql.constData(), -1, &count, nullptr), SQLITE_OK);
        QCOMPARE(sqlite3_step(count), SQLITE_ROW);
        QVERIFY2(sqlite3_column_int(count, 0) == 1, table);
        sqlite3_finalize(count);
    }
    sqlite3_close(other);
}

void TestSessionStore::channelState()
{
    TestStore store;
    const SessionId id = store.addSession();
    QCOMPARE(store.sessions->channelState(id).value(), std::optional<ChannelState>());
    const ChannelState state{7, 2, 3, 1ULL << 50, 12};
    VERIFY_OK(store.sessions->setChannelState(id, state));
    QCOMPARE(store.sessions->channelState(id).value(), std::optional<ChannelState>(state));
    VERIFY_OK(store.sessions->setChannelState(id, {8, 2, 3, 5, 6}));
    store.reopen();
    QCOMPARE(store.sessions->channelState(id).value(), std::optional<ChannelState>({8, 2, 3, 5, 6}));
}

void TestSessionStore::tenThousandSessionsListFast()
{
    TestStore store;
    {
        auto transaction = Transaction::begin(*store.database);
        VERIFY_OK(transaction);
        for (int i = 0; i < 10'000; ++i) {
            const SessionId id = store.addSession(QStringLiteral("session %1").arg(i));
            if (i % 10 == 0)
                store.addRun(id);
        }
        VERIFY_OK(transaction->commit());
    }
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(store.sessions->list({})->size(), 500);
    const qint64 list = timer.restart();
    QCOMPARE(store.sessions->list(search(QStringLiteral("session 99")))->size(), 111);
    const qint64 found = timer.elapsed();
    qInfo("list of 500 of 10,000: %lld ms, search: %lld ms", list, found);
    QVERIFY(list < 500);
    QVERIFY(found < 500);
}

QTEST_GUILESS_MAIN(TestSessionStore)
#include "tst_sessionstore.moc"
