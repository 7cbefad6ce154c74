#pragma once

#include "engine/localengineclient.h"
#include "tests/support/fakeclock.h"

#include <QSignalSpy>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

// A real engine over a store in a temporary folder, with what it fed gathered for looking at.
class EngineFixture : public QObject
{
    Q_OBJECT

public:
    explicit EngineFixture(bool fakeTime = false) : time(fakeTime ? std::make_shared<FakeTime>() : nullptr) {}
    ~EngineFixture() override { stop(); }

    engine::EngineOptions options() const
    {
        engine::EngineOptions options;
        options.dataFolder = folder.filePath(QStringLiteral("data"));
        options.runtimeFolder = folder.filePath(QStringLiteral("run"));
        options.workerProgram = QStringLiteral(BINARY_DIR "/bin/signalbox-worker");
        options.environment = environment;
        options.pollMs = pollMs;
        options.dockerSocket = dockerSocket;
        if (time) {
            const std::shared_ptr<FakeTime> shared = time;
            options.clock = [shared] { return std::make_unique<FakeClock>(shared); };
        }
        return options;
    }

    bool start()
    {
        client = std::make_unique<engine::LocalEngineClient>(options());
        connect(client.get(), &engine::EngineClient::fed, this, &EngineFixture::take);
        QSignalSpy started(client.get(), &engine::EngineClient::started);
        QSignalSpy failed(client.get(), &engine::EngineClient::failed);
        client->start();
        while (started.isEmpty() && failed.isEmpty()) {
            if (!started.wait(50) && timer.hasExpired(20000))
                return false;
        }
        if (!failed.isEmpty())
            failure = failed.first().first().value<engine::Error>();
        return !started.isEmpty();
    }

    void stop()
    {
        if (!client)
            return;
        QSignalSpy stopped(client.get(), &engine::LocalEngineClient::stopped);
        client->shutdown();
        if (stopped.isEmpty())
            stopped.wait(10000);
        client.reset();
    }

    template <class T> engine::Result<T> get(QFuture<engine::Result<T>> future, int timeoutMs = 30000)
    {
        QElapsedTimer waited;
        waited.start();
        while (!future.isFinished() && !waited.hasExpired(timeoutMs))
            QTest::qWait(1);
        if (!future.isFinished() || future.resultCount() == 0)
            return engine::fail(engine::ErrorCode::Internal, QStringLiteral("no answer within %1 ms").arg(timeoutMs));
        return future.result();
    }

    engine::Agent agent(engine::Agent wanted)
    {
        const auto saved = get(client->saveAgent(wanted, QStringLiteral("test")));
        if (!saved)
            qWarning("agent: %s", qPrintable(saved.error().message));
        return saved.value_or(engine::Agent{});
    }

    engine::Session session(const engine::Agent &agent)
    {
        const auto made = get(client->createSession({agent.id, {}, {}}, QStringLiteral("test")));
        if (!made)
            qWarning("session: %s", qPrintable(made.error().message));
        return made.value_or(engine::Session{});
    }

    engine::Run submit(const engine::Session &session, const QString &prompt, const QString &key = {})
    {
        const auto submitted =
            get(client->submit({session.id, prompt, QStringLiteral("olga"), QStringLiteral("test"), key}));
        if (!submitted)
            qWarning("submit: %s", qPrintable(submitted.error().message));
        return submitted ? submitted->run : engine::Run{};
    }

    engine::Run run(const engine::RunId &id) { return get(client->run(id)).value_or(engine::Run{}); }
    engine::RunState state(const engine::RunId &id) { return run(id).state; }

    engine::RunState lastSeen(const engine::RunId &id) const
    {
        const QList<engine::RunState> states = seen.value(id);
        return states.isEmpty() ? engine::RunState::Pending : states.last();
    }

    QList<engine::Approval> pending()
    {
        return get(client->approvals({})).value_or(QList<engine::Approval>{});
    }
    engine::Approval approval(const engine::ApprovalId &id)
    {
        return get(client->approval(id)).value_or(engine::Approval{});
    }

    engine::Result<engine::Resolved> decide(const engine::Approval &approval, engine::Verdict verdict, bool goOn = true,
                                            const QString &note = {}, const QByteArray &edited = {})
    {
        engine::Decision decision;
        decision.id = approval.id;
        decision.digest = approval.digest;
        decision.verdict = verdict;
        decision.note = note;
        decision.editedInput = edited;
        decision.decidedBy = QStringLiteral("rita");
        decision.continueAfter = goOn;
        return get(client->resolve(decision));
    }

    QList<engine::Block> blocks(const engine::SessionId &id)
    {
        return get(client->blocks(id, 0, 10000)).value_or(engine::BlockPage{}).blocks;
    }

    // "prompt|answer|tool(Bash,done)|..." for comparing whole transcripts.
    QString transcript(const engine::SessionId &id)
    {
        QStringList parts;
        for (const engine::Block &block : blocks(id)) {
            if (block.kind == engine::BlockKind::Note)
                continue;
            if (block.kind == engine::BlockKind::Tool)
                parts.append(QStringLiteral("tool(%1,%2)").arg(block.toolName, toString(block.tool)));
            else if (block.kind == engine::BlockKind::Answer || block.kind == engine::BlockKind::Prompt)
                parts.append(toString(block.kind) + u':' + block.text.left(60));
            else
                parts.append(toString(block.kind));
        }
        return parts.join(u'|');
    }

    // Makes the store fail at one kind of write (an arithmetic overflow in a trigger), as a full disk would: "approval_insert",
    // "approval_update", "raw_line_insert".
    void breakStore(const QString &write)
    {
        const QString table = write.left(write.lastIndexOf(u'_'));
        const QString action = write.mid(write.lastIndexOf(u'_') + 1);
        sql(QStringLiteral("CREATE TRIGGER refuse_%1_%2 BEFORE %2 ON %1 BEGIN SELECT abs(-9223372036854775807 - 1); END")
                .arg(table, action));
        m_broken.append(QStringLiteral("refuse_%1_%2").arg(table, action));
    }
    void mendStore()
    {
        for (const QString &trigger : std::exchange(m_broken, {}))
            sql(QStringLiteral("DROP TRIGGER %1").arg(trigger));
    }
    QList<QVariant> sql(const QString &statement)
    {
        QList<QVariant> first;
        const QString name = QStringLiteral("test-side");
        {
            QSqlDatabase side = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
            side.setDatabaseName(folder.filePath(QStringLiteral("data/signalbox.db")));
            if (!side.open())
                qWarning("side connection: %s", qPrintable(side.lastError().text()));
            QSqlQuery query(side);
            if (!query.exec(statement))
                qWarning("%s: %s", qPrintable(statement), qPrintable(query.lastError().text()));
            while (query.next())
                first.append(query.value(0));
        }
        QSqlDatabase::removeDatabase(name);
        return first;
    }

    QTemporaryDir folder;
    std::shared_ptr<FakeTime> time;
    QMap<QString, QString> environment{{QStringLiteral("PATH"), qEnvironmentVariable("PATH")},
                                       {QStringLiteral("HOME"), folder.path()}};
    int pollMs = 1000;
    QString dockerSocket = QStringLiteral("/nowhere/docker.sock"); // never the machine's own
    std::unique_ptr<engine::LocalEngineClient> client;
    engine::Error failure;
    QList<engine::FeedBatch> batches;
    QString liveText;
    QHash<engine::RunId, QList<engine::RunState>> seen; // states each run was announced in, without repeats
    engine::Counts counts;
    QList<engine::Notice> notices;

private:
    QStringList m_broken;

    void take(const engine::FeedBatch &batch)
    {
        batches.append(batch);
        counts = batch.counts;
        notices += batch.notices;
        for (const engine::LiveText &live : batch.live)
            liveText += live.text;
        for (const engine::Run &run : batch.runs) {
            QList<engine::RunState> &states = seen[run.id];
            if (states.isEmpty() || states.last() != run.state)
                states.append(run.state);
        }
    }

    QElapsedTimer timer = [] {
        QElapsedTimer started;
        started.start();
        return started;
    }();
};
