// Turns end to end: streaming, order, warmth, failures, identity. The real Claude Code against the stand-in API.
#include "tests/e2e/claudefixture.h"

using namespace engine;

class TestClaudeTurns final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase_data() { addClaudeVersions(); }
    void initTestCase()
    {
        if (qEnvironmentVariable("SIGNALBOX_CLAUDE_332").isEmpty() && qEnvironmentVariable("SIGNALBOX_CLAUDE_197").isEmpty())
            QSKIP("no real Claude Code: run installer/test.sh, which installs the pinned versions");
    }

    void streamedAnswerAndWarmTurn();
    void b31_b32_b35_orderAndOverlap();
    void b41_idempotencyAndLimit();
    void b42_cancelWhileWaiting();
    void interruptKeepsTheProcess();
    void unauthorisedStopsAtOnce();
    void overloadIsRetriedAndShown();
    void cutStreamReplacesPartialText();
    void resumeAfterTheProcessIsKilled();
    void b47_missingTranscriptFailsTheTurn();
    void b47_damagedTranscriptFailsTheTurn();
    void modelAndModeChangeInALivingProcess();
    void consoleToolIsOffered();
    void missingKeyAndProgramAreClear();
    void keyIsNowhereInTheStore();
    void sameConversationCannotBeOpenedTwice();

private:
    QString transcriptOf(ClaudeFixture &fixture, const SessionId &id)
    {
        return fixture.get(fixture.client->session(id)).value_or(Session{}).native.transcriptPath;
    }
    // Ends the session's idle process the way time does.
    bool coolDown(ClaudeFixture &fixture)
    {
        fixture.time->advance(301 * 1000);
        return QTest::qWaitFor([&] { return fixture.harnessPids().isEmpty(); }, 15000);
    }
};

void TestClaudeTurns::streamedAnswerAndWarmTurn()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, QStringLiteral("[[text one two three four]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QTRY_COMPARE(fixture.liveText, QStringLiteral("one two three four"));
    QCOMPARE(fixture.transcript(session.id),
             QStringLiteral("prompt:[[text one two three four]]|answer:one two three four"));
    const Run done = fixture.run(run.id);
    QVERIFY(done.usage.inputTokens > 0);
    QVERIFY(done.usage.outputTokens > 0);
    QVERIFY(done.usage.costMicros > 0);
    QTRY_VERIFY(fixture.lastSeen(run.id) == RunState::Completed);
    QVERIFY(QFileInfo::exists(transcriptOf(fixture, session.id)));

    const QList<qint64> pids = fixture.harnessPids();
    const Run second = fixture.submit(session, QStringLiteral("[[usage 1000 100]]"));
    QVERIFY(fixture.settles(second.id, RunState::Completed));
    QCOMPARE(fixture.harnessPids(), pids);
    // Money is of this turn alone although the harness counts up.
    const qint64 first = done.usage.costMicros;
    QVERIFY2(fixture.run(second.id).usage.costMicros != first, "the second turn costs something else");
    QVERIFY(fixture.run(second.id).usage.inputTokens == 1000);
}

void TestClaudeTurns::b31_b32_b35_orderAndOverlap()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Agent agent = fixture.claude();
    const Session a = fixture.session(agent);
    const Session b = fixture.session(agent);
    QList<RunId> line;
    for (int i = 1; i <= 3; ++i)
        line.append(fixture.submit(a, QStringLiteral("[[slow 6 60]] number %1").arg(i)).id);
    const Run other = fixture.submit(b, QStringLiteral("[[slow 6 60]] elsewhere"));
    bool overlapped = false;
    QVERIFY(QTest::qWaitFor([&] {
        const QList<Run> runs = fixture.get(fixture.client->runs({}, 100)).value_or(QList<Run>{});
        int inA = 0;
        bool inB = false;
        for (const Run &run : runs) {
            inA += run.sessionId == a.id && run.state == RunState::Running ? 1 : 0;
            inB = inB || (run.id == other.id && run.state == RunState::Running);
        }
        if (inA > 1)
            qFatal("two runs of one session at the same time");
        overlapped = overlapped || (inA == 1 && inB);
        return fixture.state(line.last()) == RunState::Completed && fixture.state(other.id) == RunState::Completed;
    }, 60000));
    QVERIFY(overlapped);
    for (int i = 0; i + 1 < line.size(); ++i)
        QVERIFY(fixture.run(line.at(i)).endedAt <= fixture.run(line.at(i + 1)).startedAt);
    QStringList prompts;
    for (const Block &block : fixture.blocks(a.id)) {
        if (block.kind == BlockKind::Prompt)
            prompts.append(block.text.right(1));
    }
    QCOMPARE(prompts, (QStringList{QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("3")}));
}

void TestClaudeTurns::b41_idempotencyAndLimit()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude([](Agent &agent) { agent.maxQueued = 2; }));
    const Run head = fixture.submit(session, QStringLiteral("[[bash touch x]]"));
    fixture.nextApproval();
    const Run first = fixture.submit(session, QStringLiteral("[[text 1]]"), QStringLiteral("same"));
    const Run again = fixture.submit(session, QStringLiteral("[[text other]]"), QStringLiteral("same"));
    QCOMPARE(again.id, first.id);
    fixture.submit(session, QStringLiteral("[[text 2]]"));
    const auto refused =
        fixture.get(fixture.client->submit({session.id, QStringLiteral("[[text 3]]"), QStringLiteral("olga"), {}, {}}));
    QVERIFY(!refused.has_value());
    QCOMPARE(toString(refused.error().code), toString(ErrorCode::QueueFull));
    QVERIFY2(refused.error().message.contains(u'2'), qPrintable(refused.error().message));
    QCOMPARE(toString(fixture.state(head.id)), toString(RunState::Paused));
}

void TestClaudeTurns::b42_cancelWhileWaiting()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    fixture.submit(session, QStringLiteral("[[bash touch x]]"));
    fixture.nextApproval();
    const Run waiting = fixture.submit(session, QStringLiteral("[[text never]]"));
    const Run last = fixture.submit(session, QStringLiteral("[[text last]]"));
    QCOMPARE(fixture.get(fixture.client->runs(session.id, 10)).value().last().position, 2);
    QVERIFY(fixture.get(fixture.client->cancelRun(waiting.id, QStringLiteral("olga"))).has_value());
    QCOMPARE(toString(fixture.state(waiting.id)), toString(RunState::Cancelled));
    QVERIFY(!fixture.run(waiting.id).startedAt.isValid());
    const auto line = fixture.get(fixture.client->runs(session.id, 10)).value();
    QCOMPARE(line.last().id, last.id);
    QCOMPARE(line.last().position, 1);
    QCOMPARE(fixture.promptsSeen(QStringLiteral("never")), 0);
}

void TestClaudeTurns::interruptKeepsTheProcess()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, QStringLiteral("[[slow 200 50]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.liveText.contains(QStringLiteral("word3")); }, 30000));
    const QList<qint64> pids = fixture.harnessPids();
    QVERIFY(fixture.get(fixture.client->cancelRun(run.id, QStringLiteral("olga"))).has_value());
    const Run next = fixture.submit(session, QStringLiteral("[[text after the stop]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
    QCOMPARE(toString(fixture.state(run.id)), toString(RunState::Cancelled));
    QCOMPARE(fixture.harnessPids(), pids);
    // What had been said stays readable.
    QVERIFY2(fixture.transcript(session.id).contains(QStringLiteral("answer:word0")), qPrintable(fixture.transcript(session.id)));
}

void TestClaudeTurns::unauthorisedStopsAtOnce()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    fixture.environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("bad-key"));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    QElapsedTimer timer;
    timer.start();
    const Run run = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(run.id, RunState::Error, 30000));
    const Run failed = fixture.run(run.id);
    QCOMPARE(failed.errorCode, QStringLiteral("credential_missing"));
    QVERIFY2(failed.errorMessage.contains(QStringLiteral("401")), qPrintable(failed.errorMessage));
    QVERIFY2(fixture.api.requests().size() <= 3, qPrintable(QString::number(fixture.api.requests().size())));
}

void TestClaudeTurns::overloadIsRetriedAndShown()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, QStringLiteral("[[statusonce 529 2]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    const QString transcript = fixture.transcript(session.id);
    QCOMPARE(transcript.count(QStringLiteral("warning")), 1);
    for (const Block &block : fixture.blocks(session.id)) {
        if (block.kind == BlockKind::Warning)
            QVERIFY2(block.text.contains(QStringLiteral("529")), qPrintable(block.text));
    }
}

void TestClaudeTurns::cutStreamReplacesPartialText()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    fixture.environment.insert(QStringLiteral("CLAUDE_CODE_MAX_RETRIES"), QStringLiteral("2"));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude(
        [](Agent &agent) { agent.environment.insert(QStringLiteral("CLAUDE_CODE_MAX_RETRIES"), QStringLiteral("2")); }));
    const Run run = fixture.submit(session, QStringLiteral("[[cut 3]]"));
    QVERIFY(QTest::qWaitFor([&] { return isTerminal(fixture.state(run.id)); }, 60000));
    int answers = 0;
    for (const Block &block : fixture.blocks(session.id))
        answers += block.kind == BlockKind::Answer ? 1 : 0;
    QVERIFY2(answers <= 1, qPrintable(fixture.transcript(session.id)));
}

void TestClaudeTurns::resumeAfterTheProcessIsKilled()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run first = fixture.submit(session, QStringLiteral("[[text remember the word kingfisher]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    const Run cut = fixture.submit(session, QStringLiteral("[[slow 200 50]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.liveText.contains(QStringLiteral("word2")); }, 30000));
    for (const qint64 pid : fixture.harnessPids())
        ::kill(pid_t(pid), SIGKILL);
    QVERIFY(fixture.settles(cut.id, RunState::Error));
    QVERIFY2(fixture.run(cut.id).errorMessage.contains(QStringLiteral("signal 9")), qPrintable(fixture.run(cut.id).errorMessage));
    const Run third = fixture.submit(session, QStringLiteral("[[text and back]]"));
    QVERIFY(fixture.settles(third.id, RunState::Completed));
    QCOMPARE(fixture.get(fixture.client->session(session.id))->native.nativeSessionId, session.native.nativeSessionId);
    // The model was shown the whole history.
    QVERIFY(fixture.api.requests().last().messageCount >= 4);
    QCOMPARE(fixture.api.requests().last().sessionHeader, session.native.nativeSessionId);
}

void TestClaudeTurns::b47_missingTranscriptFailsTheTurn()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program, true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    QVERIFY(coolDown(fixture));
    const QString transcript = transcriptOf(fixture, session.id);
    QVERIFY(QFile::remove(transcript));
    const qsizetype requests = fixture.api.requests().size();
    const Run run = fixture.submit(session, QStringLiteral("[[text again]]"));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QCOMPARE(fixture.run(run.id).errorCode, QStringLiteral("native_resume_failed"));
    QCOMPARE(fixture.get(fixture.client->session(session.id))->native.nativeSessionId, session.native.nativeSessionId);
    QCOMPARE(fixture.api.requests().size(), requests);
    // "Start fresh" is a separate act.
    const auto fresh = fixture.get(fixture.client->startFresh(session.id, QStringLiteral("olga")));
    QVERIFY2(fresh.has_value(), fresh ? "" : qPrintable(fresh.error().message));
    QVERIFY(fresh->native.nativeSessionId != session.native.nativeSessionId);
    const Run next = fixture.submit(session, QStringLiteral("[[text a new beginning]]"));
    QVERIFY(fixture.settles(next.id, RunState::Completed));
}

void TestClaudeTurns::b47_damagedTranscriptFailsTheTurn()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program, true);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    QVERIFY(coolDown(fixture));
    QFile transcript(transcriptOf(fixture, session.id));
    QVERIFY(transcript.open(QIODevice::ReadWrite));
    const QByteArray whole = transcript.readAll();
    const auto refuses = [&](const char *what) {
        const Run run = fixture.submit(session, QStringLiteral("[[text again]]"));
        if (!fixture.settles(run.id, RunState::Error))
            return false;
        return fixture.run(run.id).errorCode == u"native_resume_failed" || (qWarning("%s", what), false);
    };
    QVERIFY(transcript.resize(whole.size() / 2));
    QVERIFY(refuses("cut"));
    QByteArray changed = whole;
    changed[changed.size() / 3] = char(changed.at(changed.size() / 3) ^ 1);
    QVERIFY(transcript.resize(0) && transcript.seek(0) && transcript.write(changed) == changed.size() && transcript.flush());
    QVERIFY(refuses("changed"));
    QVERIFY(transcript.resize(0) && transcript.seek(0) && transcript.write(whole) == whole.size() && transcript.flush());
    const Run run = fixture.submit(session, QStringLiteral("[[text again]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QCOMPARE(fixture.api.requests().last().sessionHeader, session.native.nativeSessionId);
}

void TestClaudeTurns::modelAndModeChangeInALivingProcess()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run first = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(first.id, RunState::Completed));
    QVERIFY(fixture.get(fixture.client->setSessionModel(session.id, QStringLiteral("claude-haiku-4-5"))).has_value());
    QVERIFY(fixture.get(fixture.client->setSessionMode(session.id, QStringLiteral("acceptEdits"))).has_value());
    const auto bogus = fixture.get(fixture.client->setSessionMode(session.id, QStringLiteral("yolo")));
    QVERIFY(!bogus.has_value());
    QCOMPARE(toString(bogus.error().code), toString(ErrorCode::Invalid));
    const Run second = fixture.submit(session, QStringLiteral("[[write %1/note.txt content]]").arg(session.workspace));
    QVERIFY(fixture.settles(second.id, RunState::Completed));
    QVERIFY(QFileInfo::exists(session.workspace + QStringLiteral("/note.txt")));
    QVERIFY2(fixture.api.requests().last().model.contains(QStringLiteral("haiku")), qPrintable(fixture.api.requests().last().model));
}

void TestClaudeTurns::consoleToolIsOffered()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(
        fixture.claude([](Agent &agent) { agent.allowedTools = {QStringLiteral("mcp__signalbox__session_info")}; }));
    const Run run = fixture.submit(session, QStringLiteral("[[tool mcp__signalbox__session_info {}]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    QVERIFY2(fixture.api.requests().last().lastToolResult.contains(session.workspace),
             qPrintable(fixture.api.requests().last().lastToolResult));
}

void TestClaudeTurns::missingKeyAndProgramAreClear()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    fixture.environment.remove(QStringLiteral("ANTHROPIC_API_KEY"));
    fixture.environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/bin:/bin"));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session keyless = fixture.session(fixture.claude());
    const Run run = fixture.submit(keyless, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(run.id, RunState::Error));
    QCOMPARE(fixture.run(run.id).errorCode, QStringLiteral("credential_missing"));
    QVERIFY(fixture.run(run.id).errorMessage.contains(QStringLiteral("ANTHROPIC_API_KEY")));

    const Session nowhere = fixture.session(fixture.claude([](Agent &agent) {
        agent.program = QStringLiteral("/nowhere/claude");
        agent.keyVariable = QStringLiteral("PATH");
    }));
    const Run lost = fixture.submit(nowhere, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(lost.id, RunState::Error));
    QCOMPARE(fixture.run(lost.id).errorCode, QStringLiteral("program_missing"));
    QVERIFY(fixture.run(lost.id).errorMessage.contains(QStringLiteral("/nowhere/claude")));
}

void TestClaudeTurns::keyIsNowhereInTheStore()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    const QByteArray key = "sk-secret-0123456789abcdef";
    fixture.environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QString::fromLatin1(key));
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    const Run run = fixture.submit(session, QStringLiteral("[[bash env | sort]]"));
    const Approval approval = fixture.nextApproval(15000);
    if (!approval.id.isEmpty())
        QVERIFY(fixture.decide(approval, Verdict::Approve).has_value());
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    fixture.stop();
    QDir data(fixture.folder.filePath(QStringLiteral("data")));
    const QStringList files = data.entryList({QStringLiteral("signalbox.db*")});
    QVERIFY(!files.isEmpty());
    for (const QString &name : files) {
        QFile file(data.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY2(!file.readAll().contains(key), qPrintable(name));
    }
    QVERIFY(fixture.start());
}

void TestClaudeTurns::sameConversationCannotBeOpenedTwice()
{
    QFETCH_GLOBAL(QString, program);
    ClaudeFixture fixture(program);
    QVERIFY2(fixture.start(), qPrintable(fixture.failure.message));
    const Agent agent = fixture.claude();
    const Session session = fixture.session(agent);
    const Run run = fixture.submit(session, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(run.id, RunState::Completed));
    const Session twin = fixture.session(agent);
    fixture.sql(QStringLiteral("UPDATE session SET native_session_id = '%1' WHERE id = '%2'")
                    .arg(session.native.nativeSessionId, twin.id.value));
    const Run second = fixture.submit(twin, QStringLiteral("[[text hello]]"));
    QVERIFY(fixture.settles(second.id, RunState::Error));
    QVERIFY2(fixture.run(second.id).errorMessage.contains(QStringLiteral("lock"), Qt::CaseInsensitive) ||
                 fixture.run(second.id).errorMessage.contains(QStringLiteral("use")),
             qPrintable(fixture.run(second.id).errorMessage));
}

QTEST_GUILESS_MAIN(TestClaudeTurns)
#include "tst_claudeturns.moc"
