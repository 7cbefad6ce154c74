// Submit -> first text of a warm host session, beside the bare program kept alive and spoken to directly, in alternation.
#include "tests/bench/ratio.h"
#include "tests/e2e/claudefixture.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

using namespace engine;

namespace {

// The bare program: stdin and stdout, nothing of ours between.
class Bare : public QObject
{
public:
    Bare(const QString &program, const QString &folder, quint16 port)
    {
        QProcessEnvironment environment;
        environment.insert(QStringLiteral("PATH"), qEnvironmentVariable("PATH"));
        environment.insert(QStringLiteral("HOME"), folder);
        environment.insert(QStringLiteral("CLAUDE_CONFIG_DIR"), folder + QStringLiteral("/bare"));
        environment.insert(QStringLiteral("ANTHROPIC_BASE_URL"), QStringLiteral("http://127.0.0.1:%1").arg(port));
        environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("test-key"));
        for (const char *quiet : {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER",
                                  "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND"})
            environment.insert(QString::fromLatin1(quiet), QStringLiteral("1"));
        environment.insert(QStringLiteral("ENABLE_TOOL_SEARCH"), QStringLiteral("false"));
        m_process.setProcessEnvironment(environment);
        m_process.setWorkingDirectory(folder);
        m_process.start(program, {QStringLiteral("--print"), QStringLiteral("--input-format"), QStringLiteral("stream-json"),
                                  QStringLiteral("--output-format"), QStringLiteral("stream-json"), QStringLiteral("--verbose"),
                                  QStringLiteral("--include-partial-messages"), QStringLiteral("--permission-prompt-tool"),
                                  QStringLiteral("stdio"), QStringLiteral("--setting-sources"), QString(),
                                  QStringLiteral("--strict-mcp-config"), QStringLiteral("--model"), QStringLiteral("claude-sonnet-4-5")});
        QObject::connect(&m_process, &QProcess::readyReadStandardOutput, this, [this] {
            const QByteArray bytes = m_process.readAllStandardOutput();
            m_seen += bytes;
            if (m_firstText < 0 && m_seen.contains("text_delta"))
                m_firstText = m_timer.nsecsElapsed();
            if (m_seen.contains("\"type\":\"result\""))
                m_ended = true;
        });
    }
    ~Bare() override
    {
        QSignalSpy finished(&m_process, &QProcess::finished);
        m_process.closeWriteChannel();
        if (m_process.state() != QProcess::NotRunning && !finished.wait(5000))
            m_process.kill();
        finished.wait(1000);
    }
    double turn(const QString &text)
    {
        m_seen.clear();
        m_firstText = -1;
        m_ended = false;
        const QJsonObject message{{QStringLiteral("type"), QStringLiteral("user")},
                                  {QStringLiteral("message"), QJsonObject{{QStringLiteral("role"), QStringLiteral("user")},
                                                                          {QStringLiteral("content"), text}}},
                                  {QStringLiteral("parent_tool_use_id"), QJsonValue()},
                                  {QStringLiteral("session_id"), QString()}};
        m_timer.start();
        m_process.write(QJsonDocument(message).toJson(QJsonDocument::Compact) + '\n');
        if (!QTest::qWaitFor([this] { return m_ended; }, 60000))
            qFatal("the bare program did not answer");
        return double(m_firstText) / 1e6;
    }

private:
    QProcess m_process;
    QElapsedTimer m_timer;
    QByteArray m_seen;
    qint64 m_firstText = -1;
    bool m_ended = false;
};

double engineTurn(ClaudeFixture &fixture, const Session &session)
{
    QElapsedTimer timer;
    qint64 first = -1;
    const auto connection = QObject::connect(fixture.client.get(), &EngineClient::fed, &fixture, [&](const FeedBatch &batch) {
        if (first < 0 && !batch.live.isEmpty())
            first = timer.nsecsElapsed();
    });
    timer.start();
    const Run run = fixture.submit(session, QStringLiteral("[[text one two three]]"));
    // By the feed, as a window does: asking the store all the time would take the harness's second core.
    if (!QTest::qWaitFor([&] { return fixture.lastSeen(run.id) == RunState::Completed; }, 60000))
        qFatal("the turn did not end");
    QObject::disconnect(connection);
    return double(first) / 1e6;
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    const QString program = qEnvironmentVariable("SIGNALBOX_CLAUDE_332");
    if (program.isEmpty()) {
        std::puts("bench_turn: no real Claude Code (SIGNALBOX_CLAUDE_332); run installer/test.sh");
        return 0;
    }
    ClaudeFixture fixture(program);
    if (!fixture.start())
        qFatal("%s", qPrintable(fixture.failure.message));
    const Session session = fixture.session(fixture.claude());
    Bare bare(program, fixture.folder.path(), fixture.api.port());
    const QString prompt = QStringLiteral("[[text one two three]]");
    for (int i = 0; i < 3; ++i) {
        bare.turn(prompt);
        engineTurn(fixture, session);
    }
    QList<double> ours;
    QList<double> floor;
    for (int i = 0; i < 60; ++i) {
        floor.append(bare.turn(prompt));
        ours.append(engineTurn(fixture, session));
    }
    // Where the time goes, by the runs' own steps (milliseconds, so means of many).
    QMap<QString, QList<double>> steps;
    for (const Run &run : fixture.get(fixture.client->runs(session.id, 60)).value_or(QList<Run>{})) {
        for (const RunStep &step : run.steps)
            steps[step.name].append(double(run.createdAt.msecsTo(step.at)));
    }
    for (const char *name : {"claimed", "prompt sent", "first line", "first text"}) {
        const QList<double> times = steps.value(QLatin1String(name));
        double sum = 0;
        for (const double time : times)
            sum += time;
        std::printf("  since the prompt was stored: %-12s %6.1f ms mean\n", name, times.isEmpty() ? 0 : sum / double(times.size()));
    }
    const double ratio = bench::median(ours) / bench::median(floor);
    bench::report("warm submit -> first text, p50", bench::median(ours), "ms", "bare program kept alive", bench::median(floor), "<= 1.1 x", ratio <= 1.1);
    return 0;
}
