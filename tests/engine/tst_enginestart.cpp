// Starts that can't succeed: each says what, on which file, why, and the way out; nothing is lost.
#include "tests/engine/stubfixture.h"

using namespace engine;

class TestEngineStart final : public QObject
{
    Q_OBJECT

private slots:
    void secondInstanceNamesTheFirst();
    void newerDatabaseIsRefused();
    void unreadableDatabaseIsRefused();
    void dataFolderThatCannotBeMade();
    void missingWorkerIsClear();
    void statusAndDoctorTellTheTruth();
    void b29_storeComesWithTheProgram();
};

void TestEngineStart::secondInstanceNamesTheFirst()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    LocalEngineClient second(fixture.options());
    QSignalSpy failed(&second, &EngineClient::failed);
    second.start();
    QVERIFY(!failed.isEmpty() || failed.wait(10000));
    const Error error = failed.first().first().value<Error>();
    QCOMPARE(toString(error.code), toString(ErrorCode::StorageBusy));
    QVERIFY2(error.message.contains(QString::number(QCoreApplication::applicationPid())), qPrintable(error.message));
    // Commands and queries answer with the reason instead of waiting for ever.
    QCOMPARE(toString(fixture.get(second.agents()).error().code), toString(ErrorCode::StorageBusy));
    QCOMPARE(toString(fixture.get(second.status()).error().code), toString(ErrorCode::StorageBusy));
}

void TestEngineStart::newerDatabaseIsRefused()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    fixture.stop();
    fixture.sql(QStringLiteral("UPDATE schema_migration SET version = version + 1000 WHERE version = (SELECT max(version) FROM schema_migration)"));
    QVERIFY(!fixture.start());
    QCOMPARE(toString(fixture.failure.code), toString(ErrorCode::StorageNewer));
    QVERIFY(fixture.failure.message.contains(QStringLiteral("100")));
}

void TestEngineStart::unreadableDatabaseIsRefused()
{
    StubFixture fixture;
    QVERIFY(QDir().mkpath(fixture.folder.filePath(QStringLiteral("data"))));
    QFile file(fixture.folder.filePath(QStringLiteral("data/signalbox.db")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(8192, 'x'));
    file.close();
    QVERIFY(!fixture.start());
    QCOMPARE(toString(fixture.failure.code), toString(ErrorCode::StorageUnavailable));
    QVERIFY2(fixture.failure.message.contains(QStringLiteral("signalbox.db")), qPrintable(fixture.failure.message));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray(8192, 'x'));
}

void TestEngineStart::dataFolderThatCannotBeMade()
{
    StubFixture fixture;
    QFile blocker(fixture.folder.filePath(QStringLiteral("data")));
    QVERIFY(blocker.open(QIODevice::WriteOnly));
    blocker.close();
    QVERIFY(!fixture.start());
    QCOMPARE(toString(fixture.failure.code), toString(ErrorCode::StorageUnavailable));
    QVERIFY(fixture.failure.message.contains(fixture.folder.filePath(QStringLiteral("data"))));
}

void TestEngineStart::missingWorkerIsClear()
{
    StubFixture fixture;
    EngineOptions options = fixture.options();
    options.workerProgram = QStringLiteral("/nowhere/signalbox-worker");
    fixture.client = std::make_unique<LocalEngineClient>(options);
    QSignalSpy started(fixture.client.get(), &EngineClient::started);
    fixture.client->start();
    QVERIFY(!started.isEmpty() || started.wait(10000));
    const Session session = fixture.session(fixture.stub());
    const Run run = fixture.submit(session, QStringLiteral("text hello"));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QVERIFY2(fixture.run(run.id).errorMessage.contains(QStringLiteral("/nowhere/signalbox-worker")), qPrintable(fixture.run(run.id).errorMessage));
}

void TestEngineStart::statusAndDoctorTellTheTruth()
{
    StubFixture fixture;
    fixture.environment.remove(QStringLiteral("ANTHROPIC_API_KEY"));
    fixture.environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/bin:/bin"));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const EngineStatus status = fixture.get(fixture.client->status()).value();
    QVERIFY(status.storePath.endsWith(QStringLiteral("signalbox.db")));
    QVERIFY(status.storeKind.startsWith(QStringLiteral("SQLite")));
    QVERIFY(status.schemaVersion >= 1);
    const QList<Finding> findings = fixture.get(fixture.client->doctor()).value();
    const auto find = [&](const QString &subject) {
        for (const Finding &finding : findings) {
            if (finding.subject.startsWith(subject))
                return finding;
        }
        return Finding{};
    };
    QVERIFY(find(QStringLiteral("Store")).level == Finding::Level::Ok);
    QVERIFY(find(QStringLiteral("Worker")).level == Finding::Level::Ok);
    QVERIFY(find(QStringLiteral("Key")).level == Finding::Level::Warning);
    QVERIFY(!find(QStringLiteral("Key")).remedy.isEmpty());
}

void TestEngineStart::b29_storeComesWithTheProgram()
{
    StubFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Run run = fixture.submit(fixture.session(fixture.stub()), QStringLiteral("ask 1"));
    QCOMPARE(fixture.pendingOnce(1).size(), 1);
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Paused));
}

QTEST_GUILESS_MAIN(TestEngineStart)
#include "tst_enginestart.moc"
