// The window over a session of a million blocks: open, frames while scrolling with 500 appends a second, memory. The floor
// is the same widget with a hundred blocks.
#include "engine/localengineclient.h"
#include "engine/stores.h"
#include "models/transcriptmodel.h"
#include "tests/bench/ratio.h"
#include "ui/sessions/transcriptview.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

namespace {

constexpr int million = 1000 * 1000;

double residentMb()
{
    QFile statm(QStringLiteral("/proc/self/statm"));
    if (!statm.open(QIODevice::ReadOnly))
        return 0;
    return statm.readAll().split(' ').value(1).toDouble() * 4096 / 1e6;
}

Block blockAt(const SessionId &session, qint64 number)
{
    Block block;
    block.sessionId = session;
    block.position = number;
    block.key = QStringLiteral("b%1").arg(number);
    block.at = QDateTime::currentDateTimeUtc();
    if (number % 5 == 0) {
        block.kind = BlockKind::Tool;
        block.toolName = QStringLiteral("Bash");
        block.input = QStringLiteral("{\"command\":\"ls -la folder-%1\"}").arg(number);
        block.output = QStringLiteral("total 0");
        block.tool = ToolState::Done;
        block.durationMs = 12;
    } else {
        block.kind = BlockKind::Answer;
        block.text = QStringLiteral("Answer **%1** with `code`, a list:\n\n- one\n- two\n\nand a sentence that wraps over the width of the "
                                    "view when it is narrow enough.")
                         .arg(number);
    }
    return block;
}

Session fill(Stores &stores, const AgentId &agent, int blocks)
{
    Session session;
    session.id = newSessionId();
    session.agentId = agent;
    session.createdAt = session.updatedAt = QDateTime::currentDateTimeUtc();
    if (!stores.sessions.insert(session))
        qFatal("session");
    for (int first = 0; first < blocks; first += 1000) {
        EventBatch batch;
        batch.sessionId = session.id;
        for (int i = first; i < qMin(blocks, first + 1000); ++i)
            batch.newBlocks.append(blockAt(session.id, i));
        if (!stores.events.append(batch))
            qFatal("append");
    }
    return session;
}

struct Figures
{
    double openMs = 0;
    double frameP50 = 0;
    double frameP99 = 0;
    double grownMb = 0;
};

Figures measure(LocalEngineClient &client, const SessionId &id, qint64 total)
{
    models::TranscriptModel model(client);
    ui::TranscriptView view(model);
    view.resize(900, 800);
    view.show();
    QElapsedTimer timer;
    timer.start();
    model.open(id, total);
    if (!QTest::qWaitFor([&] { return view.visibleText().contains(QStringLiteral("Answer")); }, 20000))
        qFatal("the session did not open");
    Figures figures;
    figures.openMs = double(timer.nsecsElapsed()) / 1e6;

    QList<double> frames;
    qint64 appended = total;
    const double before = residentMb();
    for (int i = 0; i < 600; ++i) {
        // A frame of a 60 Hz window: about eight new blocks, a wheel step, a repaint.
        FeedBatch batch;
        for (int n = 0; n < 8; ++n)
            batch.blocks.append(blockAt(id, appended++));
        timer.start();
        emit client.fed(batch);
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->value() - 60 + (i % 100 == 0 ? 200000 : 0));
        view.viewport()->repaint();
        frames.append(double(timer.nsecsElapsed()) / 1e6);
        QTest::qWait(1);
    }
    figures.frameP50 = bench::median(frames);
    figures.frameP99 = bench::percentile(frames, 0.99);
    figures.grownMb = residentMb() - before;
    return figures;
}

} // namespace

int main(int argc, char **argv)
{
    qputenv("QT_QPA_PLATFORM", qgetenv("QT_QPA_PLATFORM").isEmpty() ? "offscreen" : qgetenv("QT_QPA_PLATFORM"));
    QApplication application(argc, argv);
    ui::applyTheme(application, ui::Appearance::Light);
    QTemporaryDir folder;
    Session large;
    Session small;
    {
        auto database = Database::open({folder.filePath(QStringLiteral("data/signalbox.db"))});
        if (!database)
            qFatal("%s", qPrintable(database.error().message));
        Stores stores(**database);
        Agent agent;
        agent.id = newAgentId();
        agent.name = QStringLiteral("bench");
        agent.createdAt = agent.updatedAt = QDateTime::currentDateTimeUtc();
        if (!stores.agents.insertOrUpdate(agent))
            qFatal("agent");
        small = fill(stores, agent.id, 100);
        large = fill(stores, agent.id, million);
    }
    EngineOptions options;
    options.dataFolder = folder.filePath(QStringLiteral("data"));
    options.runtimeFolder = folder.filePath(QStringLiteral("run"));
    options.workerProgram = QStringLiteral(BINARY_DIR "/bin/signalbox-worker");
    LocalEngineClient client(options);
    QSignalSpy started(&client, &EngineClient::started);
    client.start();
    if (started.isEmpty() && !started.wait(20000))
        qFatal("engine");
    const Figures floor = measure(client, small.id, 100);
    const Figures ours = measure(client, large.id, million);
    bench::report("open a session of 1,000,000 blocks", ours.openMs, "ms", "of 100 blocks", floor.openMs, "<= 300 ms", ours.openMs <= 300);
    bench::report("frame, scrolling and appending 500/s, p50", ours.frameP50, "ms", "of 100 blocks", floor.frameP50, "<= 16 ms", ours.frameP50 <= 16);
    bench::report("frame, scrolling and appending 500/s, p99", ours.frameP99, "ms", "of 100 blocks", floor.frameP99, "<= 16 ms", ours.frameP99 <= 16);
    bench::report("memory grown in 600 such frames", ours.grownMb, "MB", "of 100 blocks", floor.grownMb, "flat", ours.grownMb < 40);
    return 0;
}
