#pragma once

#include "tests/support/enginefixture.h"

#include <QDir>
#include <signal.h>

// An engine with the stand-in harness program: the real worker, protocol, driver and store.
class StubFixture final : public EngineFixture
{
public:
    explicit StubFixture(bool fakeTime = false) : EngineFixture(fakeTime)
    {
        environment.insert(QStringLiteral("ANTHROPIC_API_KEY"), QStringLiteral("none"));
    }
    ~StubFixture() override
    {
        if (!client)
            return;
        const auto all = get(client->sessions({}));
        for (const engine::Session &session : all.value_or(QList<engine::Session>{})) {
            for (const engine::Run &run : get(client->runs(session.id, 1000)).value_or(QList<engine::Run>{})) {
                if (!isTerminal(run.state))
                    get(client->cancelRun(run.id, QStringLiteral("test")));
            }
            get(client->deleteSession(session.id, QStringLiteral("test")));
        }
        if (!QTest::qWaitFor([this] { return stubPids().isEmpty() && workerPids().isEmpty(); }, 10000))
            qWarning("leftovers of this test are still running");
    }

    engine::Agent stub(const std::function<void(engine::Agent &)> &change = {})
    {
        engine::Agent wanted;
        wanted.name = QStringLiteral("Stub");
        wanted.program = QStringLiteral(BINARY_DIR "/bin/stubclaude");
        wanted.environment.insert(QStringLiteral("STUB_STAMPS"), stampsPath());
        if (change)
            change(wanted);
        return agent(wanted);
    }
    QString stampsPath() const { return folder.filePath(QStringLiteral("stamps")); }
    // "allow" and "deny" in the order the harness read them.
    QStringList decisionsRead() const
    {
        QFile file(stampsPath());
        if (!file.open(QIODevice::ReadOnly))
            return {};
        QStringList read;
        for (const QByteArray &line : file.readAll().trimmed().split('\n'))
            read.append(QString::fromUtf8(line.split(' ').last()));
        return read;
    }
    QList<qint64> stubPids() const { return pidsOf(QStringLiteral("stubclaude")); }
    QList<qint64> workerPids() const { return pidsOf(QStringLiteral("signalbox-worker")); }

    bool settles(const engine::RunId &id, engine::RunState wanted, int timeoutMs = 15000)
    {
        return QTest::qWaitFor([&] { return state(id) == wanted; }, timeoutMs);
    }
    QList<engine::Approval> pendingOnce(int count, int timeoutMs = 15000)
    {
        if (!QTest::qWaitFor([&] { return pending().size() == count; }, timeoutMs))
            qWarning("%d pending approvals instead of %d", int(pending().size()), count);
        return pending();
    }

private:
    // Of this fixture only: its folder stands in the arguments or the environment.
    QList<qint64> pidsOf(const QString &program) const
    {
        QList<qint64> pids;
        for (const QString &entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
            bool isPid = false;
            const qint64 pid = entry.toLongLong(&isPid);
            QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(pid));
            QFile environ(QStringLiteral("/proc/%1/environ").arg(pid));
            if (!isPid || !commandLine.open(QIODevice::ReadOnly) || !environ.open(QIODevice::ReadOnly))
                continue;
            const QByteArray arguments = commandLine.readAll();
            const QByteArray mark = folder.path().toUtf8();
            if (arguments.left(arguments.indexOf('\0')).contains(program.toUtf8()) &&
                (arguments.contains(mark) || environ.readAll().contains(mark)))
                pids.append(pid);
        }
        return pids;
    }
};
