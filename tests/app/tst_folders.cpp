#include "app/doors/folders.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>
#include <sys/stat.h>
#include <unistd.h>

class TestFolders : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void defaultsFollowXdg();
    void runtimeIsPrivateAndStable();
    void everyDataFolderHasItsOwnRuntime();
    void aLongRuntimePathFallsBack();
    void aRuntimeFolderOpenToOthersIsNotUsed();
    void aFileIsRefused();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestFolders::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("run")));
    qputenv("XDG_RUNTIME_DIR", QFile::encodeName(m_folder->filePath(QStringLiteral("run"))));
    qputenv("XDG_DATA_HOME", QFile::encodeName(m_folder->filePath(QStringLiteral("home"))));
}

void TestFolders::cleanup()
{
    m_folder.reset();
}

void TestFolders::defaultsFollowXdg()
{
    const auto plain = app::prepareFolders({}, false);
    QVERIFY(plain);
    QCOMPARE(plain->data, m_folder->filePath(QStringLiteral("home/signalbox")));
    const auto demo = app::prepareFolders({}, true);
    QVERIFY(demo);
    QCOMPARE(demo->data, m_folder->filePath(QStringLiteral("home/signalbox-demo")));
    QVERIFY(demo->runtime != plain->runtime);
    struct stat status;
    QCOMPARE(stat(QFile::encodeName(plain->data).constData(), &status), 0);
    QCOMPARE(int(status.st_mode & 077), 0);
}

void TestFolders::runtimeIsPrivateAndStable()
{
    const auto first = app::prepareFolders(m_folder->filePath(QStringLiteral("a")), false);
    QVERIFY(first);
    QVERIFY(first->runtime.startsWith(m_folder->filePath(QStringLiteral("run/signalbox/"))));
    struct stat status;
    QCOMPARE(stat(QFile::encodeName(first->runtime).constData(), &status), 0);
    QCOMPARE(int(status.st_mode & 077), 0);
    const auto again = app::prepareFolders(m_folder->filePath(QStringLiteral("a")), false);
    QCOMPARE(again->runtime, first->runtime);
    QVERIFY(QFile::link(first->data, m_folder->filePath(QStringLiteral("link"))));
    QCOMPARE(app::prepareFolders(m_folder->filePath(QStringLiteral("link")), false)->runtime, first->runtime);
}

void TestFolders::everyDataFolderHasItsOwnRuntime()
{
    const auto a = app::prepareFolders(m_folder->filePath(QStringLiteral("a")), false);
    const auto b = app::prepareFolders(m_folder->filePath(QStringLiteral("b")), false);
    QVERIFY(a && b);
    QVERIFY(a->runtime != b->runtime);
    QVERIFY(a->controlSocket != b->controlSocket);
}

void TestFolders::aLongRuntimePathFallsBack()
{
    const QString deep = m_folder->filePath(QString(80, u'x'));
    QVERIFY(QDir().mkpath(deep));
    qputenv("XDG_RUNTIME_DIR", QFile::encodeName(deep));
    const auto folders = app::prepareFolders(m_folder->filePath(QStringLiteral("a")), false);
    QVERIFY2(folders, folders ? "" : qPrintable(folders.error().message));
    QVERIFY(folders->runtime.startsWith(QStringLiteral("/tmp/signalbox-%1/").arg(getuid())));
    QVERIFY(folders->controlSocket.size() < 80);
    QVERIFY(QDir(folders->runtime).removeRecursively());
}

void TestFolders::aRuntimeFolderOpenToOthersIsNotUsed()
{
    const QString open = m_folder->filePath(QStringLiteral("run/signalbox"));
    QVERIFY(QDir().mkdir(open));
    QCOMPARE(chmod(QFile::encodeName(open).constData(), 0777), 0);
    const auto folders = app::prepareFolders(m_folder->filePath(QStringLiteral("a")), false);
    QVERIFY(folders);
    QVERIFY2(!folders->runtime.startsWith(open), qPrintable(folders->runtime));
    QVERIFY(QDir(folders->runtime).removeRecursively());
}

void TestFolders::aFileIsRefused()
{
    QFile file(m_folder->filePath(QStringLiteral("a")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const auto folders = app::prepareFolders(file.fileName(), false);
    QVERIFY(!folders);
    QVERIFY(folders.error().code == engine::ErrorCode::StorageUnavailable);
    QVERIFY(folders.error().message.contains(file.fileName()));
}

QTEST_GUILESS_MAIN(TestFolders)
#include "tst_folders.moc"
