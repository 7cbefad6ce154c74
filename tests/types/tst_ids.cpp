#include "engine/types/ids.h"

#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <type_traits>

using namespace engine;

static_assert(!std::is_convertible_v<RunId, SessionId>);
static_assert(!std::is_constructible_v<ApprovalId, RunId>);

class TestIds : public QObject
{
    Q_OBJECT

private slots:
    void newIdsHaveTheirPrefix();
    void newIdsDiffer();
    void orderAndHashFollowTheText();
};

void TestIds::newIdsHaveTheirPrefix()
{
    const QRegularExpression form(QStringLiteral("^[asrp]-[0-9a-f]{16}$"));
    const QStringList ids{newAgentId().value, newSessionId().value, newRunId().value, newApprovalId().value};
    QString prefixes;
    for (const QString &id : ids) {
        QVERIFY2(form.match(id).hasMatch(), qPrintable(id));
        prefixes += id.at(0);
    }
    QCOMPARE(prefixes, QStringLiteral("asrp"));
}

void TestIds::newIdsDiffer()
{
    QSet<RunId> ids;
    for (int i = 0; i < 10000; ++i)
        ids.insert(newRunId());
    QCOMPARE(ids.size(), 10000);
}

void TestIds::orderAndHashFollowTheText()
{
    const RunId a{QStringLiteral("r-1")}, b{QStringLiteral("r-2")};
    QVERIFY(a < b);
    QVERIFY(b > a);
    QVERIFY(a != b);
    QCOMPARE(a, RunId{QStringLiteral("r-1")});
    QCOMPARE(qHash(a), qHash(RunId{QStringLiteral("r-1")}));
    QVERIFY(RunId().isEmpty());
    QVERIFY(!a.isEmpty());
}

QTEST_GUILESS_MAIN(TestIds)
#include "tst_ids.moc"
