// The tables of Sandboxes under QAbstractItemModelTester, and their words.
#include "models/computerlistmodel.h"
#include "models/displaytext.h"
#include "models/imagemodel.h"
#include "models/leftovermodel.h"
#include "support/fakeengineclient.h"

#include <QAbstractItemModelTester>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>

using namespace engine;

class TestSandboxModels final : public QObject
{
    Q_OBJECT

private slots:
    void computersKeepTheirPlace();
    void usageStaysWhenItIsNotAsked();
    void oneQuestionAtATime();
    void b99_leftoversCount();
    void imagesMerge();
    void words();
};

static Computer sandboxOf(int number)
{
    Computer one;
    one.sessionId = SessionId{QStringLiteral("s-%1").arg(number)};
    one.id = QStringLiteral("c-%1").arg(number);
    one.cpuPercent = number;
    one.memoryBytes = number;
    return one;
}

void TestSandboxModels::computersKeepTheirPlace()
{
    FakeEngineClient client;
    for (int i = 0; i < 10; ++i)
        client.computerRows.append(sandboxOf(i));
    models::ComputerListModel model(client);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.load(true);
    QTRY_COMPARE(model.rowCount(), 10);
    const QPersistentModelIndex kept = model.index(3, 0);
    QRandomGenerator random(5);
    for (int step = 0; step < 200; ++step) {
        client.computerRows.clear();
        for (int i = 11; i >= 0; --i) {
            if (i == 3 || random.bounded(2))
                client.computerRows.append(sandboxOf(i));
        }
        QSignalSpy loaded(&model, &models::ComputerListModel::loaded);
        model.load(true);
        QTRY_COMPARE(loaded.size(), 1);
        QCOMPARE(model.rowCount(), int(client.computerRows.size()));
        QVERIFY(kept.isValid());
        QCOMPARE(kept.data(models::KeyRole).toString(), QStringLiteral("s-3"));
    }
}

void TestSandboxModels::usageStaysWhenItIsNotAsked()
{
    FakeEngineClient client;
    client.computerRows = {sandboxOf(4)};
    models::ComputerListModel model(client);
    QSignalSpy loaded(&model, &models::ComputerListModel::loaded);
    model.load(true);
    QTRY_COMPARE(loaded.size(), 1);
    model.load(false);
    QTRY_COMPARE(loaded.size(), 2);
    QCOMPARE(model.at(0)->cpuPercent, 4.0);
    client.computerRows[0].id = QStringLiteral("another");
    model.load(false);
    QTRY_COMPARE(loaded.size(), 3);
    QCOMPARE(model.at(0)->cpuPercent, -1.0);
}

void TestSandboxModels::oneQuestionAtATime()
{
    FakeEngineClient client;
    models::ComputerListModel model(client);
    client.hold();
    for (int i = 0; i < 5; ++i)
        model.load(true);
    QCOMPARE(client.callCount(QStringLiteral("computers")), 1);
    client.release();
    QTRY_COMPARE(client.callCount(QStringLiteral("computers")), 2);
}

void TestSandboxModels::b99_leftoversCount()
{
    FakeEngineClient client;
    Leftover one;
    one.id = QStringLiteral("a");
    one.bytes = 1'000'000;
    one.inUse = true;
    Leftover two = one;
    two.kind = Leftover::Kind::Volume; // the same id as another kind is another thing
    two.bytes = -1;
    two.inUse = false;
    client.leftoverRows = {one, two};
    models::LeftoverModel model(client);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.load();
    QTRY_COMPARE(model.rowCount(), 2);
    QCOMPARE(model.totalBytes(), 1'000'000);
    QCOMPARE(model.inUseCount(), 1);
}

void TestSandboxModels::imagesMerge()
{
    FakeEngineClient client;
    AgentImage image;
    image.id = QStringLiteral("sha256:1");
    image.tag = QStringLiteral("a:1");
    client.imageRows = {image};
    models::ImageModel model(client);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.load();
    QTRY_COMPARE(model.rowCount(), 1);
    client.imageRows[0].usedBy = {QStringLiteral("Careful")};
    model.load();
    QTRY_COMPARE(model.index(0, models::ImageModel::UsedBy).data().toString(), QStringLiteral("Careful"));
}

void TestSandboxModels::words()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    QCOMPARE(models::memoryText(312ll << 20, 2ll << 30), QStringLiteral("312 MB of 2 GB"));
    QCOMPARE(models::warmText(now.addSecs(252), now), QStringLiteral("warm, 4 min 12 s left"));
    QCOMPARE(models::warmText(now.addSecs(5), now), QStringLiteral("warm, 5 s left"));
    QCOMPARE(models::warmText({}, now), QString());
    QCOMPARE(models::processorText(-1), QStringLiteral("–"));
    QCOMPARE(models::processorText(3.21), QStringLiteral("3.2 %"));
    QCOMPARE(models::shortId(QStringLiteral("sha256:abcdef0123456789")), QStringLiteral("abcdef012345"));
    SandboxEngine engine;
    QCOMPARE(models::engineWords(engine), QStringLiteral("Docker: not running"));
    engine.available = true;
    engine.name = QStringLiteral("Podman 4.3.1");
    QCOMPARE(models::engineWords(engine), QStringLiteral("Podman 4.3"));
}

QTEST_GUILESS_MAIN(TestSandboxModels)
#include "tst_sandboxmodels.moc"
