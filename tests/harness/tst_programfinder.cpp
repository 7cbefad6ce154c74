#include "engine/harness/programfinder.h"

#include <QCoroTask>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

class TestProgramFinder : public QObject
{
    Q_OBJECT

private slots:
    void versions_data();
    void versions();
    void searchesPathThenNpmFolders();
    void missingSaysWhereAndHow();
    void silentProgramIsGivenUp();
    void askedOncePerFile();

private:
    static QString script(const QString &path, const QByteArray &body)
    {
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            return {};
        file.write("#!/bin/sh\n" + body + '\n');
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }
};

void TestProgramFinder::versions_data()
{
    QTest::addColumn<QByteArray>("output");
    QTest::addColumn<QString>("version"); // empty: refused
    QTest::addColumn<bool>("warned");
    QTest::newRow("oldest") << QByteArray("2.1.197 (Claude Code)") << "2.1.197" << false;
    QTest::newRow("newest tested") << QByteArray("2.1.332 (Claude Code)") << "2.1.332" << false;
    QTest::newRow("between") << QByteArray("2.1.200 (Claude Code)") << "2.1.200" << true;
    QTest::newRow("newer") << QByteArray("10.0.1 (Claude Code)") << "10.0.1" << true;
    QTest::newRow("older") << QByteArray("2.1.196 (Claude Code)") << "" << false;
    QTest::newRow("much older") << QByteArray("1.99.999") << "" << false;
    QTest::newRow("something else") << QByteArray("hello") << "" << false;
}

void TestProgramFinder::versions()
{
    QFETCH(QByteArray, output);
    QFETCH(QString, version);
    QFETCH(bool, warned);
    QTemporaryDir folder;
    const QString path = script(folder.filePath(QStringLiteral("my claude")), "[ \"$1\" = --version ] && echo '" + output + "'");
    ProgramFinder finder(folder.path(), folder.path());
    const Result<HarnessProgram> found = QCoro::waitFor(finder.find(path));
    if (version.isEmpty()) {
        QVERIFY(!found);
        QVERIFY(found.error().code == ErrorCode::ProgramVersion);
        QVERIFY2(found.error().message.contains(path), qPrintable(found.error().message));
        if (output != "hello") {
            QVERIFY(found.error().message.contains(ProgramFinder::oldestSupported()));
            QVERIFY(found.error().message.contains(QString::fromUtf8(output.split(' ').first())));
        }
        return;
    }
    QVERIFY2(found, found ? "" : qPrintable(found.error().message));
    QCOMPARE(found->path, path);
    QCOMPARE(found->version, version);
    QCOMPARE(!found->warning.isEmpty(), warned);
}

void TestProgramFinder::searchesPathThenNpmFolders()
{
    QTemporaryDir folder;
    const QString home = folder.filePath(QStringLiteral("home"));
    const QString bin = folder.filePath(QStringLiteral("bin"));
    const QString npm = script(home + QStringLiteral("/.npm-global/lib/node_modules/@anthropic-ai/claude-code-linux-x64/claude"),
                               "echo 2.1.197");
    ProgramFinder finder(bin + QStringLiteral(":/nowhere"), home);
    const Result<HarnessProgram> inNpm = QCoro::waitFor(finder.find({}));
    QVERIFY(inNpm);
    QCOMPARE(inNpm->path, npm);
    const QString inPath = script(bin + QStringLiteral("/claude"), "echo 2.1.332");
    const Result<HarnessProgram> found = QCoro::waitFor(finder.find({}));
    QVERIFY(found);
    QCOMPARE(found->path, inPath);
    QCOMPARE(found->version, QStringLiteral("2.1.332"));
}

void TestProgramFinder::missingSaysWhereAndHow()
{
    QTemporaryDir folder;
    ProgramFinder finder(folder.path(), folder.path());
    const Result<HarnessProgram> named = QCoro::waitFor(finder.find(folder.filePath(QStringLiteral("none"))));
    QVERIFY(!named);
    QVERIFY(named.error().code == ErrorCode::ProgramMissing);
    QVERIFY(named.error().message.contains(folder.filePath(QStringLiteral("none"))));
    QFile plain(folder.filePath(QStringLiteral("plain")));
    QVERIFY(plain.open(QIODevice::WriteOnly));
    plain.close();
    const Result<HarnessProgram> notExecutable = QCoro::waitFor(finder.find(plain.fileName()));
    QVERIFY(notExecutable.error().message.contains(QStringLiteral("not an executable")));
    if (QFileInfo::exists(QStringLiteral("/usr/local/lib/node_modules/@anthropic-ai/claude-code")) ||
        QFileInfo::exists(QStringLiteral("/usr/lib/node_modules/@anthropic-ai/claude-code")))
        QSKIP("Claude Code is installed system-wide here");
    const Result<HarnessProgram> searched = QCoro::waitFor(finder.find({}));
    QVERIFY(!searched);
    QVERIFY(searched.error().code == ErrorCode::ProgramMissing);
    QVERIFY(searched.error().message.contains(QStringLiteral("npm install -g @anthropic-ai/claude-code")));
    QVERIFY(searched.error().message.contains(folder.path()));
}

void TestProgramFinder::silentProgramIsGivenUp()
{
    QTemporaryDir folder;
    const QString path = script(folder.filePath(QStringLiteral("slow")), "exec sleep 60");
    ProgramFinder finder(folder.path(), folder.path(), std::chrono::milliseconds(300));
    QElapsedTimer timer;
    timer.start();
    const Result<HarnessProgram> found = QCoro::waitFor(finder.find(path));
    QVERIFY(!found);
    QVERIFY(found.error().code == ErrorCode::ProgramVersion);
    QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));
}

void TestProgramFinder::askedOncePerFile()
{
    QTemporaryDir folder;
    const QString count = folder.filePath(QStringLiteral("count"));
    const QString path = script(folder.filePath(QStringLiteral("claude")), "echo x >> " + count.toUtf8() + "; echo 2.1.332");
    ProgramFinder finder(folder.path(), folder.path());
    for (int i = 0; i < 3; ++i)
        QVERIFY(QCoro::waitFor(finder.find(path)));
    QCOMPARE(QFileInfo(count).size(), 2);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.setFileTime(QDateTime::currentDateTime().addSecs(-100), QFileDevice::FileModificationTime));
    file.close();
    QVERIFY(QCoro::waitFor(finder.find(path)));
    QCOMPARE(QFileInfo(count).size(), 4);
}

QTEST_GUILESS_MAIN(TestProgramFinder)
#include "tst_programfinder.moc"
