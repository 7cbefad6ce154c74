#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

namespace {

struct Ended
{
    int code = -1;
    QString out;
    QString err;
};

} // namespace

// The built programs as a caller sees them: exit codes, messages, one instance a data folder, bad starts.
class TestProgram : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void helpAndVersionNeedNothing();
    void badArgumentsEndWith2();
    void aDataFolderThatIsAFileEndsWith5();
    void aReadOnlyDataFolderEndsWith5();
    void aDamagedDatabaseEndsWith5AndIsKept();
    void aCommandWithoutAnInstanceBringsItsOwnEngine();
    void commandsGoToTheRunningInstance();
    void aSecondInstanceIsRefused();
    void aHungInstanceIsNamed();
    void aKilledInstanceLeavesNoObstacle();
    void theTermSignalEndsItInOrder();
    void theDemoHasAFolderOfItsOwn();

private:
    Ended call(const QStringList &words, const QByteArray &input = {},
               const QString &program = QStringLiteral("signalbox"));
    bool startHeadless(QProcess &process, const QStringList &extra = {});
    QString data() const { return m_folder->filePath(QStringLiteral("data")); }

    std::unique_ptr<QTemporaryDir> m_folder;
    QProcessEnvironment m_environment;
};

void TestProgram::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    for (const char *name : {"run", "home"})
        QVERIFY(QDir(m_folder->path()).mkdir(QLatin1String(name)));
    QFile::setPermissions(m_folder->filePath(QStringLiteral("run")),
                          QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    m_environment = QProcessEnvironment::systemEnvironment();
    m_environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), m_folder->filePath(QStringLiteral("run")));
    m_environment.insert(QStringLiteral("XDG_DATA_HOME"), m_folder->filePath(QStringLiteral("home")));
    // No display anywhere: nothing here may need one.
    for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "ANTHROPIC_API_KEY"})
        m_environment.remove(QLatin1String(name));
}

void TestProgram::cleanup()
{
    m_folder.reset();
}

Ended TestProgram::call(const QStringList &words, const QByteArray &input, const QString &program)
{
    QProcess process;
    process.setProcessEnvironment(m_environment);
    process.start(QStringLiteral(BINARY_DIR "/bin/") + program, words);
    process.write(input);
    process.closeWriteChannel();
    if (!QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 30000)) {
        process.kill();
        process.waitForFinished();
        return {-1, QString::fromUtf8(process.readAllStandardOutput()), QStringLiteral("did not end")};
    }
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
            QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
}

bool TestProgram::startHeadless(QProcess &process, const QStringList &extra)
{
    process.setProcessEnvironment(m_environment);
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(QStringLiteral(BINARY_DIR "/bin/signalbox"),
                  QStringList{QStringLiteral("--headless"), QStringLiteral("--data"), data()} + extra);
    QByteArray said;
    return QTest::qWaitFor(
        [&] {
            said += process.readAll();
            return said.contains("engine started");
        },
        20000);
}

void TestProgram::helpAndVersionNeedNothing()
{
    const Ended help = call({"--help"});
    QCOMPARE(help.code, 0);
    QVERIFY(help.out.contains(QStringLiteral("approvals")));
    QCOMPARE(call({"--version"}).out, QStringLiteral("signalbox " SIGNALBOX_VERSION "\n"));
    QVERIFY(!QFileInfo::exists(m_folder->filePath(QStringLiteral("home/signalbox"))));
}

void TestProgram::badArgumentsEndWith2()
{
    for (const QStringList &words : {QStringList{"--bogus"}, QStringList{"fly"}, QStringList{"run"},
                                     QStringList{"approvals", "resolve", "p", "--approve", "--input", "/nowhere/x"}}) {
        const Ended ended = call(words);
        QCOMPARE(ended.code, 2);
        QVERIFY(ended.err.startsWith(QStringLiteral("signalbox: ")));
        QVERIFY(ended.out.isEmpty());
    }
}

void TestProgram::aDataFolderThatIsAFileEndsWith5()
{
    QFile file(data());
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    for (const QStringList &words : {QStringList{"agents"}, QStringList{"--headless"}}) {
        const Ended ended = call(words + QStringList{"--data", data()});
        QCOMPARE(ended.code, 5);
        QVERIFY2(ended.err.contains(data()), qPrintable(ended.err));
    }
}

void TestProgram::aReadOnlyDataFolderEndsWith5()
{
    if (geteuid() == 0) {
        // Root writes anywhere; a place where not even root can write stands in for the rights of a folder.
        const Ended ended = call({"agents", "--data", "/proc/signalbox"});
        QCOMPARE(ended.code, 5);
        QVERIFY2(ended.err.contains(QStringLiteral("/proc/signalbox")), qPrintable(ended.err));
        return;
    }
    QVERIFY(QDir().mkdir(data()));
    QVERIFY(QFile::setPermissions(data(), QFile::ReadOwner | QFile::ExeOwner));
    const Ended ended = call({"agents", "--data", data()});
    QFile::setPermissions(data(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QCOMPARE(ended.code, 5);
    QVERIFY2(ended.err.contains(data()), qPrintable(ended.err));
}

void TestProgram::aDamagedDatabaseEndsWith5AndIsKept()
{
    QCOMPARE(call({"agents", "--data", data()}).code, 0);
    QString database;
    for (const QFileInfo &file : QDir(data()).entryInfoList(QDir::Files)) {
        QFile content(file.filePath());
        if (content.open(QIODevice::ReadOnly) && content.read(15) == "SQLite format 3")
            database = file.filePath();
    }
    QVERIFY(!database.isEmpty());
    const QByteArray garbage(8192, 'x');
    QFile file(database);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write(garbage);
    file.close();
    const Ended ended = call({"agents", "--data", data()});
    QCOMPARE(ended.code, 5);
    QVERIFY2(ended.err.contains(QFileInfo(database).fileName()), qPrintable(ended.err));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), garbage);
}

void TestProgram::aCommandWithoutAnInstanceBringsItsOwnEngine()
{
    const Ended agents = call({"agents", "--json", "--data", data()});
    QCOMPARE(agents.code, 0);
    QVERIFY(nlohmann::json::parse(agents.out.toStdString()).is_array());
    QVERIFY(QFileInfo::exists(data()));
    const Ended missing = call({"sessions", "show", "s-none", "--data", data()});
    QCOMPARE(missing.code, 4);
    QVERIFY(missing.err.contains(QStringLiteral("s-none")));
}

void TestProgram::commandsGoToTheRunningInstance()
{
    QProcess headless;
    QVERIFY(startHeadless(headless));
    const Ended sessions = call({"sessions", "--json", "--data", data()});
    QCOMPARE(sessions.code, 0);
    QVERIFY(nlohmann::json::parse(sessions.out.toStdString()).is_array());
    const Ended doctor = call({"doctor", "--data", data()});
    QVERIFY2(doctor.code == 0 || doctor.code == 1, qPrintable(doctor.err));
    QVERIFY(!doctor.out.isEmpty());
    QCOMPARE(call({"approvals", "show", "p-none", "--data", data()}).code, 4);
    headless.terminate();
    QVERIFY(headless.waitForFinished());
    QCOMPARE(headless.exitCode(), 0);
}

void TestProgram::aSecondInstanceIsRefused()
{
    QProcess headless;
    QVERIFY(startHeadless(headless));
    const Ended second = call({"--headless", "--data", data()});
    QCOMPARE(second.code, 7);
    QVERIFY2(!second.err.isEmpty(), qPrintable(second.err));
    // A window on the same folder is told who holds it.
    m_environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    const Ended window = call({"--data", data()});
    QCOMPARE(window.code, 7);
    QVERIFY2(window.err.contains(QString::number(headless.processId())), qPrintable(window.err));
    headless.terminate();
    QVERIFY(headless.waitForFinished());
}

void TestProgram::aHungInstanceIsNamed()
{
    QProcess headless;
    QVERIFY(startHeadless(headless));
    kill(pid_t(headless.processId()), SIGSTOP);
    const Ended ended = call({"agents", "--data", data()});
    kill(pid_t(headless.processId()), SIGCONT);
    QCOMPARE(ended.code, 7);
    QVERIFY2(ended.err.contains(QString::number(headless.processId())), qPrintable(ended.err));
    headless.terminate();
    QVERIFY(headless.waitForFinished());
}

void TestProgram::aKilledInstanceLeavesNoObstacle()
{
    QProcess headless;
    QVERIFY(startHeadless(headless));
    headless.kill();
    QVERIFY(headless.waitForFinished());
    QCOMPARE(call({"agents", "--data", data()}).code, 0);
    QProcess again;
    QVERIFY(startHeadless(again));
    QCOMPARE(call({"agents", "--data", data()}).code, 0);
    again.terminate();
    QVERIFY(again.waitForFinished());
}

void TestProgram::theTermSignalEndsItInOrder()
{
    for (const int number : {SIGTERM, SIGINT}) {
        QProcess headless;
        QVERIFY(startHeadless(headless));
        kill(pid_t(headless.processId()), number);
        QVERIFY(headless.waitForFinished(12000));
        QCOMPARE(headless.exitStatus(), QProcess::NormalExit);
        QCOMPARE(headless.exitCode(), 0);
    }
}

void TestProgram::theDemoHasAFolderOfItsOwn()
{
    const Ended agents = call({"agents", "--demo"});
    QCOMPARE(agents.code, 0);
    QVERIFY(agents.out.contains(QStringLiteral("Demo")));
    QVERIFY(QFileInfo::exists(m_folder->filePath(QStringLiteral("home/signalbox-demo"))));
    QVERIFY(!QFileInfo::exists(m_folder->filePath(QStringLiteral("home/signalbox"))));
}

QTEST_GUILESS_MAIN(TestProgram)
#include "tst_program.moc"
