#include "teststore.h"

#include <sqlite3.h>

using namespace engine;

class TestSmallStores : public QObject
{
    Q_OBJECT

private slots:
    void agentsReadBack();
    void agentsAreListedByName();
    void anUnknownAgentIsNotFound();
    void settingsReadBack();
    void b76_auditIsNewestFirst();
    void b30_auditRowsCantBeChangedOrDeleted();
};

void TestSmallStores::agentsReadBack()
{
    TestStore store;
    Agent agent;
    agent.id = newAgentId();
    agent.name = QString::fromUtf8("Ünïcode");
    agent.harness = HarnessKind::Replay;
    agent.provider = QStringLiteral("docker");
    agent.program = QStringLiteral("/opt/claude");
    agent.model = QStringLiteral("m");
    agent.baseUrl = QStringLiteral("http://127.0.0.1:1");
    agent.keyVariable = QStringLiteral("KEY");
    agent.permissionMode = QStringLiteral("plan");
    agent.gate = Gate::All;
    agent.workspace = QStringLiteral("/w");
    agent.configFolder = QStringLiteral("/c");
    agent.instructions = QStringLiteral("say \"hi\"\n");
    agent.allowedTools = QStringList{QStringLiteral("Read"), QStringLiteral("Bash(git *)")};
    agent.disallowedTools = QStringList{QStringLiteral("Web")};
    agent.environment = {{QStringLiteral("A"), QStringLiteral("1")}, {QStringLiteral("B"), QString()}};
    agent.environment[QStringLiteral("B")] = QStringLiteral("");
    agent.approvalTimeoutSeconds = 5;
    agent.warmSeconds = 0;
    agent.maxTurns = 7;
    agent.maxAttempts = 2;
    agent.maxQueued = 3;
    agent.recording = QStringLiteral(":/demo/x.jsonl");
    agent.replaySpeed = 2.5;
    agent.archived = true;
    agent.createdAt = TestStore::at(1);
    agent.updatedAt = TestStore::at(2);
    VERIFY_OK(store.agents->insertOrUpdate(agent));
    store.reopen();
    QVERIFY(store.agents->get(agent.id).value() == agent);
    agent.archived = false;
    agent.updatedAt = TestStore::at(3);
    VERIFY_OK(store.agents->insertOrUpdate(agent));
    QVERIFY(store.agents->get(agent.id).value() == agent);
}

void TestSmallStores::agentsAreListedByName()
{
    TestStore store;
    for (const auto &[name, archived] :
         {std::pair("zeta", false), std::pair("Beta", false), std::pair("alpha", true)}) {
        Agent agent;
        agent.id = newAgentId();
        agent.name = QString::fromLatin1(name);
        agent.archived = archived;
        agent.createdAt = agent.updatedAt = TestStore::at(0);
        VERIFY_OK(store.agents->insertOrUpdate(agent));
    }
    const auto names = [&store](bool withArchived) {
        QStringList list;
        const QList<Agent> agents = store.agents->list(withArchived).value();
        for (const Agent &agent : agents)
            list += agent.name;
        return list.join(u',');
    };
    QCOMPARE(names(false), QStringLiteral("Agent One,Beta,zeta"));
    QCOMPARE(names(true), QStringLiteral("Agent One,alpha,Beta,zeta"));
}

void TestSmallStores::anUnknownAgentIsNotFound()
{
    TestStore store;
    VERIFY_FAILS(store.agents->get({QStringLiteral("a-none")}), ErrorCode::NotFound);
}

void TestSmallStores::settingsReadBack()
{
    TestStore store;
    QCOMPARE(store.settings->get(QStringLiteral("k")).value(), std::optional<QString>());
    VERIFY_OK(store.settings->set(QStringLiteral("k"), QString()));
    QCOMPARE(store.settings->get(QStringLiteral("k")).value(), std::optional<QString>(QStringLiteral("")));
    VERIFY_OK(store.settings->set(QStringLiteral("k"), QStringLiteral("2")));
    VERIFY_OK(store.settings->set(QStringLiteral("j"), QStringLiteral("1")));
    const QMap<QString, QString> all{{QStringLiteral("j"), QStringLiteral("1")},
                                     {QStringLiteral("k"), QStringLiteral("2")}};
    QCOMPARE(store.settings->all().value(), all);
}

void TestSmallStores::b76_auditIsNewestFirst()
{
    TestStore store;
    for (int i = 0; i < 3; ++i) {
        const AuditEntry entry{0,
                               TestStore::at(100 - i),
                               QStringLiteral("rita"),
                               QStringLiteral("approval.approve"),
                               QString::number(i),
                               QStringLiteral("ok"),
                               QString()};
        VERIFY_OK(store.audit->append(entry));
    }
    const QList<AuditEntry> entries = store.audit->list(2).value();
    QCOMPARE(entries.size(), 2);
    QCOMPARE(entries.at(0).subject, QStringLiteral("2"));
    QCOMPARE(entries.at(1).subject, QStringLiteral("1"));
    QVERIFY(entries.at(0).number > entries.at(1).number);
    QCOMPARE(entries.at(0).at, TestStore::at(98));
    QCOMPARE(entries.at(0).what, QStringLiteral("approval.approve"));
}

void TestSmallStores::b30_auditRowsCantBeChangedOrDeleted()
{
    TestStore store;
    VERIFY_OK(store.audit->append({0, TestStore::at(0), QStringLiteral("rita"), QStringLiteral("x"), {}, {}, {}}));
    sqlite3 *other = nullptr;
    QCOMPARE(sqlite3_open(store.path().toUtf8().constData(), &other), SQLITE_OK);
    for (const char *sql :
         {"UPDATE audit SET who = 'nobody'", "DELETE FROM audit", "DELETE FROM audit WHERE number = 1"}) {
        QCOMPARE(sqlite3_exec(other, sql, nullptr, nullptr, nullptr), SQLITE_CONSTRAINT);
        QVERIFY(QString::fromUtf8(sqlite3_errmsg(other)).contains(QLatin1String("audit rows are never")));
    }
    sqlite3_close(other);
    const QList<AuditEntry> entries = store.audit->list(10).value();
    QCOMPARE(entries.size(), 1);
    QCOMPARE(entries.first().who, QStringLiteral("rita"));
}

QTEST_GUILESS_MAIN(TestSmallStores)
#include "tst_smallstores.moc"
