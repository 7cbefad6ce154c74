#include "teststore.h"

#include "engine/store/statements.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <limits>
#include <sqlite3.h>

using namespace engine;

namespace {

// Another process's view of the file.
class OtherConnection final
{
public:
    explicit OtherConnection(const QString &path) { m_opened = sqlite3_open(path.toUtf8().constData(), &m_handle); }
    ~OtherConnection() { sqlite3_close(m_handle); }
    int exec(const QByteArray &sql)
    {
        return m_opened == SQLITE_OK ? sqlite3_exec(m_handle, sql.constData(), nullptr, nullptr, nullptr) : m_opened;
    }

private:
    sqlite3 *m_handle = nullptr;
    int m_opened = SQLITE_ERROR;
};

void writeFile(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

} // namespace

class TestDatabase : public QObject
{
    Q_OBJECT

private slots:
    void makesFolderAndSchema();
    void commitsAreDurableAndReferencesHold();
    void reopeningKeepsEverything();
    void everyStatementPrepares();
    void scriptsAreSplitAtTheirStatements();
    void aNewerSchemaIsRefused();
    void aDamagedFileIsRefused_data();
    void aDamagedFileIsRefused();
    void anotherProgramsDatabaseIsRefused();
    void aFileInPlaceOfTheFolderIsRefused();
    void aFolderInPlaceOfTheFileIsRefused();
    void readOnlyReadsAndRefusesWrites();
    void readOnlyWithoutAStoreIsRefused();
    void b13_anotherProgramsLockIsReportedAndRetryWorks();
    void aFailedReadIsNoNotFound();
    void aFullDiskKeepsWhatWas();
    void aFailureDoomsTheWholeTransaction();
    void transactionsRollBack();
    void innerTransactionsAreUndoneAlone();
    void statementsAreReentrant();
    void bindingsAreChecked();
    void valuesReadBackExactly();
    void checkpointRuns();
};

void TestDatabase::makesFolderAndSchema()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("a/b/signalbox.db"));
    const auto database = Database::open({path});
    VERIFY_OK(database);
    QVERIFY(QFileInfo::exists(path));
    QCOMPARE((*database)->path(), path);
    QCOMPARE((*database)->schemaVersion(), Database::newestSchemaVersion());
    QVERIFY(Database::newestSchemaVersion() >= 1);
    QVERIFY((*database)->kind().startsWith(QLatin1String("SQLite 3.")));
    QVERIFY(QFileInfo::exists(path + QStringLiteral("-wal")));
}

void TestDatabase::commitsAreDurableAndReferencesHold()
{
    TestStore store;
    QCOMPARE(store.pragma(QStringLiteral("journal_mode")).toString(), QStringLiteral("wal"));
    QCOMPARE(store.pragma(QStringLiteral("synchronous")).toInt(), 2); // FULL
    QCOMPARE(store.pragma(QStringLiteral("foreign_keys")).toInt(), 1);
    QCOMPARE(store.pragma(QStringLiteral("busy_timeout")).toInt(), 200);
    QCOMPARE(OpenOptions().busyTimeoutMs, 5000);
}

void TestDatabase::reopeningKeepsEverything()
{
    TestStore store;
    VERIFY_OK(store.settings->set(QStringLiteral("k"), QStringLiteral("v")));
    store.reopen();
    QCOMPARE(store.settings->get(QStringLiteral("k")).value(), std::optional<QString>(QStringLiteral("v")));
    QCOMPARE(store.database->schemaVersion(), Database::newestSchemaVersion());
}

void TestDatabase::everyStatementPrepares()
{
    TestStore store;
    const QRegularExpression placeholder(QStringLiteral(":[a-z_]+"));
    QVERIFY(statementNames().size() > 80);
    OtherConnection other(store.path());
    sqlite3 *handle = nullptr;
    QCOMPARE(sqlite3_open(store.path().toUtf8().constData(), &handle), SQLITE_OK);
    for (const QString &name : statementNames()) {
        const StatementText *text = findStatement(name);
        QVERIFY2(!text->purpose.isEmpty(), qPrintable(name));
        QVERIFY2(!text->sql.contains(placeholder), qPrintable(text->sql));
        QVERIFY2(!text->sql.contains(u';'), qPrintable(name));
        sqlite3_stmt *statement = nullptr;
        const int prepared = sqlite3_prepare_v2(handle, text->sql.toUtf8().constData(), -1, &statement, nullptr);
        QVERIFY2(prepared == SQLITE_OK, qPrintable(name + u": " + QString::fromUtf8(sqlite3_errmsg(handle))));
        QCOMPARE(size_t(sqlite3_bind_parameter_count(statement)), text->values.size());
        sqlite3_finalize(statement);
    }
    sqlite3_close(handle);
}

void TestDatabase::scriptsAreSplitAtTheirStatements()
{
    const QStringList parts = splitScript(QStringLiteral(
        "CREATE TABLE a (x TEXT DEFAULT ';');\n-- a; comment\nCREATE TRIGGER t BEFORE DELETE ON a BEGIN\n"
        "SELECT 1;\nSELECT 2;\nEND;\nINSERT INTO a VALUES ('x;y');\n"));
    QCOMPARE(parts.size(), 3);
    QVERIFY(parts.at(1).endsWith(QLatin1String("END;")));
}

void TestDatabase::aNewerSchemaIsRefused()
{
    TestStore store;
    const SessionId session = store.addSession();
    store.database.reset();
    QCOMPARE(OtherConnection(store.path()).exec("INSERT INTO schema_migration VALUES (4711, 0)"), SQLITE_OK);
    const auto refused = Database::open({store.path()});
    VERIFY_FAILS(refused, ErrorCode::StorageNewer);
    QVERIFY(refused.error().message.contains(QLatin1String("4711")));
    QVERIFY(refused.error().message.contains(QString::number(Database::newestSchemaVersion())));
    QVERIFY(refused.error().message.contains(store.path()));
    VERIFY_FAILS(Database::open({store.path(), true}), ErrorCode::StorageNewer);
    QCOMPARE(OtherConnection(store.path()).exec("DELETE FROM schema_migration WHERE version = 4711"), SQLITE_OK);
    store.reopen();
    VERIFY_OK(store.sessions->get(session));
}

void TestDatabase::aDamagedFileIsRefused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("text") << QByteArray(5000, 'x');
    QTest::newRow("header only") << QByteArray("SQLite format 3\0", 16) + QByteArray(4080, '\xff');
}

void TestDatabase::aDamagedFileIsRefused()
{
    QFETCH(QByteArray, bytes);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("signalbox.db"));
    writeFile(path, bytes);
    const auto refused = Database::open({path});
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY(refused.error().message.contains(path));
    QVERIFY(refused.error().message.contains(QLatin1String("move the file away")));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), bytes);
}

void TestDatabase::anotherProgramsDatabaseIsRefused()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("signalbox.db"));
    QCOMPARE(OtherConnection(path).exec("CREATE TABLE bookmarks (x); INSERT INTO bookmarks VALUES (1)"), SQLITE_OK);
    const auto refused = Database::open({path});
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY(refused.error().message.contains(QLatin1String("another program")));
    QCOMPARE(OtherConnection(path).exec("SELECT x FROM bookmarks"), SQLITE_OK);
    QCOMPARE(OtherConnection(path).exec("SELECT * FROM session"), SQLITE_ERROR);
}

void TestDatabase::aFileInPlaceOfTheFolderIsRefused()
{
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("file"));
    writeFile(file, "x");
    const auto refused = Database::open({file + QStringLiteral("/signalbox.db")});
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY(refused.error().message.contains(file));
    QVERIFY(refused.error().message.contains(QLatin1String("choose another data folder")));
}

void TestDatabase::aFolderInPlaceOfTheFileIsRefused()
{
    QTemporaryDir folder;
    const auto refused = Database::open({folder.path()});
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY(refused.error().message.contains(folder.path()));
}

void TestDatabase::readOnlyReadsAndRefusesWrites()
{
    TestStore store;
    const SessionId session = store.addSession();
    const auto reader = Database::open({store.path(), true});
    VERIFY_OK(reader);
    VERIFY_OK(SessionStore(**reader).get(session));
    const auto refused = SettingStore(**reader).set(QStringLiteral("k"), QStringLiteral("v"));
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    const SessionId later = store.addSession();
    VERIFY_OK(SessionStore(**reader).get(later));
}

void TestDatabase::readOnlyWithoutAStoreIsRefused()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("signalbox.db"));
    VERIFY_FAILS(Database::open({path, true}), ErrorCode::StorageUnavailable);
    QVERIFY(!QFileInfo::exists(path));
}

void TestDatabase::b13_anotherProgramsLockIsReportedAndRetryWorks()
{
    TestStore store;
    const Run run = store.addRunning(store.addSession());
    const Approval approval = store.makeApproval(run, QStringLiteral("d"));
    VERIFY_OK(store.approvals->insert(approval, {}));
    OtherConnection other(store.path());
    QCOMPARE(other.exec("BEGIN EXCLUSIVE"), SQLITE_OK);
    const Verdicts verdict{approval.id, ApprovalState::Approved, approval.digest, QStringLiteral("rita"), {}, {}, {},
                           {}};
    const auto refused = store.approvals->decide(verdict, TestStore::at(1));
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY(refused.error().message.contains(QLatin1String("locked")));
    QVERIFY(refused.error().message.contains(QLatin1String("Nothing was changed")));
    QVERIFY(refused.error().message.contains(store.path()));
    QCOMPARE(toString(store.approvals->get(approval.id)->state), toString(ApprovalState::Pending));
    QCOMPARE(other.exec("ROLLBACK"), SQLITE_OK);
    VERIFY_OK(store.approvals->decide(verdict, TestStore::at(1)));
    QCOMPARE(toString(store.approvals->get(approval.id)->state), toString(ApprovalState::Approved));
}

void TestDatabase::aFailedReadIsNoNotFound()
{
    TestStore store;
    const Run run = store.addRunning(store.addSession());
    const Approval approval = store.makeApproval(run, QStringLiteral("d"));
    VERIFY_OK(store.approvals->insert(approval, {}));
    VERIFY_OK(store.settings->get(QStringLiteral("k")));
    OtherConnection other(store.path());
    for (const char *table : {"approval", "setting", "block", "raw_line", "run_event", "run", "session", "agent"})
        QCOMPARE(other.exec(QByteArray("ALTER TABLE ") + table + " RENAME TO lost_" + table), SQLITE_OK);
    VERIFY_FAILS(store.approvals->get(approval.id), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.approvals->pendingForRun(run.id), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.approvals->nextExpiry(), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.settings->get(QStringLiteral("k")), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.events->blocks(run.sessionId, 0, 1), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.events->runEvents(run.id, 1), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.events->rawLines(run.sessionId, {}, 1), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.runs->get(run.id), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.runs->claimNext(QStringLiteral("e"), store.at(0), 1), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.runs->counts(store.at(0), store.at(0)), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.sessions->get(run.sessionId), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.sessions->channelState(run.sessionId), ErrorCode::StorageUnavailable);
    VERIFY_FAILS(store.agents->get(store.agent), ErrorCode::StorageUnavailable);
}

void TestDatabase::aFullDiskKeepsWhatWas()
{
    TestStore store;
    const SessionId session = store.addSession();
    VERIFY_OK(store.database->checkpoint());
    QVERIFY(store.fillDisk());
    EventBatch batch;
    batch.sessionId = session;
    batch.newBlocks.append(Block());
    batch.newBlocks.last().text = QString(4'000'000, u'x');
    const auto refused = store.events->append(batch);
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY2(refused.error().message.contains(QLatin1String("free some space")), qPrintable(refused.error().message));
    QVERIFY(refused.error().message.contains(QLatin1String("full")));
    QCOMPARE(store.events->blocks(session, 0, 10)->total, 0);
    store.reopen();
    QCOMPARE(store.sessions->get(session)->blocks, 0);
    VERIFY_OK(store.events->append(batch));
    QCOMPARE(store.events->blocks(session, 0, 10)->total, 1);
}

void TestDatabase::aFailureDoomsTheWholeTransaction()
{
    TestStore store;
    const SessionId session = store.addSession();
    QVERIFY(store.fillDisk());
    {
        auto transaction = Transaction::begin(*store.database);
        VERIFY_OK(transaction);
        VERIFY_OK(store.settings->set(QStringLiteral("k"), QStringLiteral("v")));
        EventBatch batch;
        batch.sessionId = session;
        batch.newBlocks.append(Block());
        batch.newBlocks.last().text = QString(4'000'000, u'x');
        VERIFY_FAILS(store.events->append(batch), ErrorCode::StorageUnavailable);
        VERIFY_FAILS(store.settings->set(QStringLiteral("k2"), QStringLiteral("v")), ErrorCode::StorageUnavailable);
        VERIFY_FAILS(transaction->commit(), ErrorCode::StorageUnavailable);
    }
    QCOMPARE(store.settings->all().value(), (QMap<QString, QString>()));
    VERIFY_OK(store.settings->set(QStringLiteral("k"), QStringLiteral("v")));
}

void TestDatabase::transactionsRollBack()
{
    TestStore store;
    {
        auto transaction = Transaction::begin(*store.database);
        VERIFY_OK(transaction);
        VERIFY_OK(store.settings->set(QStringLiteral("k"), QStringLiteral("v")));
        QCOMPARE(store.settings->all()->size(), 1);
    }
    QCOMPARE(store.settings->all()->size(), 0);
    auto transaction = Transaction::begin(*store.database);
    VERIFY_OK(transaction);
    VERIFY_OK(store.settings->set(QStringLiteral("k"), QStringLiteral("v")));
    VERIFY_OK(transaction->commit());
    store.reopen();
    QCOMPARE(store.settings->all()->size(), 1);
}

void TestDatabase::innerTransactionsAreUndoneAlone()
{
    TestStore store;
    auto outer = Transaction::begin(*store.database);
    VERIFY_OK(outer);
    VERIFY_OK(store.settings->set(QStringLiteral("outer"), QStringLiteral("1")));
    {
        auto inner = Transaction::begin(*store.database);
        VERIFY_OK(inner);
        VERIFY_OK(store.settings->set(QStringLiteral("inner"), QStringLiteral("1")));
    }
    {
        auto inner = Transaction::begin(*store.database);
        VERIFY_OK(inner);
        VERIFY_OK(store.settings->set(QStringLiteral("second"), QStringLiteral("1")));
        VERIFY_OK(inner->commit());
    }
    VERIFY_OK(outer->commit());
    QCOMPARE(store.settings->all()->keys(), (QStringList{QStringLiteral("outer"), QStringLiteral("second")}));
}

void TestDatabase::statementsAreReentrant()
{
    TestStore store;
    for (const char *key : {"a", "b", "c"})
        VERIFY_OK(store.settings->set(QString::fromLatin1(key), QStringLiteral("1")));
    QString seen;
    VERIFY_OK(store.database->each(QStringLiteral("setting.all"), {}, [&](const Row &row) {
        seen += row.text("key");
        const auto done = store.database->each(QStringLiteral("setting.all"), {}, [&](const Row &inner) {
            seen += inner.text("key").toUpper();
            return inner.text("key") != QLatin1String("b");
        });
        return done.has_value();
    }));
    QCOMPARE(seen, QStringLiteral("aABbABcAB"));
}

void TestDatabase::bindingsAreChecked()
{
    TestStore store;
    VERIFY_FAILS(store.database->run(QStringLiteral("setting.get"), {}), ErrorCode::Internal);
    VERIFY_FAILS(store.database->run(QStringLiteral("setting.nothing"), {}), ErrorCode::Internal);
    VERIFY_OK(store.database->run(QStringLiteral("setting.set"),
                                  {{"value", QStringLiteral("v")}, {"key", QStringLiteral("k")}}));
    QCOMPARE(store.settings->get(QStringLiteral("k"))->value_or(QString()), QStringLiteral("v"));
}

void TestDatabase::valuesReadBackExactly()
{
    TestStore store;
    const Run run = store.addRunning(store.addSession());
    EventBatch batch;
    batch.sessionId = run.sessionId;
    batch.launch = quint64(std::numeric_limits<qint64>::max());
    RawLine line;
    line.runId = run.id;
    line.bytes = QByteArray("\0\xff\xc3\n x", 6);
    line.at = TestStore::at(123'456'789);
    line.direction = RawLine::Direction::FromHarnessError;
    batch.raw = {line, RawLine()};
    VERIFY_OK(store.events->append(batch));
    const auto lines = store.events->rawLines(run.sessionId, {}, 10);
    VERIFY_OK(lines);
    QCOMPARE(lines->size(), 2);
    QCOMPARE(lines->at(0).bytes, line.bytes);
    QCOMPARE(lines->at(0).at, line.at);
    QCOMPARE(lines->at(0).at.timeSpec(), Qt::UTC);
    QVERIFY(lines->at(0).direction == line.direction);
    QVERIFY(!lines->at(1).at.isValid());
    QVERIFY(lines->at(1).bytes.isEmpty());
    QVERIFY(lines->at(1).runId.isEmpty());
}

void TestDatabase::checkpointRuns()
{
    TestStore store;
    store.addSession();
    VERIFY_OK(store.database->checkpoint());
}

QTEST_GUILESS_MAIN(TestDatabase)
#include "tst_database.moc"
