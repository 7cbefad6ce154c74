// Latencies inside the engine, each beside its floor in the same run: commit -> claimed, Resolve -> decision bytes at the
// harness's stdin, and opening a session of a million events.
#include "engine/stores.h"
#include "tests/bench/ratio.h"
#include "tests/engine/stubfixture.h"

#include <QCoreApplication>
#include <time.h>

using namespace engine;

namespace {

qint64 monotonicNs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// A commit of one small row with the same durability: what the disk itself asks.
double commitFloorMs(const QString &folder)
{
    auto database = Database::open({folder + QStringLiteral("/floor.db")});
    SettingStore settings(**database);
    QList<double> times;
    for (int i = 0; i < 60; ++i) {
        QElapsedTimer timer;
        timer.start();
        if (!settings.set(QStringLiteral("k"), QString::number(i)))
            qFatal("floor");
        times.append(double(timer.nsecsElapsed()) / 1e6);
    }
    return bench::median(times);
}

void resolveToStdin(StubFixture &fixture, double floor)
{
    const Session session = fixture.session(fixture.stub());
    QList<double> times;
    for (int i = 0; i < 40; ++i) {
        fixture.submit(session, QStringLiteral("ask 1"));
        const Approval approval = fixture.pendingOnce(1).value(0);
        const qsizetype before = fixture.decisionsRead().size();
        const qint64 pressed = monotonicNs();
        Decision decision{approval.id, approval.digest, Verdict::Approve, {}, {}, QStringLiteral("rita"), {}, true};
        fixture.get(fixture.client->resolve(decision));
        if (!QTest::qWaitFor([&] { return fixture.decisionsRead().size() > before; }, 5000))
            qFatal("the decision never arrived");
        QFile stamps(fixture.stampsPath());
        if (stamps.open(QIODevice::ReadOnly)) {
            const QList<QByteArray> lines = stamps.readAll().trimmed().split('\n');
            times.append(double(lines.last().split(' ').value(1).toLongLong() - pressed) / 1e6);
        }
    }
    const double p50 = bench::median(times);
    bench::report("Resolve -> decision read by the harness, p50", p50, "ms", "one durable commit", floor, "<= 10 ms", p50 <= 10);
    const double p95 = bench::percentile(times, 0.95);
    bench::report("Resolve -> decision read by the harness, p95", p95, "ms", "one durable commit", floor, "<= 10 ms", p95 <= 10);
}

void commitToClaimed(StubFixture &fixture, double floor)
{
    const Session session = fixture.session(fixture.stub());
    QList<double> times;
    for (int i = 0; i < 40; ++i) {
        const Run run = fixture.submit(session, QStringLiteral("text x"));
        fixture.settles(run.id, RunState::Completed);
        const Run done = fixture.run(run.id);
        times.append(double(done.createdAt.msecsTo(done.startedAt)));
    }
    const double p50 = bench::median(times);
    bench::report("submit stored -> claimed, p50", p50, "ms", "one durable commit", floor, "<= 1 ms + commit", p50 <= 1 + floor + 1);
}

void openMillion(const QString &folder)
{
    auto database = Database::open({folder + QStringLiteral("/million.db")});
    Stores stores(**database);
    Agent agent;
    agent.id = newAgentId();
    agent.name = QStringLiteral("bench");
    agent.createdAt = agent.updatedAt = QDateTime::currentDateTimeUtc();
    Session session;
    session.id = newSessionId();
    session.agentId = agent.id;
    session.createdAt = session.updatedAt = QDateTime::currentDateTimeUtc();
    if (!stores.agents.insertOrUpdate(agent) || !stores.sessions.insert(session))
        qFatal("no session");
    for (int i = 0; i < 1000; ++i) {
        EventBatch batch;
        batch.sessionId = session.id;
        for (int row = 0; row < 1000; ++row) {
            Block block;
            block.sessionId = session.id;
            block.kind = row % 7 == 0 ? BlockKind::Tool : BlockKind::Answer;
            block.key = QStringLiteral("b%1").arg(i * 1000 + row);
            block.text = QStringLiteral("Answer number %1 with **some** words in it.").arg(i * 1000 + row);
            block.at = session.createdAt;
            batch.newBlocks.append(block);
        }
        if (!stores.events.append(batch))
            qFatal("append");
    }
    const auto window = [&](const SessionId &id, qint64 first) {
        QElapsedTimer timer;
        timer.start();
        if (!stores.sessions.get(id) || !stores.events.blocks(id, first, 200))
            qFatal("window");
        return double(timer.nsecsElapsed()) / 1e6;
    };
    QList<double> last;
    QList<double> middle;
    for (int i = 0; i < 20; ++i) {
        last.append(window(session.id, 999800));
        middle.append(window(session.id, 37 * 1000 + i * 40000));
    }
    bench::report("window of 200 blocks at the end of 1,000,000", bench::median(last), "ms", "somewhere in the middle", bench::median(middle),
                  "<= 300 ms", bench::median(last) <= 300);
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    QTemporaryDir folder;
    const double floor = commitFloorMs(folder.path());
    {
        StubFixture fixture;
        if (!fixture.start())
            qFatal("%s", qPrintable(fixture.failure.message));
        commitToClaimed(fixture, floor);
        resolveToStdin(fixture, floor);
    }
    openMillion(folder.path());
    return 0;
}
