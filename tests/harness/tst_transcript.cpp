#include "engine/harness/claude/transcript.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

namespace {

const QString conversation = QStringLiteral("11111111-2222-4333-8444-555555555555");

QByteArray entry(const char *type, const QString &session = conversation)
{
    return QByteArray("{\"type\":\"") + type + "\",\"sessionId\":\"" + session.toUtf8() + "\"}\n";
}

} // namespace

class TestTranscript : public QObject
{
    Q_OBJECT

private slots:
    void slug();
    void findsUnderAnySlug();
    void b47_verify_data();
    void b47_verify();
    void firstTurnHasNothingToCompare();
    void missing();
};

void TestTranscript::slug()
{
    QCOMPARE(transcriptSlug(QStringLiteral("/mnt/ws")), QStringLiteral("-mnt-ws"));
    QCOMPARE(transcriptSlug(QStringLiteral("/a_b.c/\u00e9 D9")), QStringLiteral("-a-b-c---D9"));
}

void TestTranscript::findsUnderAnySlug()
{
    QTemporaryDir config;
    QCOMPARE(findTranscript(config.path(), QStringLiteral("/ws"), conversation), QString());
    QVERIFY(QDir(config.path()).mkpath(QStringLiteral("projects/-other")));
    QFile file(config.filePath(QStringLiteral("projects/-other/")) + conversation + QStringLiteral(".jsonl"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(findTranscript(config.path(), QStringLiteral("/ws"), conversation), file.fileName());
    QCOMPARE(findTranscript(config.path(), QStringLiteral("/ws"), QString()), QString());
    QCOMPARE(findTranscript(config.path(), QStringLiteral("/ws"), QStringLiteral("../-other/") + conversation), QString());
    QCOMPARE(findTranscript(QString(), QStringLiteral("/ws"), conversation), QString());
}

void TestTranscript::b47_verify_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("reason"); // empty: fine
    const QByteArray before = entry("user") + entry("assistant");
    QByteArray flipped = before;
    flipped[10] = flipped[10] == 'x' ? 'y' : 'x';
    QTest::newRow("as it was") << before << "";
    QTest::newRow("bookkeeping at the end") << before + entry("cost-state") << "";
    QTest::newRow("a turn that died") << before + entry("user") + "{\"type\":\"assist" << "";
    QTest::newRow("one byte less") << before.chopped(1) << "shorter";
    QTest::newRow("empty") << QByteArray() << "shorter";
    QTest::newRow("one byte changed") << flipped << "changed";
    QTest::newRow("lines swapped") << entry("assistant") + entry("user") << "changed";
    QTest::newRow("another conversation behind") << before + entry("user", QStringLiteral("other")) << "longer";
    QTest::newRow("garbage behind") << before + "garbage\n" << "longer";
}

void TestTranscript::b47_verify()
{
    QFETCH(QByteArray, content);
    QFETCH(QString, reason);
    QTemporaryDir config;
    QVERIFY(QDir(config.path()).mkpath(QStringLiteral("projects/-ws")));
    const QString path = config.filePath(QStringLiteral("projects/-ws/")) + conversation + QStringLiteral(".jsonl");
    const auto write = [&](const QByteArray &bytes) {
        QFile file(path);
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
    };
    QVERIFY(write(entry("user") + entry("assistant")));
    const Result<NativeIdentity> native = snapshotTranscript(path, conversation);
    QVERIFY(native);
    QCOMPARE(native->transcriptPath, path);
    QCOMPARE(native->transcriptHash.size(), 64);
    QVERIFY(write(content));
    const Result<void> verified = verifyTranscript(*native, config.path(), QStringLiteral("/ws"));
    QCOMPARE(verified.has_value(), reason.isEmpty());
    if (!verified) {
        QVERIFY(verified.error().code == ErrorCode::NativeResumeFailed);
        QVERIFY2(verified.error().message.contains(reason), qPrintable(verified.error().message));
        QVERIFY(verified.error().message.contains(path));
    }
}

void TestTranscript::firstTurnHasNothingToCompare()
{
    QTemporaryDir config;
    QVERIFY(QDir(config.path()).mkpath(QStringLiteral("projects/-ws")));
    QFile file(config.filePath(QStringLiteral("projects/-ws/")) + conversation + QStringLiteral(".jsonl"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(entry("user"));
    file.close();
    NativeIdentity native;
    native.nativeSessionId = conversation;
    QVERIFY(verifyTranscript(native, config.path(), QStringLiteral("/ws")));
}

void TestTranscript::missing()
{
    QTemporaryDir config;
    NativeIdentity native{conversation, config.filePath(QStringLiteral("gone.jsonl")), 10, QStringLiteral("00")};
    const Result<void> verified = verifyTranscript(native, config.path(), QStringLiteral("/ws"));
    QVERIFY(!verified);
    QVERIFY(verified.error().code == ErrorCode::NativeResumeFailed);
    QVERIFY(verified.error().message.contains(QStringLiteral("is missing")));
    QVERIFY(!snapshotTranscript(native.transcriptPath, conversation));
    QVERIFY(!snapshotTranscript({}, conversation));
}

QTEST_GUILESS_MAIN(TestTranscript)
#include "tst_transcript.moc"
