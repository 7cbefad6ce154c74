#include "engine/types/clock.h"

#include <QSignalSpy>
#include <QTest>
#include <memory>

using namespace engine;

class TestClock : public QObject
{
    Q_OBJECT

private slots:
    void nowIsUtc();
    void callsOnceNotBeforeItsTime();
    void aPastTimeIsCalledSoonButNotAtOnce();
    void nothingIsCalledWithoutItsContext();
};

void TestClock::nowIsUtc()
{
    SystemClock clock;
    QCOMPARE(clock.now().timeSpec(), Qt::UTC);
    QVERIFY(qAbs(clock.now().msecsTo(QDateTime::currentDateTimeUtc())) < 5000);
}

void TestClock::callsOnceNotBeforeItsTime()
{
    SystemClock clock;
    QObject context;
    int calls = 0;
    QDateTime called;
    const QDateTime when = clock.now().addMSecs(40);
    clock.callAt(when, &context, [&] {
        ++calls;
        called = clock.now();
    });
    QTRY_COMPARE(calls, 1);
    QVERIFY(called >= when.addMSecs(-1));
    bool later = false;
    clock.callAt(clock.now().addMSecs(60), &context, [&] { later = true; });
    QTRY_VERIFY(later);
    QCOMPARE(calls, 1);
}

void TestClock::aPastTimeIsCalledSoonButNotAtOnce()
{
    SystemClock clock;
    QObject context;
    bool called = false;
    clock.callAt(clock.now().addSecs(-3600), &context, [&] { called = true; });
    QVERIFY(!called);
    QTRY_VERIFY(called);
}

void TestClock::nothingIsCalledWithoutItsContext()
{
    SystemClock clock;
    auto context = std::make_unique<QObject>();
    QObject other;
    bool called = false, otherCalled = false;
    clock.callAt(clock.now().addMSecs(5), context.get(), [&] { called = true; });
    context.reset();
    clock.callAt(clock.now().addMSecs(30), &other, [&] { otherCalled = true; });
    QTRY_VERIFY(otherCalled);
    QVERIFY(!called);
}

QTEST_GUILESS_MAIN(TestClock)
#include "tst_clock.moc"
