// The check of Codex's own file before a resume.
#include "engine/harness/claude/transcript.h"
#include "engine/harness/codex/rollout.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

namespace {

const QString threadUuid = QStringLiteral("01a22f9d-5e41-7e83-a080-6a4498ccfe9d");
const QByteArray meta =
    R"({"timestamp":"t","ordinal":0,"type":"session_meta","payload":{"id":"01a22f9d-5e41-7e83-a080-6a4498ccfe9d"}})" "\n";

QByteArray turn(const char *id)
{
    return QByteArray(R"({"type":"event_msg","payload":{"type":"task_started","turn_id":")") + id + "\"}}\n" +
           R"({"type":"response_item","payload":{"type":"message"}})" "\n" +
           R"({"type":"event_msg","payload":{"type":"task_complete","turn_id":")" + id + "\"}}\n";
}

struct Home
{
    Home()
    {
        QDir(folder.path()).mkpath(QStringLiteral("sessions/2026/12/01"));
        path = folder.filePath(QStringLiteral("sessions/2026/12/01/rollout-2026-12-01T03-19-32-%1.jsonl").arg(threadUuid));
    }
    void write(const QByteArray &bytes)
    {
        QFile file(path);
        if (file.open(QIODevice::WriteOnly))
            file.write(bytes);
    }
    QTemporaryDir folder;
    QString path;
};

} // namespace

class TestRollout final : public QObject
{
    Q_OBJECT

private slots:
    void unchangedAndGrown();
    void damages_data();
    void damages();
    void nothingRecordedYet();
    void oddIdsFindNothing();
};

void TestRollout::unchangedAndGrown()
{
    Home home;
    home.write(meta + turn("one"));
    const Result<NativeIdentity> native = snapshotTranscript(findRollout(home.folder.path(), threadUuid), threadUuid);
    QVERIFY(native.has_value());
    QCOMPARE(verifyRollout(*native, home.folder.path()).value(), QStringLiteral("one"));
    // A turn that died behind the snapshot: its last record may be cut.
    home.write(meta + turn("one") + turn("two").chopped(20));
    QCOMPARE(verifyRollout(*native, home.folder.path()).value(), QStringLiteral("two"));
}

void TestRollout::damages_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("said");
    const QByteArray whole = meta + turn("one") + turn("two");
    QByteArray changed = whole;
    changed[changed.size() / 2] = '#';
    QTest::newRow("empty") << QByteArray() << "shorter";
    QTest::newRow("cut half way") << whole.left(whole.size() / 2) << "shorter";
    QTest::newRow("cut in the last record") << whole.chopped(3) << "shorter";
    QTest::newRow("only its head") << meta << "shorter";
    QTest::newRow("one byte changed") << changed << "changed";
    QTest::newRow("head gone") << turn("one") + turn("two") + QByteArray(meta.size(), '\n') << "changed";
    QTest::newRow("garbage behind") << whole + "not a record\n" + turn("three") << "no record";
    QTest::newRow("another thread's") << QByteArray(whole).replace("01a22f9d", "01a22f9e") << "changed";
}

// The program itself resumes most of these without a word: see the resume_* recordings.
void TestRollout::damages()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, said);
    Home home;
    home.write(meta + turn("one") + turn("two"));
    const Result<NativeIdentity> native = snapshotTranscript(home.path, threadUuid);
    QVERIFY(native.has_value());
    home.write(bytes);
    const Result<QString> verified = verifyRollout(*native, home.folder.path());
    QVERIFY(!verified.has_value());
    QCOMPARE(toString(verified.error().code), toString(ErrorCode::NativeResumeFailed));
    // The head is looked at first: either word tells the truth.
    QVERIFY2(verified.error().message.contains(said) || verified.error().message.contains(u"does not begin"),
             qPrintable(verified.error().message));
    QVERIFY(QFile::remove(home.path));
    const Result<QString> missing = verifyRollout(*native, home.folder.path());
    QVERIFY(!missing.has_value() && missing.error().message.contains(QStringLiteral("missing")));
}

void TestRollout::nothingRecordedYet()
{
    Home home;
    home.write(meta + turn("one"));
    NativeIdentity native;
    native.nativeSessionId = threadUuid;
    QCOMPARE(verifyRollout(native, home.folder.path()).value(), QStringLiteral("one"));
    home.write(meta);
    QCOMPARE(verifyRollout(native, home.folder.path()).value(), QString());
    home.write("garbage\n");
    QVERIFY(!verifyRollout(native, home.folder.path()).has_value());
    home.write({});
    QVERIFY(!verifyRollout(native, home.folder.path()).has_value());
}

void TestRollout::oddIdsFindNothing()
{
    Home home;
    home.write(meta);
    for (const QString &id : {QString(), QStringLiteral("*"), QStringLiteral("../../x"), QStringLiteral("6a4498ccfe9d")})
        QVERIFY2(findRollout(home.folder.path(), id).isEmpty(), qPrintable(id));
    QCOMPARE(findRollout(home.folder.path(), threadUuid), home.path);
    QVERIFY(findRollout({}, threadUuid).isEmpty());
}

QTEST_GUILESS_MAIN(TestRollout)
#include "tst_rollout.moc"
