#pragma once

#include "tests/support/enginefixture.h"
#include "tests/support/standinanthropic.h"

#include <QFileInfo>
#include <signal.h>

// The real Claude Code against the stand-in for the model's API, driven through the engine.
class ClaudeFixture final : public EngineFixture
{
public:
    explicit ClaudeFixture(const QString &program, bool fakeTime = false) : EngineFixture(fakeTime), m_program(program)
    {
        environment.insert(QStringLiteral("ANTHROPIC_BASE_URL"), QStringLiteral("http://127.0.0.1:%1").arg(api.port()));
        environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("test-key"));
    }
    ~ClaudeFixture() override
    {
        // The harness would outlive the engine: that is its virtue elsewhere.
        if (client)
            endSessions();
        stop();
    }

    engine::Agent claude(const std::function<void(engine::Agent &)> &change = {})
    {
        engine::Agent wanted;
        wanted.name = QStringLiteral("Claude");
        wanted.program = m_program;
        wanted.model = QStringLiteral("claude-sonnet-4-5");
        if (change)
            change(wanted);
        return agent(wanted);
    }

    engine::Approval nextApproval(int timeoutMs = 30000)
    {
        if (!QTest::qWaitFor([this] { return !pending().isEmpty(); }, timeoutMs))
            return {};
        return pending().first();
    }

    bool settles(const engine::RunId &id, engine::RunState wanted, int timeoutMs = 40000)
    {
        return QTest::qWaitFor([&] { return state(id) == wanted; }, timeoutMs);
    }

    void endSessions()
    {
        const auto all = get(client->sessions({}));
        if (!all)
            return;
        for (const engine::Session &session : *all) {
            for (const engine::Run &run : get(client->runs(session.id, 100)).value_or(QList<engine::Run>{})) {
                if (!isTerminal(run.state))
                    get(client->cancelRun(run.id, QStringLiteral("test")));
            }
            get(client->deleteSession(session.id, QStringLiteral("test")));
        }
        if (!QTest::qWaitFor([this] { return harnessPids().isEmpty(); }, 15000))
            qWarning("leftovers of this test are still running");
    }

    // Processes that belong to this fixture: their environment names its folder.
    QList<qint64> harnessPids() const
    {
        QList<qint64> pids;
        const QStringList entries = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs);
        for (const QString &entry : entries) {
            bool isPid = false;
            const qint64 pid = entry.toLongLong(&isPid);
            if (!isPid)
                continue;
            QFile environ(QStringLiteral("/proc/%1/environ").arg(pid));
            QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(pid));
            if (environ.open(QIODevice::ReadOnly) && commandLine.open(QIODevice::ReadOnly) &&
                environ.readAll().contains(("CLAUDE_CONFIG_DIR=" + folder.path()).toUtf8()) &&
                commandLine.readAll().contains("stream-json"))
                pids.append(pid);
        }
        return pids;
    }

    int promptsSeen(const QString &text) const
    {
        int count = 0;
        for (const StandInAnthropic::Request &request : api.requests())
            count += request.lastUserText.contains(text) && request.toolRounds == 0 ? 1 : 0;
        return count;
    }

    StandInAnthropic api;

private:
    QString m_program;
};

// The two pinned versions, installed by the test script; each test runs for both.
inline void addClaudeVersions()
{
    QTest::addColumn<QString>("program");
    for (const char *name : {"SIGNALBOX_CLAUDE_197", "SIGNALBOX_CLAUDE_332"}) {
        const QString program = qEnvironmentVariable(name);
        if (!program.isEmpty())
            QTest::newRow(name + 17) << program;
    }
}
