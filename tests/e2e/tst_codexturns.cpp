// Turns end to end: the real Codex, the real worker, a stand-in for the model's API only.
#include "tests/e2e/codexfixture.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

using namespace engine;

class TestCodexTurns final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        if (qEnvironmentVariable("SIGNALBOX_CODEX").isEmpty())
            QSKIP("no real Codex: run installer/test.sh, which installs the pinned version");
    }

    void streamedAnswerAndWarmTurn();
    void thoughtsAreShown();
    void readOnlyCommandRunsInTheSandbox();
    void consoleToolIsOffered();
    void interruptEndsCommandsToo();
    void overloadIsRetriedAndShown();
    void unauthorisedStopsAtOnce();
    void cutStreamReplacesPartialText();
    void b97_engineRestartsInTheTurn();
    void b97_consoleKilledInTheTurn();
    void resumeAfterTheProcessIsKilled();
    void b47_missingAndDamagedRollout();
    void unknownPolicyAndVersionFailClosed();
    void b56_oldSandboxSpelling();
    void keyIsNowhereInTheStore();
    void modelAndPolicyOfASession();

private:
    // Ends the session's idle process the way time does.
    static bool coolDown(CodexFixture &fixture)
    {
        fixture.time->advance(301 * 1000);
        return QTest::qWaitFor([&] { return fixture.harnessPids().isEmpty(); }, 15000);
    }
};

void TestCodexTurns::streamedAnswerAndWarmTurn()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[text one two three four]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QTRY_COMPARE(fixture.liveText, QStringLiteral("one two three four"));
    QCOMPARE(fixture.transcript(session.id), QStringLiteral("prompt:[[text one two three four]]|answer:one two three four"));
    QCOMPARE(fixture.run(run.id).usage.inputTokens, 100);
    QCOMPARE(fixture.run(run.id).usage.outputTokens, 25);
    // The conversation is the one that Codex began, and it can be found again.
    const NativeIdentity native = fixture.native(session);
    QVERIFY(native.nativeSessionId != session.native.nativeSessionId);
    QCOMPARE(fixture.api.requests().first().threadId, native.nativeSessionId);
    QVERIFY2(QFileInfo::exists(native.transcriptPath), qPrintable(native.transcriptPath));
    QVERIFY(native.transcriptSize > 0);

    const QList<qint64> pids = fixture.harnessPids();
    QCOMPARE(pids.size(), 1);
    const Run second = fixture.submit(session, QStringLiteral("[[usage 1000 70]]"));
    QVERIFY(fixture.settles(second.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
    QCOMPARE(fixture.native(session).nativeSessionId, native.nativeSessionId);
    QCOMPARE(fixture.run(second.id).usage.inputTokens, 1000); // of this turn alone
    QCOMPARE(fixture.run(second.id).usage.outputTokens, 70);
    QCOMPARE(fixture.api.requests().last().userTexts.filter(QStringLiteral("one two three four")).size(), 1);
}

void TestCodexTurns::thoughtsAreShown()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[think Thought done.]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY2(fixture.transcript(session.id).endsWith(QStringLiteral("answer:Thought done.")), qPrintable(fixture.transcript(session.id)));
}

// Under on-request its own sandbox holds the line: what only reads is not asked about. (A command that fails at once
// may be told by no item at all, hence the sleep.)
void TestCodexTurns::readOnlyCommandRunsInTheSandbox()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[exec echo $((40+2)); touch made.txt; sleep 0.5; exit 3]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(fixture.pending().isEmpty());
    QVERIFY(!QFileInfo::exists(session.workspace + QStringLiteral("/made.txt")));
    bool seen = false;
    for (const Block &block : fixture.blocks(session.id)) {
        seen = seen || (block.kind == BlockKind::Tool && block.tool == ToolState::Failed && block.output.contains(u"42") &&
                        block.output.contains(u"exit code"));
    }
    QVERIFY2(seen, qPrintable(fixture.transcript(session.id)));
}

void TestCodexTurns::consoleToolIsOffered()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[tool session_info {}]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY2(fixture.api.requests().last().lastToolResult.contains(session.workspace),
             qPrintable(fixture.api.requests().last().lastToolResult));
}

void TestCodexTurns::interruptEndsCommandsToo()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run text = fixture.submit(session, QStringLiteral("[[slow 200 50]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.liveText.contains(QStringLiteral("word3")); }, 40000));
    const QList<qint64> pids = fixture.harnessPids();
    QVERIFY(fixture.get(fixture.client->cancelRun(text.id, QStringLiteral("olga"))).has_value());
    // What had been said stays readable; the next turn runs in the same process.
    const Run command = fixture.submit(session, QStringLiteral("[[exec echo begun; sleep 98765]]"));
    const auto sleeping = [] {
        QProcess ps;
        ps.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QStringLiteral("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '")});
        ps.waitForFinished();
        return ps.readAllStandardOutput().contains("sleep 98765");
    };
    QVERIFY(QTest::qWaitFor(sleeping, 40000));
    QVERIFY2(fixture.transcript(session.id).contains(QStringLiteral("answer:word0")), qPrintable(fixture.transcript(session.id)));
    QVERIFY(fixture.get(fixture.client->cancelRun(command.id, QStringLiteral("olga"))).has_value());
    // Codex would leave it running behind the interrupt.
    QVERIFY(QTest::qWaitFor([&] { return !sleeping(); }, 15000));
    const Run next = fixture.submit(session, QStringLiteral("[[text after the stop]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
}

void TestCodexTurns::overloadIsRetriedAndShown()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[statusonce 500 6]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(fixture.api.requests().size() >= 7);
    QCOMPARE(fixture.transcript(session.id).count(QStringLiteral("warning")), 1); // one line however often it is retried
    for (const Block &block : fixture.blocks(session.id)) {
        if (block.kind == BlockKind::Warning)
            QVERIFY2(block.text.contains(QStringLiteral("Retry")), qPrintable(block.text));
    }
}

void TestCodexTurns::unauthorisedStopsAtOnce()
{
    CodexFixture fixture;
    fixture.environment.insert(QStringLiteral("OPENAI_API_KEY"), QStringLiteral("bad-key"));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(run.id, RunState::Error, 40000));
    QCOMPARE(fixture.run(run.id).errorCode, QStringLiteral("credential_missing"));
    QVERIFY2(fixture.run(run.id).errorMessage.contains(QStringLiteral("401")), qPrintable(fixture.run(run.id).errorMessage));
    // Without a key at all nothing is started.
    fixture.endSessions();
    fixture.stop();
    fixture.environment.remove(QStringLiteral("OPENAI_API_KEY"));
    QVERIFY(fixture.start());
    const Session keyless = fixture.session(fixture.codex());
    const Run second = fixture.submit(keyless, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(second.id, RunState::Error));
    QCOMPARE(fixture.run(second.id).errorCode, QStringLiteral("credential_missing"));
    QVERIFY(fixture.harnessPids().isEmpty());
}

void TestCodexTurns::cutStreamReplacesPartialText()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[cut 3]]"));
    QVERIFY(fixture.settles(run.id, RunState::Error, 90000));
    int answers = 0;
    for (const Block &block : fixture.blocks(session.id))
        answers += block.kind == BlockKind::Answer ? 1 : 0;
    QVERIFY2(answers <= 1, qPrintable(fixture.transcript(session.id)));
    const Run next = fixture.submit(session, QStringLiteral("[[text and on]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
}

void TestCodexTurns::b97_engineRestartsInTheTurn()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[slow 60 50]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.liveText.contains(QStringLiteral("word5")); }, 40000));
    const QList<qint64> pids = fixture.harnessPids();
    fixture.stop();
    QCOMPARE(fixture.harnessPids(), pids);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
    QString wanted;
    for (int i = 0; i < 60; ++i)
        wanted += (i ? QStringLiteral(" word%1") : QStringLiteral("word%1")).arg(i);
    int answers = 0;
    for (const Block &block : fixture.blocks(session.id)) {
        if (block.kind == BlockKind::Answer) {
            QCOMPARE(block.text, wanted);
            ++answers;
        }
    }
    QCOMPARE(answers, 1);
    QCOMPARE(fixture.promptsSeen(QStringLiteral("slow")), 1);
    const Run next = fixture.submit(session, QStringLiteral("[[text on]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
}

// The whole program gone with SIGKILL: nothing had time to be put in order.
void TestCodexTurns::b97_consoleKilledInTheTurn()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    fixture.stop();
    QProcessEnvironment environment;
    for (auto it = fixture.environment.begin(); it != fixture.environment.end(); ++it)
        environment.insert(it.key(), it.value());
    const QString runtime = fixture.folder.filePath(QStringLiteral("runtime"));
    QVERIFY(QDir().mkpath(runtime));
    QFile::setPermissions(runtime, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), runtime);
    const QString headless = QStringLiteral(BINARY_DIR "/bin/signalbox-headless");
    const QStringList data{QStringLiteral("--data"), fixture.folder.filePath(QStringLiteral("data"))};
    const auto startConsole = [&](QProcess &console) {
        console.setProcessEnvironment(environment);
        console.setProcessChannelMode(QProcess::MergedChannels);
        console.start(headless, QStringList{QStringLiteral("--headless")} + data);
        QByteArray said;
        return QTest::qWaitFor([&] {
            said += console.readAll();
            return said.contains("engine started");
        }, 20000);
    };
    const auto call = [&](const QStringList &words) {
        QProcess process;
        process.setProcessEnvironment(environment);
        QSignalSpy finished(&process, &QProcess::finished);
        process.start(headless, data + words);
        if (finished.isEmpty())
            finished.wait(60000);
        return process.readAllStandardOutput();
    };
    QProcess first;
    QVERIFY(startConsole(first));
    call({QStringLiteral("run"), QStringLiteral("--agent"), QStringLiteral("Codex"), QStringLiteral("--no-wait"), QStringLiteral("--json"),
          QStringLiteral("[[seq echo $((6*7)) ;; echo again ;; sleep 2; echo end]]")});
    QVERIFY(QTest::qWaitFor([&] { return fixture.api.requests().size() >= 2; }, 40000));
    const QList<qint64> pids = fixture.harnessPids();
    QCOMPARE(pids.size(), 1);
    QSignalSpy gone(&first, &QProcess::finished);
    ::kill(pid_t(first.processId()), SIGKILL);
    QVERIFY(!gone.isEmpty() || gone.wait(5000));
    QCOMPARE(fixture.harnessPids(), pids);
    QProcess second;
    QVERIFY(startConsole(second));
    QByteArray shown;
    QVERIFY(QTest::qWaitFor([&] {
        shown = call({QStringLiteral("sessions"), QStringLiteral("list"), QStringLiteral("--json")});
        for (const QJsonValue &entry : QJsonDocument::fromJson(shown).array()) {
            if (!entry.toObject().value(QStringLiteral("activeRun")).toString().isEmpty())
                return false;
        }
        return !shown.isEmpty();
    }, 60000));
    QCOMPARE(fixture.harnessPids(), pids);
    QCOMPARE(fixture.promptsSeen(QStringLiteral("seq")), 1);
    QCOMPARE(fixture.api.requests().size(), 4);
    for (const qint64 pid : pids)
        ::kill(pid_t(pid), SIGKILL);
    QSignalSpy ended(&second, &QProcess::finished);
    second.terminate();
    QVERIFY(!ended.isEmpty() || ended.wait(10000));
    // The next engine looks for workers in another runtime folder.
    for (const qint64 pid : fixture.workerPids())
        ::kill(pid_t(pid), SIGKILL);
    QVERIFY(fixture.start());
    Q_UNUSED(session)
    const auto sessions = fixture.get(fixture.client->sessions({}));
    QVERIFY(sessions.has_value());
    int tools = 0;
    for (const Session &one : *sessions)
        tools += int(fixture.transcript(one.id).count(QStringLiteral("tool(commandExecution,done)")));
    QCOMPARE(tools, 3); // neither lost nor doubled
}

void TestCodexTurns::resumeAfterTheProcessIsKilled()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run first = fixture.submit(session, QStringLiteral("[[text remember the word kingfisher]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    const QString thread = fixture.native(session).nativeSessionId;
    const Run cut = fixture.submit(session, QStringLiteral("[[slow 200 50]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.liveText.contains(QStringLiteral("word2")); }, 40000));
    for (const qint64 pid : fixture.harnessPids())
        ::kill(pid_t(pid), SIGKILL);
    QVERIFY(fixture.settles(cut.id, RunState::Error));
    QVERIFY2(fixture.run(cut.id).errorMessage.contains(QStringLiteral("signal 9")), qPrintable(fixture.run(cut.id).errorMessage));
    const Run third = fixture.submit(session, QStringLiteral("[[text and back]]"));
    QVERIFY(fixture.settles(third.id, RunState::Completed));
    QCOMPARE(fixture.native(session).nativeSessionId, thread);
    QCOMPARE(fixture.api.requests().last().threadId, thread);
    QCOMPARE(fixture.api.requests().last().userTexts.filter(QStringLiteral("kingfisher")).size(), 1);
    // And once more, from a turn that ended well.
    for (const qint64 pid : fixture.harnessPids())
        ::kill(pid_t(pid), SIGKILL);
    QVERIFY(QTest::qWaitFor([&] { return !fixture.get(fixture.client->session(session.id)).value_or(Session{}).warm; }, 10000));
    const Run fourth = fixture.submit(session, QStringLiteral("[[text again]]"));
    QVERIFY(fixture.settles(fourth.id, RunState::Completed));
    QCOMPARE(fixture.api.requests().last().threadId, thread);
}

void TestCodexTurns::b47_missingAndDamagedRollout()
{
    CodexFixture fixture(true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    QTRY_VERIFY(fixture.native(session).transcriptSize > 0);
    QVERIFY(coolDown(fixture));
    const NativeIdentity native = fixture.native(session);
    QFile rollout(native.transcriptPath);
    QVERIFY(rollout.open(QIODevice::ReadWrite));
    const QByteArray whole = rollout.readAll();
    const qsizetype requests = fixture.api.requests().size();
    const auto refuses = [&](const QByteArray &bytes) {
        rollout.resize(0);
        rollout.seek(0);
        rollout.write(bytes);
        rollout.flush();
        const Run run = fixture.submit(session, QStringLiteral("[[text again]]"));
        return fixture.settles(run.id, RunState::Error) && fixture.run(run.id).errorCode == u"native_resume_failed";
    };
    QVERIFY(refuses(whole.left(whole.size() / 2))); // Codex itself would resume this without a word
    QVERIFY(refuses(whole.left(whole.indexOf('\n') + 1)));
    QByteArray changed = whole;
    changed[whole.size() / 2] = '#';
    QVERIFY(refuses(changed));
    QVERIFY(refuses({}));
    QVERIFY(refuses(whole + "garbage\n{}\n"));
    QCOMPARE(fixture.api.requests().size(), requests);
    QCOMPARE(fixture.native(session).nativeSessionId, native.nativeSessionId);
    // Whole again, it goes on.
    rollout.resize(0);
    rollout.seek(0);
    rollout.write(whole);
    rollout.close();
    const Run again = fixture.submit(session, QStringLiteral("[[text restored]]"));
    QVERIFY(fixture.settles(again.id, RunState::Completed));
    QVERIFY(coolDown(fixture));
    QVERIFY(QFile::remove(native.transcriptPath));
    const Run missing = fixture.submit(session, QStringLiteral("[[text again]]"));
    QVERIFY(fixture.settles(missing.id, RunState::Error));
    QCOMPARE(fixture.run(missing.id).errorCode, QStringLiteral("native_resume_failed"));
    // "Start fresh" is a separate act.
    QVERIFY(fixture.get(fixture.client->startFresh(session.id, QStringLiteral("olga"))).has_value());
    const Run fresh = fixture.submit(session, QStringLiteral("[[text a new beginning]]"));
    QVERIFY(fixture.settles(fresh.id, RunState::Completed));
    QVERIFY(fixture.native(session).nativeSessionId != native.nativeSessionId);
}

void TestCodexTurns::unknownPolicyAndVersionFailClosed()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    Agent agent = fixture.codex();
    agent.approvalPolicy = QStringLiteral("on-failure");
    const auto refused = fixture.get(fixture.client->saveAgent(agent, QStringLiteral("test")));
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::Invalid));
    // A policy that got into the store by another way is not passed on either.
    const Session session = fixture.session(fixture.codex());
    fixture.sql(QStringLiteral("UPDATE agent SET settings = json_set(settings, '$.approval_policy', 'on-failure')"));
    const Run run = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QVERIFY2(fixture.run(run.id).errorMessage.contains(QStringLiteral("on-failure")), qPrintable(fixture.run(run.id).errorMessage));

    // Versions whose gate is unknown.
    const QString old = fixture.folder.filePath(QStringLiteral("codex-old"));
    QFile script(old);
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\necho codex-cli 0.100.0\n");
    script.close();
    script.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    const Session older = fixture.session(fixture.codex([&](Agent &changed) { changed.program = old; }));
    const Run second = fixture.submit(older, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(second.id, RunState::Error));
    QCOMPARE(fixture.run(second.id).errorCode, QStringLiteral("program_version"));
    QVERIFY2(fixture.run(second.id).errorMessage.contains(QStringLiteral("0.171.0")), qPrintable(fixture.run(second.id).errorMessage));
    QVERIFY(fixture.api.requests().isEmpty());
}

void TestCodexTurns::b56_oldSandboxSpelling()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const auto warnings = [&] {
        return std::count_if(fixture.notices.begin(), fixture.notices.end(),
                             [](const Notice &notice) { return notice.title.contains(QStringLiteral("sandbox_mode")); });
    };
    Agent agent = fixture.codex([](Agent &changed) { changed.sandbox = QStringLiteral("workspace-write"); });
    QCOMPARE(agent.sandboxMode, QStringLiteral("workspace-write"));
    QVERIFY(agent.sandbox.isEmpty());
    QTRY_COMPARE(warnings(), 1);
    agent.sandbox = QStringLiteral("read-only");
    const auto both = fixture.get(fixture.client->saveAgent(agent, QStringLiteral("test")));
    QVERIFY(!both.has_value());
    QCOMPARE(toString(both.error().code), toString(ErrorCode::Invalid));
    // It works as sandbox_mode does: a command may write into the workspace.
    const Session session = fixture.session(fixture.get(fixture.client->saveAgent(
        [&] { Agent saved = agent; saved.sandbox.clear(); return saved; }(), QStringLiteral("test"))).value());
    const Run run = fixture.submit(session, QStringLiteral("[[exec echo hi > made.txt]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY(QFileInfo::exists(session.workspace + QStringLiteral("/made.txt")));

    // The same in a store that an older program wrote: taken over at the start, told once, other settings kept.
    fixture.endSessions();
    fixture.stop();
    fixture.sql(QStringLiteral("UPDATE agent SET settings = json_set(json_remove(settings, '$.sandbox_mode'), '$.sandbox', "
                               "'read-only', '$.of_a_newer_program', 7) WHERE id = '%1'")
                    .arg(agent.id.value));
    fixture.notices.clear();
    QVERIFY(fixture.start());
    QTRY_COMPARE(warnings(), 1);
    const auto agents = fixture.get(fixture.client->agents());
    QVERIFY(agents.has_value());
    for (const Agent &one : *agents) {
        if (one.id == agent.id)
            QCOMPARE(one.sandboxMode, QStringLiteral("read-only"));
    }
    const QString kept = fixture.sql(QStringLiteral("SELECT settings FROM agent WHERE id = '%1'").arg(agent.id.value)).value(0).toString();
    QVERIFY2(kept.contains(QStringLiteral("\"of_a_newer_program\":7")), qPrintable(kept));
    QVERIFY(!kept.contains(QStringLiteral("\"sandbox\":")));
    fixture.stop();
    fixture.notices.clear();
    QVERIFY(fixture.start());
    QTest::qWait(200);
    QCOMPARE(warnings(), 0);
}

void TestCodexTurns::keyIsNowhereInTheStore()
{
    CodexFixture fixture;
    const QByteArray key = "sk-secret-0123456789abcdef";
    fixture.environment.insert(QStringLiteral("OPENAI_API_KEY"), QString::fromLatin1(key));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run run = fixture.submit(session, QStringLiteral("[[exec env | sort | grep -c OPENAI_API_KEY]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.api.requests().last().key, QString::fromLatin1(key));
    // The model's commands do not have it in their environment.
    QVERIFY2(fixture.api.requests().last().lastToolResult.contains(QStringLiteral("\n0\n")) ||
                 fixture.api.requests().last().lastToolResult.trimmed().endsWith(u'0'),
             qPrintable(fixture.api.requests().last().lastToolResult));
    fixture.stop();
    QDir data(fixture.folder.filePath(QStringLiteral("data")));
    for (const QString &name : data.entryList({QStringLiteral("signalbox.db*")})) {
        QFile file(data.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY2(!file.readAll().contains(key), qPrintable(name));
    }
    QVERIFY(fixture.start());
}

void TestCodexTurns::modelAndPolicyOfASession()
{
    CodexFixture fixture;
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.codex());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    QVERIFY(fixture.get(fixture.client->setSessionModel(session.id, QStringLiteral("gpt-5.6"))).has_value());
    QVERIFY(fixture.get(fixture.client->setSessionMode(session.id, QStringLiteral("untrusted"))).has_value());
    const auto bogus = fixture.get(fixture.client->setSessionMode(session.id, QStringLiteral("acceptEdits")));
    QVERIFY(!bogus.has_value());
    QCOMPARE(toString(bogus.error().code), toString(ErrorCode::Invalid));
    const Run second = fixture.submit(session, QStringLiteral("[[text again]]"));
    QVERIFY(fixture.settles(second.id, RunState::Completed));
    QCOMPARE(fixture.api.requests().last().model, QStringLiteral("gpt-5.6"));
}

QTEST_GUILESS_MAIN(TestCodexTurns)
#include "tst_codexturns.moc"
