#include "engine/types/redactor.h"

#include <QTest>

class TestRedactor final : public QObject
{
    Q_OBJECT

private slots:
    void takesEverySecretOut()
    {
        engine::Redactor redactor;
        redactor.add(QStringLiteral("sk-secret-1"));
        redactor.add(QStringLiteral("sk-secret-2"));
        redactor.add(QStringLiteral("short"));
        QCOMPARE(redactor.redacted(QByteArray("a sk-secret-1 b sk-secret-2sk-secret-1 short")),
                 QByteArray("a [redacted] b [redacted][redacted] short"));
        QCOMPARE(redactor.redacted(QStringLiteral("x sk-secret-2")), QStringLiteral("x [redacted]"));
        QVERIFY(redactor.finds("..sk-secret-1.."));
        QVERIFY(!redactor.finds("nothing short"));
    }
};

QTEST_GUILESS_MAIN(TestRedactor)
#include "tst_redactor.moc"
