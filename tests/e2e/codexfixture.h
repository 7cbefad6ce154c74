#pragma once

#include "tests/support/enginefixture.h"
#include "tests/support/standinopenai.h"

#include <QFileInfo>
#include <signal.h>

// The real Codex against the stand-in for the model's API, driven through the engine.
class CodexFixture final : public EngineFixture
{
public:
    explicit CodexFixture(bool fakeTime = false) : EngineFixture(fakeTime)
    {
        environment.insert(QStringLiteral("OPENAI_BASE_URL"), QStringLiteral("http://127.0.0.1:%1/v1").arg(api.port()));
        environment.insert(QStringLiteral("OPENAI_API_KEY"), QStringLiteral("test-key-for-the-stand-in"));
        // Codex makes no helpers in a home below the folder of temporary files.
        QDir(folder.path()).mkpath(QStringLiteral("tmp"));
        environment.insert(QStringLiteral("TMPDIR"), folder.filePath(QStringLiteral("tmp")));
    }
    ~CodexFixture() override
    {
        // The harness would outlive the engine: that is its virtue elsewhere.
        if (client)
            endSessions();
        stop();
    }

    engine::Agent codex(const std::function<void(engine::Agent &)> &change = {})
    {
        engine::Agent wanted;
        wanted.name = QStringLiteral("Codex");
        wanted.harness = engine::HarnessKind::Codex;
        wanted.program = qEnvironmentVariable("SIGNALBOX_CODEX");
        wanted.model = QStringLiteral("gpt-5.5");
        wanted.keyVariable = QStringLiteral("OPENAI_API_KEY");
        if (change)
            change(wanted);
        return agent(wanted);
    }

    engine::Approval nextApproval(int timeoutMs = 40000)
    {
        if (!QTest::qWaitFor([this] { return !pending().isEmpty(); }, timeoutMs))
            return {};
        return pending().first();
    }

    bool settles(const engine::RunId &id, engine::RunState wanted, int timeoutMs = 60000)
    {
        const bool settled = QTest::qWaitFor([&] { return state(id) == wanted || isTerminal(state(id)); }, timeoutMs);
        const engine::Run now = run(id);
        if (now.state != wanted)
            qWarning("the run is %s: %s %s", qPrintable(toString(now.state)), qPrintable(now.errorCode),
                     qPrintable(now.errorMessage));
        return settled && now.state == wanted;
    }

    engine::NativeIdentity native(const engine::Session &session)
    {
        return get(client->session(session.id)).value_or(engine::Session{}).native;
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
        if (!QTest::qWaitFor([this] { return harnessPids().isEmpty() && workerPids().isEmpty(); }, 15000))
            qWarning("leftovers of this test are still running");
    }

    // Processes that belong to this fixture: their environment names its folder.
    QList<qint64> harnessPids() const
    {
        QList<qint64> pids;
        for (const QString &entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
            bool isPid = false;
            const qint64 pid = entry.toLongLong(&isPid);
            QFile environ(QStringLiteral("/proc/%1/environ").arg(pid));
            QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(pid));
            if (isPid && environ.open(QIODevice::ReadOnly) && commandLine.open(QIODevice::ReadOnly) &&
                environ.readAll().contains(("CODEX_HOME=" + folder.path()).toUtf8()) &&
                commandLine.readAll().contains("app-server"))
                pids.append(pid);
        }
        return pids;
    }

    QList<qint64> workerPids() const
    {
        QList<qint64> pids;
        for (const QString &entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
            QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(entry));
            if (!commandLine.open(QIODevice::ReadOnly))
                continue;
            const QByteArray words = commandLine.readAll();
            if (words.contains("signalbox-worker") && words.contains(folder.path().toUtf8()))
                pids.append(entry.toLongLong());
        }
        return pids;
    }

    int promptsSeen(const QString &directive) const
    {
        int count = 0;
        for (const StandInOpenAi::Request &request : api.requests())
            count += request.directive == directive && request.toolRounds == 0 ? 1 : 0;
        return count;
    }

    StandInOpenAi api;
};
