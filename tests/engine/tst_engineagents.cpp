// Agents, replay and warmth.
#include "tests/engine/stubfixture.h"

#include "engine/agentcheck.h"

using namespace engine;

class TestEngineAgents final : public QObject
{
    Q_OBJECT

private slots:
    void invalidAgentsAreNamed_data();
    void invalidAgentsAreNamed();
    void idleProcessEndsAfterItsWarmTime();
    void zeroWarmTimeEndsAtOnce();
    void zeroWarmTimeUnderLoad();
    void prewarmedSessionIsWarm();
    void demoNeedsNothing();
};

void TestEngineAgents::invalidAgentsAreNamed_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("said");
    QTest::newRow("no name") << "name" << "name";
    QTest::newRow("mode") << "mode" << "yolo";
    QTest::newRow("key itself") << "key" << "sk-ant-123";
    QTest::newRow("key in environment") << "environment" << "ANTHROPIC_API_KEY";
    QTest::newRow("time-out") << "timeout" << "5 to";
    QTest::newRow("workspace") << "workspace" << "/nowhere/at/all";
    QTest::newRow("attempts") << "attempts" << "1 to 10";
}

void TestEngineAgents::invalidAgentsAreNamed()
{
    QFETCH(QString, field);
    QFETCH(QString, said);
    Agent agent;
    agent.name = QStringLiteral("x");
    QVERIFY(checkAgent(agent).has_value());
    if (field == u"name")
        agent.name = QStringLiteral("  ");
    if (field == u"mode")
        agent.permissionMode = QStringLiteral("yolo");
    if (field == u"key")
        agent.keyVariable = QStringLiteral("sk-ant-123");
    if (field == u"environment")
        agent.environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("secret"));
    if (field == u"timeout")
        agent.approvalTimeoutSeconds = 1;
    if (field == u"workspace")
        agent.workspace = QStringLiteral("/nowhere/at/all");
    if (field == u"attempts")
        agent.maxAttempts = 0;
    const Result<void> checked = checkAgent(agent);
    QVERIFY(!checked.has_value());
    QCOMPARE(toString(checked.error().code), toString(ErrorCode::Invalid));
    QVERIFY2(checked.error().message.contains(said), qPrintable(checked.error().message));
}

void TestEngineAgents::idleProcessEndsAfterItsWarmTime()
{
    StubFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("text one"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QTRY_VERIFY(fixture.get(fixture.client->session(session.id))->warm);
    fixture.time->advance(299 * 1000);
    QTest::qWait(100);
    QCOMPARE(fixture.stubPids().size(), 1);
    fixture.time->advance(2 * 1000);
    QVERIFY(QTest::qWaitFor([&] { return fixture.stubPids().isEmpty() && fixture.workerPids().isEmpty(); }, 10000));
    QVERIFY(QTest::qWaitFor([&] { return !fixture.get(fixture.client->session(session.id))->warm; }, 5000));
    const Run next = fixture.submit(session, QStringLiteral("text two"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
}

void TestEngineAgents::zeroWarmTimeEndsAtOnce()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub([](Agent &agent) { agent.warmSeconds = 0; }));
    for (int i = 0; i < 2; ++i) {
        const Run run = fixture.submit(session, QStringLiteral("text one"));
        QVERIFY(fixture.settles(run.id, RunState::Completed));
        QVERIFY(QTest::qWaitFor([&] { return fixture.stubPids().isEmpty(); }, 10000));
    }
}

void TestEngineAgents::zeroWarmTimeUnderLoad()
{
    // Each turn's end races with the next turn's start.
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub([](Agent &agent) { agent.warmSeconds = 0; }));
    QList<RunId> ids;
    for (int i = 0; i < 15; ++i)
        ids.append(fixture.submit(session, QStringLiteral("text %1").arg(i)).id);
    QVERIFY(fixture.settles(ids.last(), RunState::Completed, 60000));
    for (const RunId &id : std::as_const(ids))
        QCOMPARE(toString(fixture.state(id)), toString(RunState::Completed));
    QVERIFY(QTest::qWaitFor([&] { return fixture.stubPids().isEmpty() && fixture.workerPids().isEmpty(); }, 10000));
}

void TestEngineAgents::prewarmedSessionIsWarm()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.stub());
    fixture.client->prewarm(session.id);
    QVERIFY(QTest::qWaitFor([&] { return fixture.get(fixture.client->session(session.id))->warm; }, 10000));
    const QList<qint64> pids = fixture.stubPids();
    const Run run = fixture.submit(session, QStringLiteral("text one"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.stubPids(), pids);
}

void TestEngineAgents::demoNeedsNothing()
{
    StubFixture fixture;
    EngineOptions options = fixture.options();
    options.demo = true;
    options.environment = {{QStringLiteral("PATH"), QStringLiteral("/nowhere")}, {QStringLiteral("HOME"), fixture.folder.path()}};
    fixture.client = std::make_unique<LocalEngineClient>(options);
    QSignalSpy started(fixture.client.get(), &EngineClient::started);
    fixture.client->start();
    QVERIFY(!started.isEmpty() || started.wait(10000));
    QCOMPARE(fixture.get(fixture.client->sessions({})).value().size(), 4);
    // One pauses for a permission and one for a question; one fails; one is done.
    QVERIFY(QTest::qWaitFor([&] { return fixture.pending().size() == 2; }, 40000));
    int completed = 0;
    int failed = 0;
    QVERIFY(QTest::qWaitFor([&] {
        completed = failed = 0;
        for (const Session &session : fixture.get(fixture.client->sessions({})).value_or(QList<Session>{})) {
            const QList<Run> runs = fixture.get(fixture.client->runs(session.id, 10)).value_or(QList<Run>{});
            completed += runs.value(0).state == RunState::Completed ? 1 : 0;
            failed += runs.value(0).state == RunState::Error ? 1 : 0;
        }
        return completed == 1 && failed == 1;
    }, 40000));
}

QTEST_GUILESS_MAIN(TestEngineAgents)
#include "tst_engineagents.moc"
