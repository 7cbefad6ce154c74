// The whole program killed with SIGKILL at awkward moments: the headless console, the real worker, the real Claude Code.
// What is asked and decided goes through the command line, as a person's shell would.
#include "tests/e2e/claudefixture.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

using namespace engine;

namespace {

struct Answer
{
    int code = -1;
    QByteArray out;
    QByteArray err;
    QJsonDocument json() const { return QJsonDocument::fromJson(out); }
};

} // namespace

class TestCrash final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase_data() { addClaudeVersions(); }
    void initTestCase()
    {
        if (qEnvironmentVariable("SIGNALBOX_CLAUDE_332").isEmpty() && qEnvironmentVariable("SIGNALBOX_CLAUDE_197").isEmpty())
            QSKIP("no real Claude Code: run installer/test.sh, which installs the pinned versions");
    }
    void init();
    void cleanup();

    void b97_killedWhileStreaming();
    void b16_b97_killedWhilePaused();
    void killedRightAfterTheDecision();

private:
    bool startConsole();
    void killConsole();
    Answer call(const QStringList &words);
    QString waitFor(const QStringList &words, const std::function<QString(const QJsonDocument &)> &found, int timeoutMs = 40000);
    QList<qint64> claudePids() const;

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<StandInAnthropic> m_api;
    std::unique_ptr<QProcess> m_console;
    QProcessEnvironment m_environment;
};

void TestCrash::init()
{
    QFETCH_GLOBAL(QString, program);
    m_folder = std::make_unique<QTemporaryDir>();
    m_api = std::make_unique<StandInAnthropic>();
    QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("bin")));
    QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("run")));
    QFile::setPermissions(m_folder->filePath(QStringLiteral("run")), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QVERIFY(QFile::link(program, m_folder->filePath(QStringLiteral("bin/claude"))));
    m_environment.insert(QStringLiteral("PATH"), m_folder->filePath(QStringLiteral("bin")) + QStringLiteral(":/usr/bin:/bin"));
    m_environment.insert(QStringLiteral("HOME"), m_folder->path());
    m_environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), m_folder->filePath(QStringLiteral("run")));
    m_environment.insert(QStringLiteral("LANG"), QStringLiteral("C.UTF-8"));
    m_environment.insert(QStringLiteral("ANTHROPIC_BASE_URL"), QStringLiteral("http://127.0.0.1:%1").arg(m_api->port()));
    m_environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("test-key-for-the-stand-in"));
    QVERIFY(startConsole());
}

void TestCrash::cleanup()
{
    for (const qint64 pid : claudePids())
        ::kill(pid_t(pid), SIGKILL);
    if (m_console) {
        QSignalSpy finished(m_console.get(), &QProcess::finished);
        m_console->terminate();
        if (m_console->state() != QProcess::NotRunning && !finished.wait(10000))
            m_console->kill();
    }
    m_console.reset();
    // Workers of this test's folder, by their own ids.
    for (const QString &entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(entry));
        bool isPid = false;
        const qint64 pid = entry.toLongLong(&isPid);
        if (isPid && commandLine.open(QIODevice::ReadOnly)) {
            const QByteArray words = commandLine.readAll();
            if (words.contains("signalbox-worker") && words.contains(m_folder->path().toUtf8()))
                ::kill(pid_t(pid), SIGKILL);
        }
    }
    m_api.reset();
    m_folder.reset();
}

bool TestCrash::startConsole()
{
    m_console = std::make_unique<QProcess>();
    m_console->setProcessEnvironment(m_environment);
    m_console->setProcessChannelMode(QProcess::MergedChannels);
    m_console->start(QStringLiteral(BINARY_DIR "/bin/signalbox-headless"),
                     {QStringLiteral("--headless"), QStringLiteral("--data"), m_folder->filePath(QStringLiteral("data"))});
    QByteArray said;
    return QTest::qWaitFor([&] {
        said += m_console->readAll();
        return said.contains("engine started");
    }, 20000);
}

void TestCrash::killConsole()
{
    QSignalSpy finished(m_console.get(), &QProcess::finished);
    ::kill(pid_t(m_console->processId()), SIGKILL);
    if (m_console->state() != QProcess::NotRunning)
        finished.wait(5000);
}

Answer TestCrash::call(const QStringList &words)
{
    QProcess process;
    process.setProcessEnvironment(m_environment);
    QSignalSpy finished(&process, &QProcess::finished);
    process.start(QStringLiteral(BINARY_DIR "/bin/signalbox-headless"),
                  QStringList{QStringLiteral("--data"), m_folder->filePath(QStringLiteral("data"))} + words);
    if (finished.isEmpty() && !finished.wait(60000))
        return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QString TestCrash::waitFor(const QStringList &words, const std::function<QString(const QJsonDocument &)> &found, int timeoutMs)
{
    QString result;
    const bool came = QTest::qWaitFor([&] {
        result = found(call(words).json());
        return !result.isEmpty();
    }, timeoutMs);
    return came ? result : QString();
}

QList<qint64> TestCrash::claudePids() const
{
    QList<qint64> pids;
    for (const QString &entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        bool isPid = false;
        const qint64 pid = entry.toLongLong(&isPid);
        QFile environ(QStringLiteral("/proc/%1/environ").arg(pid));
        QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(pid));
        if (isPid && environ.open(QIODevice::ReadOnly) && commandLine.open(QIODevice::ReadOnly) &&
            environ.readAll().contains(m_folder->path().toUtf8()) && commandLine.readAll().contains("stream-json"))
            pids.append(pid);
    }
    return pids;
}

void TestCrash::b97_killedWhileStreaming()
{
    const Answer started = call({QStringLiteral("run"), QStringLiteral("--agent"), QStringLiteral("Claude Code"), QStringLiteral("--no-wait"),
                                 QStringLiteral("--json"), QStringLiteral("[[slow 60 60]]")});
    QVERIFY2(started.code == 0, started.err.constData());
    QVERIFY(QTest::qWaitFor([&] { return !m_api->requests().isEmpty(); }, 30000));
    QTest::qWait(800);
    const QList<qint64> pids = claudePids();
    QCOMPARE(pids.size(), 1);
    killConsole();
    QTest::qWait(300);
    QCOMPARE(claudePids(), pids);
    QVERIFY(startConsole());
    QCOMPARE(claudePids(), pids);
    const QString session = waitFor({QStringLiteral("sessions"), QStringLiteral("list"), QStringLiteral("--json")}, [](const QJsonDocument &json) {
        const QJsonObject first = json.array().first().toObject();
        return first.value(QStringLiteral("activeRun")).toString().isEmpty() ? first.value(QStringLiteral("id")).toString() : QString();
    });
    QVERIFY(!session.isEmpty());
    const Answer shown = call({QStringLiteral("sessions"), QStringLiteral("show"), session, QStringLiteral("--json")});
    QString wanted;
    for (int i = 0; i < 60; ++i)
        wanted += (i ? QStringLiteral(" word%1") : QStringLiteral("word%1")).arg(i);
    QVERIFY2(QString::fromUtf8(shown.out).contains(wanted), shown.out.constData());
    QCOMPARE(QString::fromUtf8(shown.out).count(QStringLiteral("word59")), 1);
    int prompts = 0;
    for (const StandInAnthropic::Request &request : m_api->requests())
        prompts += request.directive == u"slow" ? 1 : 0;
    QCOMPARE(prompts, 1);
}

void TestCrash::b16_b97_killedWhilePaused()
{
    const Answer started = call({QStringLiteral("run"), QStringLiteral("--agent"), QStringLiteral("Claude Code"), QStringLiteral("--no-wait"),
                                 QStringLiteral("--json"), QStringLiteral("[[bash touch made.txt && echo made]]")});
    QVERIFY2(started.code == 0, started.err.constData());
    QJsonObject before;
    const auto pending = [&before](const QJsonDocument &json) {
        before = json.array().first().toObject();
        return before.value(QStringLiteral("id")).toString();
    };
    const QStringList list{QStringLiteral("approvals"), QStringLiteral("list"), QStringLiteral("--json")};
    const QString id = waitFor(list, pending);
    QVERIFY(!id.isEmpty());
    const QJsonObject first = before;
    const QList<qint64> pids = claudePids();
    QCOMPARE(pids.size(), 1);
    killConsole();
    QVERIFY(startConsole());
    QCOMPARE(claudePids(), pids);
    QCOMPARE(waitFor(list, pending), id);
    QCOMPARE(before.value(QStringLiteral("expiresAt")), first.value(QStringLiteral("expiresAt")));
    QCOMPARE(before.value(QStringLiteral("digest")), first.value(QStringLiteral("digest")));
    QCOMPARE(before.value(QStringLiteral("nativeLost")).toBool(), false);
    // The wrong digest is refused with its own exit code, the right one goes on in the same process.
    const Answer wrong = call({QStringLiteral("approvals"), QStringLiteral("resolve"), id, QStringLiteral("--approve"), QStringLiteral("--digest"),
                               QString(64, u'0')});
    QCOMPARE(wrong.code, 3);
    const Answer early = call({QStringLiteral("approvals"), QStringLiteral("continue"), first.value(QStringLiteral("runId")).toString()});
    QCOMPARE(early.code, 3);
    const Answer resolved = call({QStringLiteral("approvals"), QStringLiteral("resolve"), id, QStringLiteral("--approve"), QStringLiteral("--digest"),
                                  first.value(QStringLiteral("digest")).toString()});
    QVERIFY2(resolved.code == 0, resolved.err.constData());
    const Answer continued = call({QStringLiteral("approvals"), QStringLiteral("continue"), first.value(QStringLiteral("runId")).toString(),
                                   QStringLiteral("--wait")});
    QVERIFY2(continued.code == 0, continued.err.constData());
    QCOMPARE(claudePids(), pids);
    QVERIFY(m_api->requests().last().lastToolResult.contains(QStringLiteral("made")));
}

void TestCrash::killedRightAfterTheDecision()
{
    const Answer started = call({QStringLiteral("run"), QStringLiteral("--agent"), QStringLiteral("Claude Code"), QStringLiteral("--no-wait"),
                                 QStringLiteral("--json"), QStringLiteral("[[bash touch once-$$.txt && ls | grep -c once]]")});
    QVERIFY2(started.code == 0, started.err.constData());
    QJsonObject approval;
    const QString id = waitFor({QStringLiteral("approvals"), QStringLiteral("list"), QStringLiteral("--json")}, [&](const QJsonDocument &json) {
        approval = json.array().first().toObject();
        return approval.value(QStringLiteral("id")).toString();
    });
    QVERIFY(!id.isEmpty());
    const Answer resolved = call({QStringLiteral("approvals"), QStringLiteral("resolve"), id, QStringLiteral("--approve"), QStringLiteral("--digest"),
                                  approval.value(QStringLiteral("digest")).toString(), QStringLiteral("--continue")});
    QVERIFY2(resolved.code == 0, resolved.err.constData());
    killConsole();
    QVERIFY(startConsole());
    const QString session = waitFor({QStringLiteral("sessions"), QStringLiteral("list"), QStringLiteral("--json")}, [](const QJsonDocument &json) {
        const QJsonObject first = json.array().first().toObject();
        return first.value(QStringLiteral("activeRun")).toString().isEmpty() ? first.value(QStringLiteral("id")).toString() : QString();
    });
    QVERIFY(!session.isEmpty());
    const Answer shown = call({QStringLiteral("approvals"), QStringLiteral("show"), id, QStringLiteral("--json")});
    QCOMPARE(shown.json().object().value(QStringLiteral("delivery")).toString(), QStringLiteral("executed"));
    // It ran exactly once.
    QVERIFY2(m_api->requests().last().lastToolResult.startsWith(u'1'), qPrintable(m_api->requests().last().lastToolResult));
}

QTEST_GUILESS_MAIN(TestCrash)
#include "tst_crash.moc"
