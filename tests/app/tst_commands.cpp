#include "app/doors/command.h"
#include "tests/app/recordingconsole.h"
#include "tests/support/fakeengineclient.h"

#include <QSignalSpy>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace engine;
using app::ExitCode;

// Every command against an engine in memory: what it asks, what it prints, how it ends.
class TestCommands : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void runPrintsTheAnswer();
    void runFollowsTheStream();
    void runOfAFailureEndsWith1();
    void runOfAPauseEndsWith6();
    void runWithoutWaitingReturnsAtOnce();
    void runNeedsAnAgentThatExists();
    void runTakesTheKey();
    void listsAndShows();
    void b05_changedDigestEndsWith3();
    void resolveNeedsADigestOrAPerson();
    void resolveAsksThePerson();
    void b26_inputIsSentAsEdited();
    void b21_continueWhilePendingEndsWith3();
    void b13_storageRefusalEndsWith5();
    void unknownIdsEndWith4();
    void doctorEndsWith1OnAnError();
    void errorsAreJsonToo();
    void theEngineClosingEndsWith7();

private:
    int perform(const QStringList &words, const QString &input = {});
    app::Command *begin(const QStringList &words, const QString &input = {});
    void putRun(RunState state, const char *id = "r-1");

    std::unique_ptr<FakeEngineClient> m_engine;
    std::unique_ptr<RecordingConsole> m_console;
    std::unique_ptr<app::Command> m_command;
};

void TestCommands::init()
{
    m_engine = std::make_unique<FakeEngineClient>();
    m_console = std::make_unique<RecordingConsole>();
    Agent agent;
    agent.id = {QStringLiteral("a-1")};
    agent.name = QStringLiteral("Claude");
    m_engine->putAgent(agent);
    Session session;
    session.id = {QStringLiteral("s-1")};
    session.agentId = agent.id;
    session.title = QStringLiteral("Fix it");
    m_engine->putSession(session);
    putRun(RunState::Paused);
    Approval approval;
    approval.id = {QStringLiteral("p-1")};
    approval.runId = {QStringLiteral("r-1")};
    approval.sessionId = session.id;
    approval.toolName = QStringLiteral("Bash");
    approval.title = QStringLiteral("Run ls");
    approval.input = R"({"command":"ls"})";
    approval.digest = {QStringLiteral("d1")};
    approval.requestedAt = QDateTime::currentDateTimeUtc();
    approval.expiresAt = approval.requestedAt.addSecs(900);
    m_engine->putApproval(approval);
}

void TestCommands::cleanup()
{
    m_command.reset();
}

void TestCommands::putRun(RunState state, const char *id)
{
    Run run;
    run.id = {QLatin1String(id)};
    run.sessionId = {QStringLiteral("s-1")};
    run.agentId = {QStringLiteral("a-1")};
    run.state = state;
    run.errorCode = state == RunState::Error ? QStringLiteral("harness_failed") : QString();
    run.errorMessage = state == RunState::Error ? QStringLiteral("It broke.") : QString();
    m_engine->putRun(run);
}

app::Command *TestCommands::begin(const QStringList &words, const QString &input)
{
    const auto arguments = app::parseArguments(words);
    if (!arguments)
        qFatal("%s", qPrintable(arguments.error()));
    m_command = app::makeCommand(*m_engine, {*arguments, QStringLiteral("/home/pat"), input, QStringLiteral("pat")},
                                 *m_console);
    return m_command.get();
}

int TestCommands::perform(const QStringList &words, const QString &input)
{
    app::Command *command = begin(words, input);
    QSignalSpy finished(command, &app::Command::finished);
    command->start();
    if (finished.isEmpty() && !finished.wait(5000))
        return -1;
    return finished.size() == 1 ? int(finished.first().first().value<ExitCode>()) : -2;
}

void TestCommands::runPrintsTheAnswer()
{
    app::Command *command = begin({"run", "--session", "s-1", "Do it"});
    QSignalSpy finished(command, &app::Command::finished);
    command->start();
    QTRY_COMPARE(m_engine->submissions.size(), 1);
    const NewRun sent = m_engine->submissions.first();
    QCOMPARE(sent.prompt, QStringLiteral("Do it"));
    QCOMPARE(sent.requestedBy, QStringLiteral("pat"));
    QCOMPARE(sent.origin, QStringLiteral("command line"));
    Run run = m_engine->runRows.last();
    Block answer;
    answer.sessionId = run.sessionId;
    answer.position = 0;
    answer.runId = run.id;
    answer.kind = BlockKind::Answer;
    answer.key = QStringLiteral("m1:0");
    answer.text = QStringLiteral("All done \x1b[2J");
    m_engine->putBlocks({answer});
    QVERIFY(finished.isEmpty());
    run.state = RunState::Completed;
    m_engine->putRun(run);
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(finished.first().first().value<ExitCode>(), ExitCode::Ok);
    QCOMPARE(m_console->output, QStringLiteral("All done <U+001B>[2J\n"));
}

void TestCommands::runFollowsTheStream()
{
    app::Command *command = begin({"run", "--session", "s-1", "--follow", "Do it"});
    QSignalSpy finished(command, &app::Command::finished);
    command->start();
    QTRY_COMPARE(m_engine->submissions.size(), 1);
    QTRY_VERIFY(m_console->errors.startsWith(QStringLiteral("run ")));
    Run run = m_engine->runRows.last();
    const auto stream = [&](qsizetype offset, const QString &text) {
        FeedBatch batch;
        batch.live = {{run.sessionId, run.id, QStringLiteral("m1:0"), BlockKind::Answer, offset, text, false}};
        m_engine->push(batch);
    };
    stream(0, QStringLiteral("One "));
    stream(4, QStringLiteral("two"));
    QCOMPARE(m_console->output, QStringLiteral("One two"));
    Block block;
    block.sessionId = run.sessionId;
    block.position = 0;
    block.runId = run.id;
    block.kind = BlockKind::Answer;
    block.key = QStringLiteral("m1:0");
    block.text = QStringLiteral("One two three");
    m_engine->putBlocks({block});
    m_engine->putBlocks({block});
    run.state = RunState::Completed;
    m_engine->putRun(run);
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(m_console->output, QStringLiteral("One two three\n"));
}

void TestCommands::runOfAFailureEndsWith1()
{
    app::Command *command = begin({"run", "--session", "s-1", "Do it"});
    QSignalSpy finished(command, &app::Command::finished);
    command->start();
    QTRY_COMPARE(m_engine->submissions.size(), 1);
    const QString id = m_engine->runRows.last().id.value;
    putRun(RunState::Error, qPrintable(id));
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(finished.first().first().value<ExitCode>(), ExitCode::Failed);
    QVERIFY(m_console->errors.contains(QStringLiteral("It broke.")));
}

void TestCommands::runOfAPauseEndsWith6()
{
    app::Command *command = begin({"run", "--session", "s-1", "--json", "Do it"});
    QSignalSpy finished(command, &app::Command::finished);
    command->start();
    QTRY_COMPARE(m_engine->submissions.size(), 1);
    const RunId id = m_engine->runRows.last().id;
    Approval approval = m_engine->approvalRows.first();
    approval.id = {QStringLiteral("p-2")};
    approval.runId = id;
    m_engine->putApproval(approval);
    putRun(RunState::Paused, qPrintable(id.value));
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(finished.first().first().value<ExitCode>(), ExitCode::NeedsYou);
    const auto document = nlohmann::json::parse(m_console->output.toStdString());
    QCOMPARE(document.at("pendingApprovals").at(0).at("id").get<std::string>(), std::string("p-2"));
    QVERIFY(m_console->errors.contains(QStringLiteral("p-2")));
}

void TestCommands::runWithoutWaitingReturnsAtOnce()
{
    QCOMPARE(perform({"run", "--agent", "claude", "--workspace", "code", "--title", "T", "--no-wait", "-"},
                     QStringLiteral("From a pipe")),
             0);
    QCOMPARE(m_engine->submissions.first().prompt, QStringLiteral("From a pipe"));
    QCOMPARE(m_engine->sessionRows.last().workspace, QStringLiteral("/home/pat/code"));
    QVERIFY(m_console->output.startsWith(m_engine->runRows.last().id.value));
}

void TestCommands::runNeedsAnAgentThatExists()
{
    QCOMPARE(perform({"run", "--agent", "Nobody", "x"}), 4);
    QVERIFY(m_console->errors.contains(QStringLiteral("Claude")));
    Agent second;
    second.id = {QStringLiteral("a-2")};
    second.name = QStringLiteral("Other");
    m_engine->putAgent(second);
    QCOMPARE(perform({"run", "x"}), 2);
    QVERIFY(m_console->errors.contains(QStringLiteral("Claude, Other")));
    QVERIFY(m_engine->submissions.isEmpty());
}

void TestCommands::runTakesTheKey()
{
    QCOMPARE(perform({"run", "--session", "s-1", "--key", "once", "--no-wait", "x"}), 0);
    QCOMPARE(m_engine->submissions.first().idempotencyKey, QStringLiteral("once"));
}

void TestCommands::listsAndShows()
{
    QCOMPARE(perform({"sessions"}), 0);
    QVERIFY(m_console->output.contains(QStringLiteral("Fix it")));
    QCOMPARE(perform({"sessions", "show", "s-1"}), 0);
    QCOMPARE(perform({"agents"}), 0);
    QVERIFY(m_console->output.contains(QStringLiteral("Claude")));
    QCOMPARE(perform({"approvals"}), 0);
    QVERIFY(m_console->output.contains(QStringLiteral("p-1")));
    m_console->output.clear();
    QCOMPARE(perform({"approvals", "show", "p-1"}), 0);
    QVERIFY(m_console->output.contains(QStringLiteral("d1")) &&
            m_console->output.contains(QStringLiteral("{\"command\":\"ls\"}")));
    QCOMPARE(m_engine->seen.size(), 1);
}

void TestCommands::b05_changedDigestEndsWith3()
{
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve", "--digest", "other"}), 3);
    QVERIFY(m_engine->approvalRows.first().state == ApprovalState::Pending);
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve", "--digest", "d1", "--note", "fine", "--key", "k"}),
             0);
    const Decision sent = m_engine->decisions.last();
    QCOMPARE(sent.digest.value, QStringLiteral("d1"));
    QVERIFY(sent.verdict == Verdict::Approve);
    QCOMPARE(sent.note, QStringLiteral("fine"));
    QCOMPARE(sent.key, QStringLiteral("k"));
    QCOMPARE(sent.decidedBy, QStringLiteral("pat"));
    QVERIFY(!sent.continueAfter);
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--deny", "--digest", "d1"}), 3);
}

void TestCommands::resolveNeedsADigestOrAPerson()
{
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve"}), 2);
    QVERIFY(m_console->errors.contains(QStringLiteral("--digest")));
    QVERIFY(m_engine->decisions.isEmpty());
}

void TestCommands::resolveAsksThePerson()
{
    m_console->person = true;
    m_console->answer = QStringLiteral("y\n");
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve"}), 1);
    QVERIFY(m_engine->decisions.isEmpty());
    QVERIFY(m_console->errors.contains(QStringLiteral("{\"command\":\"ls\"}")));
    m_console->answer = QStringLiteral("yes\n");
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve"}), 0);
    QCOMPARE(m_engine->decisions.first().digest.value, QStringLiteral("d1"));
}

void TestCommands::b26_inputIsSentAsEdited()
{
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve", "--digest", "d1", "--input", "-", "--continue"},
                     QStringLiteral("{\"command\":\"ls -l\"}\n")),
             0);
    QCOMPARE(m_engine->decisions.first().editedInput, QByteArray("{\"command\":\"ls -l\"}"));
    QVERIFY(m_engine->decisions.first().continueAfter);
}

void TestCommands::b21_continueWhilePendingEndsWith3()
{
    QCOMPARE(perform({"approvals", "continue", "r-1"}), 3);
}

void TestCommands::b13_storageRefusalEndsWith5()
{
    m_engine->failNext(QStringLiteral("resolve"),
                       {ErrorCode::StorageUnavailable, QStringLiteral("Not saved, nothing was sent."), {}});
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve", "--digest", "d1"}), 5);
    QVERIFY(m_console->errors.contains(QStringLiteral("nothing was sent")));
    QCOMPARE(perform({"approvals", "resolve", "p-1", "--approve", "--digest", "d1"}), 0);
}

void TestCommands::unknownIdsEndWith4()
{
    QCOMPARE(perform({"sessions", "show", "s-9"}), 4);
    QCOMPARE(perform({"approvals", "show", "p-9"}), 4);
    QCOMPARE(perform({"approvals", "resolve", "p-9", "--deny", "--digest", "d"}), 4);
    QCOMPARE(perform({"approvals", "continue", "r-9"}), 4);
    QCOMPARE(perform({"approvals", "extend", "p-9", "60"}), 4);
    QCOMPARE(perform({"run", "--session", "s-9", "x"}), 4);
}

void TestCommands::doctorEndsWith1OnAnError()
{
    m_engine->findingRows = {{Finding::Level::Ok, QStringLiteral("Store"), QStringLiteral("fine"), {}}};
    QCOMPARE(perform({"doctor"}), 0);
    m_engine->findingRows.append(
        {Finding::Level::Error, QStringLiteral("Key"), QStringLiteral("none"), QStringLiteral("Set it.")});
    QCOMPARE(perform({"doctor"}), 1);
    QVERIFY(m_console->output.contains(QStringLiteral("Set it.")));
}

void TestCommands::errorsAreJsonToo()
{
    QCOMPARE(perform({"sessions", "show", "s-9", "--json"}), 4);
    const auto document = nlohmann::json::parse(m_console->output.toStdString());
    QCOMPARE(document.at("error").at("code").get<std::string>(), toString(ErrorCode::NotFound).toStdString());
}

void TestCommands::theEngineClosingEndsWith7()
{
    m_engine->failNext(QStringLiteral("sessions"), {ErrorCode::ShuttingDown, QStringLiteral("Closing."), {}});
    QCOMPARE(perform({"sessions"}), 7);
}

QTEST_GUILESS_MAIN(TestCommands)
#include "tst_commands.moc"
