// The real Claude Code in hardened containers of a real Docker daemon, against the stand-in API behind the gateway.
#include "support/dockerbench.h"
#include "tests/e2e/claudefixture.h"

#include <QCoroTask>
#include <QDirIterator>
#include <QFile>

using namespace engine;

namespace {

constexpr auto testImage = "signalbox-agent:latest";
const QString realKey = QStringLiteral("sk-real-key-7f3a9c51");

} // namespace

class TestDockerTurns final : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanupTestCase();

    void b43_b96_turnInAContainer();
    void b96_keyIsNowhereInside();
    void b97_engineRestartInAStream();
    void b97_engineRestartWhilePaused();
    void b46_containerKilledBetweenTurns();
    void containerKilledInATurn();
    void b98_daemonKilledInATurn();
    void b98_daemonKilledWhilePaused();
    void b52_pausedComputerWakesForAPrompt();
    void b54_withoutAnEngineNothingIsMade();
    void b55_b99_deletedSessionLeavesNothing();
    void gatewayForAHostRunAgent();

private:
    std::unique_ptr<ClaudeFixture> begin(const QString &dockerSocket = {});
    Agent docker(ClaudeFixture &fixture, const std::function<void(Agent &)> &change = {});
    sandbox::DockerReply api(const QByteArray &method, const QString &path);
    QString containerOf(const Session &session, int generation = 1)
    {
        return QStringLiteral("signalbox-%1-%2").arg(session.id.value).arg(generation);
    }
    // Containers and session volumes, whosever.
    int things();

    std::unique_ptr<TestDockerd> m_dockerd;
};

void TestDockerTurns::initTestCase()
{
    const QString claude = qEnvironmentVariable("SIGNALBOX_CLAUDE_332");
    QVERIFY2(!claude.isEmpty(), "SIGNALBOX_CLAUDE_332 is not set: run installer/test.sh, which installs the pinned versions");
    QString why;
    const QString base = agentBaseArchive(why);
    QVERIFY2(!base.isEmpty(), qPrintable(why));
    m_dockerd = std::make_unique<TestDockerd>();
    QVERIFY2(m_dockerd->start(), qPrintable(m_dockerd->error()));

    // The image, as a person has it built: through the engine, from the program that is found on the host.
    QTemporaryDir programs;
    QVERIFY(QFile::link(claude, programs.filePath(QStringLiteral("claude"))));
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", programs.path().toUtf8() + ':' + path);
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    ImageRequest request;
    request.base = QStringLiteral("signalbox-base:test");
    request.baseArchive = base;
    const auto begun = fixture->get(fixture->client->buildImage(request, QStringLiteral("test")));
    QVERIFY2(begun, begun ? "" : qPrintable(begun.error().message));
    const auto second = fixture->get(fixture->client->buildImage(request, QStringLiteral("test")));
    QVERIFY(!second && second.error().code == ErrorCode::Conflict);
    std::optional<ImageProgress> end;
    QString steps;
    QVERIFY(QTest::qWaitFor([&] {
        for (const FeedBatch &batch : std::exchange(fixture->batches, {})) {
            for (const ImageProgress &progress : batch.imageProgress) {
                steps += progress.step + u'\n';
                if (progress.finished)
                    end = progress;
            }
        }
        return end.has_value();
    }, 180000));
    qputenv("PATH", path);
    QVERIFY2(!end->failed, qPrintable(end->message + u'\n' + end->output));
    QVERIFY2(steps.contains(QLatin1String("Step ")), qPrintable(steps));
    const auto images = fixture->get(fixture->client->images());
    QVERIFY(images && images->size() == 1);
    QCOMPARE(images->first().tag, QLatin1String(testImage));
    QCOMPARE(images->first().claudeVersion, QStringLiteral("2.1.332"));
    QVERIFY(images->first().prepared);
}

void TestDockerTurns::cleanupTestCase()
{
    m_dockerd.reset();
}

std::unique_ptr<ClaudeFixture> TestDockerTurns::begin(const QString &dockerSocket)
{
    auto fixture = std::make_unique<ClaudeFixture>(qEnvironmentVariable("SIGNALBOX_CLAUDE_332"));
    fixture->environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), realKey);
    fixture->dockerSocket = dockerSocket.isEmpty() ? m_dockerd->socketPath() : dockerSocket;
    if (!fixture->start()) {
        qWarning("engine: %s", qPrintable(fixture->failure.message));
        return nullptr;
    }
    return fixture;
}

Agent TestDockerTurns::docker(ClaudeFixture &fixture, const std::function<void(Agent &)> &change)
{
    return fixture.claude([&](Agent &agent) {
        agent.provider = QStringLiteral("docker");
        agent.program.clear();
        agent.computer.memoryMb = 1024;
        if (change)
            change(agent);
    });
}

sandbox::DockerReply TestDockerTurns::api(const QByteArray &method, const QString &path)
{
    sandbox::DockerClient client(m_dockerd->socketPath());
    sandbox::DockerRequest request;
    request.method = method;
    request.path = path;
    const auto connected = QCoro::waitFor(client.connect());
    const auto reply = QCoro::waitFor(client.request(request));
    if (!connected || !reply)
        qWarning("%s %s: %s", method.constData(), qPrintable(path), qPrintable(reply ? QString() : reply.error().message));
    return reply.value_or(sandbox::DockerReply{});
}

int TestDockerTurns::things()
{
    return int(api("GET", QStringLiteral("/containers/json?all=1")).body.count("\"/signalbox-")) +
           int(api("GET", QStringLiteral("/volumes")).body.count("io.signalbox.session"));
}

void TestDockerTurns::b43_b96_turnInAContainer()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run run = fixture->submit(session, QStringLiteral("[[text one two three four]]"));
    QVERIFY2(fixture->settles(run.id, RunState::Completed), qPrintable(fixture->run(run.id).errorMessage));
    QTRY_COMPARE(fixture->liveText, QStringLiteral("one two three four"));
    QCOMPARE(fixture->transcript(session.id), QStringLiteral("prompt:[[text one two three four]]|answer:one two three four"));
    // The gateway put the key in; the harness never had it.
    QVERIFY(!fixture->api.requests().isEmpty());
    for (const StandInAnthropic::Request &request : fixture->api.requests())
        QCOMPARE(request.key, realKey);

    // Warm: the same process.
    const auto before = fixture->get(fixture->client->computers(false));
    QVERIFY(before && before->size() == 1);
    QCOMPARE(before->first().provider, QStringLiteral("docker"));
    QVERIFY(before->first().isolated);
    const Run second = fixture->submit(session, QStringLiteral("[[text again]]"));
    QVERIFY(fixture->settles(second.id, RunState::Completed));
    const auto after = fixture->get(fixture->client->computers(false));
    QVERIFY(after && after->size() == 1);
    QCOMPARE(after->first().id, before->first().id);

    const auto checklist = fixture->get(fixture->client->checklist(session.id));
    QVERIFY2(checklist, checklist ? "" : qPrintable(checklist.error().message));
    QVERIFY(checklist->size() > 20);
    for (const Protection &one : *checklist)
        QVERIFY2(one.holds, qPrintable(one.key + u' ' + one.found));
    QTRY_VERIFY(fixture->get(fixture->client->session(session.id))->native.transcriptSize > 0);
    QCOMPARE(fixture->get(fixture->client->session(session.id))->native.transcriptPath.left(15), QStringLiteral("/session/home/."));
}

// The agent itself looks for the key, in everything that it can read, and then for ways out.
void TestDockerTurns::b96_keyIsNowhereInside()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture, [](Agent &agent) { agent.allowedTools = {QStringLiteral("Bash")}; }));
    // The pattern does not match itself in the command line of the search.
    const Run run = fixture->submit(
        session, QStringLiteral("[[bash cd /; env | grep -c 'rea[l]-key'; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c 'rea[l]-key'; "
                                "grep -rIl 'rea[l]-key' /session/home /etc /tmp /signalbox 2>/dev/null | wc -l; "
                                "(exec 3<>/dev/tcp/10.0.0.1/80) 2>&1 | grep -q unreachable && echo 1; (exec 3<>/dev/tcp/8.8.8.8/53) 2>&1 | grep -q unreachable && echo 1; "
                                "(exec 3<>/dev/tcp/127.0.0.1/22) 2>&1 | grep -q refused && echo 1; (exec 3<>/dev/tcp/127.0.0.1/8787) && echo gateway answers; cat /proc/net/dev | grep -vc lo:]]"));
    QVERIFY2(fixture->settles(run.id, RunState::Completed), qPrintable(fixture->run(run.id).errorMessage));
    const QString seen = fixture->api.requests().last().lastToolResult;
    const QStringList lines = seen.trimmed().split(u'\n');
    QVERIFY2(lines.size() >= 8, qPrintable(seen));
    QCOMPARE(lines.mid(0, 3), (QStringList{QStringLiteral("0"), QStringLiteral("0"), QStringLiteral("0")}));
    QVERIFY2(lines.at(3) == u"1" && lines.at(4) == u"1" && lines.at(5) == u"1", qPrintable(seen));
    QVERIFY2(lines.at(6) == u"gateway answers", qPrintable(seen));
    fixture->stop();
    // Nor is it in anything that is stored.
    QDirIterator files(fixture->folder.path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    int looked = 0;
    while (files.hasNext()) {
        QFile file(files.next());
        if (file.open(QIODevice::ReadOnly)) {
            ++looked;
            QVERIFY2(!file.readAll().contains(realKey.toUtf8()), qPrintable(file.fileName()));
        }
    }
    QVERIFY(looked > 2);
    QVERIFY(fixture->start()); // so that its destructor tidies up
}

void TestDockerTurns::b97_engineRestartInAStream()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run first = fixture->submit(session, QStringLiteral("[[text warm up]]"));
    QVERIFY2(fixture->settles(first.id, RunState::Completed), qPrintable(fixture->run(first.id).errorMessage));
    const auto before = fixture->get(fixture->client->computers(false));
    const Run run = fixture->submit(session, QStringLiteral("[[slow 40 50]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture->liveText.count(u' ') > 8; }, 20000));
    fixture->stop();
    QVERIFY(fixture->start());
    QVERIFY2(fixture->settles(run.id, RunState::Completed, 60000), qPrintable(fixture->run(run.id).errorMessage));
    QCOMPARE(fixture->get(fixture->client->computers(false))->first().id, before->first().id);
    // Its request was cut with the engine and made again by the harness; the answer is whole and once.
    QStringList words;
    for (const Block &block : fixture->blocks(session.id)) {
        if (block.kind == BlockKind::Answer)
            words = block.text.split(u' ', Qt::SkipEmptyParts);
    }
    QCOMPARE(words.size(), 40);
}

void TestDockerTurns::b97_engineRestartWhilePaused()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run run = fixture->submit(session, QStringLiteral("[[bash echo done > /session/workspace/mark; echo written]]"));
    const Approval asked = fixture->nextApproval();
    QVERIFY2(!asked.id.isEmpty(), qPrintable(fixture->run(run.id).errorMessage));
    fixture->stop();
    QVERIFY(fixture->start());
    QCOMPARE(toString(fixture->state(run.id)), toString(RunState::Paused));
    QCOMPARE(fixture->approval(asked.id).digest, asked.digest);
    QVERIFY(fixture->decide(fixture->approval(asked.id), Verdict::Approve));
    QVERIFY2(fixture->settles(run.id, RunState::Completed), qPrintable(fixture->run(run.id).errorMessage));
    QVERIFY(fixture->api.requests().last().lastToolResult.contains(QLatin1String("written")));
}

// B46, with the session's volume alive: another container, the same conversation.
void TestDockerTurns::b46_containerKilledBetweenTurns()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run first = fixture->submit(session, QStringLiteral("[[text the fact is 42]]"));
    QVERIFY2(fixture->settles(first.id, RunState::Completed), qPrintable(fixture->run(first.id).errorMessage));
    QTRY_VERIFY(fixture->get(fixture->client->session(session.id))->native.transcriptSize > 0);
    const QString native = fixture->get(fixture->client->session(session.id))->native.nativeSessionId;
    QCOMPARE(api("POST", QStringLiteral("/containers/%1/kill").arg(containerOf(session))).status, 204);
    const Run second = fixture->submit(session, QStringLiteral("[[text remembered]]"));
    QVERIFY2(fixture->settles(second.id, RunState::Completed), qPrintable(fixture->run(second.id).errorMessage));
    QVERIFY(fixture->api.requests().last().messageCount >= 3); // what was said before is said again
    const Session now = fixture->get(fixture->client->session(session.id)).value_or(Session{});
    QCOMPARE(now.native.nativeSessionId, native);
    QCOMPARE(now.generation, 2);
    const auto computers = fixture->get(fixture->client->computers(false));
    QCOMPARE(computers->size(), 1);
    QCOMPARE(computers->first().generation, 2);
}

void TestDockerTurns::containerKilledInATurn()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run run = fixture->submit(session, QStringLiteral("[[slow 100 100]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture->liveText.count(u' ') > 3; }, 30000));
    QCOMPARE(api("POST", QStringLiteral("/containers/%1/kill").arg(containerOf(session))).status, 204);
    QVERIFY(fixture->settles(run.id, RunState::Error));
    QVERIFY2(fixture->run(run.id).errorMessage.contains(QLatin1String("it was killed")), qPrintable(fixture->run(run.id).errorMessage));
}

// With live-restore the container lives on; the turn waits for the daemon and goes on in the same process.
void TestDockerTurns::b98_daemonKilledInATurn()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture, [](Agent &agent) { agent.allowedTools = {QStringLiteral("Bash")}; }));
    const Run run = fixture->submit(session, QStringLiteral("[[bash sleep 4; echo slept]]"));
    QVERIFY(QTest::qWaitFor([&] { return fixture->transcript(session.id).contains(QLatin1String("tool(Bash")); }, 30000));
    QVERIFY(m_dockerd->kill());
    QTest::qWait(1000);
    QCOMPARE(toString(fixture->state(run.id)), toString(RunState::Running));
    QVERIFY2(m_dockerd->start(), qPrintable(m_dockerd->error()));
    QVERIFY2(fixture->settles(run.id, RunState::Completed, 60000), qPrintable(fixture->run(run.id).errorMessage));
    QVERIFY(fixture->api.requests().last().lastToolResult.contains(QLatin1String("slept")));
    QCOMPARE(fixture->get(fixture->client->computers(false))->size(), 1);
}

void TestDockerTurns::b98_daemonKilledWhilePaused()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run run = fixture->submit(session, QStringLiteral("[[bash touch /session/workspace/mark; echo after all]]"));
    const Approval asked = fixture->nextApproval();
    QVERIFY2(!asked.id.isEmpty(), qPrintable(fixture->run(run.id).errorMessage));
    QVERIFY(m_dockerd->kill());
    // Decided while nobody can carry it; delivered when somebody can.
    QVERIFY(fixture->decide(asked, Verdict::Approve));
    QTest::qWait(1000);
    QVERIFY2(m_dockerd->start(), qPrintable(m_dockerd->error()));
    QVERIFY2(fixture->settles(run.id, RunState::Completed, 60000), qPrintable(fixture->run(run.id).errorMessage));
    QVERIFY(fixture->api.requests().last().lastToolResult.contains(QLatin1String("after all")));
}

void TestDockerTurns::b52_pausedComputerWakesForAPrompt()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run first = fixture->submit(session, QStringLiteral("[[text warm]]"));
    QVERIFY2(fixture->settles(first.id, RunState::Completed), qPrintable(fixture->run(first.id).errorMessage));
    QVERIFY(fixture->get(fixture->client->pauseComputer(session.id, QStringLiteral("test"))));
    QCOMPARE(int(fixture->get(fixture->client->computers(false))->first().state), int(ComputerState::Paused));
    const Run second = fixture->submit(session, QStringLiteral("[[text awake]]"));
    QVERIFY2(fixture->settles(second.id, RunState::Completed), qPrintable(fixture->run(second.id).errorMessage));
    const Computer computer = fixture->get(fixture->client->computers(true))->first();
    QCOMPARE(int(computer.state), int(ComputerState::Running));
    QVERIFY(computer.memoryBytes > 0 && computer.memoryLimit == 1024ll * 1024 * 1024 && computer.processes > 1);
    // What only a run may not be taken away from.
    const Run third = fixture->submit(session, QStringLiteral("[[slow 20 50]]"));
    QVERIFY(fixture->settles(third.id, RunState::Running));
    QVERIFY(fixture->get(fixture->client->stopComputer(session.id, QStringLiteral("test"))).error().code == ErrorCode::Conflict);
    QVERIFY(fixture->settles(third.id, RunState::Completed));
    QVERIFY(fixture->get(fixture->client->stopComputer(session.id, QStringLiteral("test"))));
    QTRY_VERIFY(fixture->get(fixture->client->computers(false))->isEmpty());
}

void TestDockerTurns::b54_withoutAnEngineNothingIsMade()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin(QStringLiteral("/tmp/nothing-here.sock"));
    QVERIFY(fixture);
    const Session session = fixture->session(docker(*fixture));
    const Run run = fixture->submit(session, QStringLiteral("[[text never]]"));
    QVERIFY(fixture->settles(run.id, RunState::Error));
    const Run failed = fixture->run(run.id);
    QVERIFY2(failed.errorMessage.contains(QLatin1String("/tmp/nothing-here.sock")), qPrintable(failed.errorMessage));
    QCOMPARE(failed.errorCode, QStringLiteral("sandbox_unavailable"));
    QCOMPARE(fixture->get(fixture->client->session(session.id))->generation, 1);
    const auto state = fixture->get(fixture->client->sandboxEngine());
    QVERIFY(state && !state->available && state->problem.contains(QLatin1String("does not exist")));
}

void TestDockerTurns::b55_b99_deletedSessionLeavesNothing()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    QTRY_COMPARE(things(), 0); // of the tests before
    const Session session = fixture->session(docker(*fixture));
    const Run run = fixture->submit(session, QStringLiteral("[[slow 20 50]]"));
    QVERIFY(fixture->settles(run.id, RunState::Running, 30000));
    QVERIFY(fixture->get(fixture->client->deleteSession(session.id, QStringLiteral("test"))).error().code == ErrorCode::Conflict);
    QVERIFY2(fixture->settles(run.id, RunState::Completed), qPrintable(fixture->run(run.id).errorMessage));
    const auto listed = fixture->get(fixture->client->leftovers());
    QVERIFY(listed);
    int inUse = 0;
    for (const Leftover &one : *listed) {
        inUse += one.inUse ? 1 : 0;
        if (one.inUse)
            QVERIFY(!fixture->get(fixture->client->removeLeftover(one, QStringLiteral("test"))));
    }
    // Container and volume; the worker's volume too, unless another installation made it.
    QVERIFY(inUse == 2 || inUse == 3);
    QVERIFY(fixture->get(fixture->client->deleteSession(session.id, QStringLiteral("test"))));
    QTRY_COMPARE_WITH_TIMEOUT(things(), 0, 15000);
}

void TestDockerTurns::gatewayForAHostRunAgent()
{
    const std::unique_ptr<ClaudeFixture> fixture = begin();
    QVERIFY(fixture);
    const Session session = fixture->session(fixture->claude([](Agent &agent) {
        agent.computer.gateway = true;
        agent.allowedTools = {QStringLiteral("Bash")};
    }));
    const Run run = fixture->submit(session, QStringLiteral("[[bash env | grep -c 7f3a9c51; echo $ANTHROPIC_BASE_URL]]"));
    QVERIFY2(fixture->settles(run.id, RunState::Completed), qPrintable(fixture->run(run.id).errorMessage));
    const QString seen = fixture->api.requests().last().lastToolResult;
    QVERIFY2(seen.startsWith(QLatin1String("0\n")), qPrintable(seen));
    for (const StandInAnthropic::Request &request : fixture->api.requests())
        QCOMPARE(request.key, realKey);
}

QTEST_GUILESS_MAIN(TestDockerTurns)
#include "tst_dockerturns.moc"
