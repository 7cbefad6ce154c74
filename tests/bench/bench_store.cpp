// Event ingest, persisted, in batches of 100 with synchronous=FULL, beside the same rows through SQLite's C interface; and
// a claim out of a long queue.
#include "engine/stores.h"
#include "tests/bench/ratio.h"

#include <QTemporaryDir>
#include <sqlite3.h>

using namespace engine;

namespace {

constexpr int batches = 500;
constexpr int batchRows = 100;
const QByteArray line(450, 'x');

double storeRows(const QString &folder)
{
    auto database = Database::open({folder + QStringLiteral("/store.db")});
    if (!database)
        qFatal("%s", qPrintable(database.error().message));
    Stores stores(**database);
    Agent agent;
    agent.id = newAgentId();
    agent.name = QStringLiteral("bench");
    agent.createdAt = agent.updatedAt = QDateTime::currentDateTimeUtc();
    Session session;
    session.id = newSessionId();
    session.agentId = agent.id;
    const QDateTime now = QDateTime::currentDateTimeUtc();
    session.createdAt = session.updatedAt = now;
    if (!stores.agents.insertOrUpdate(agent) || !stores.sessions.insert(session))
        qFatal("no session");
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < batches; ++i) {
        EventBatch batch;
        batch.sessionId = session.id;
        batch.launch = 1;
        for (int row = 0; row < batchRows; ++row) {
            RawLine raw;
            raw.sessionId = session.id;
            raw.generation = 1;
            raw.at = now;
            raw.bytes = line;
            batch.raw.append(raw);
        }
        batch.channel = ChannelState{1, 1, 1, quint64(i) * 45000, 0};
        if (!stores.events.append(batch))
            qFatal("append failed");
    }
    return batches * batchRows / (double(timer.nsecsElapsed()) / 1e9);
}

double plainRows(const QString &folder)
{
    sqlite3 *db = nullptr;
    sqlite3_open((folder + QStringLiteral("/plain.db")).toUtf8().constData(), &db);
    const auto run = [db](const char *sql) { sqlite3_exec(db, sql, nullptr, nullptr, nullptr); };
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
    run("CREATE TABLE raw (number INTEGER PRIMARY KEY, session TEXT, run TEXT, generation INT, launch INT, at INT, direction TEXT, bytes BLOB) STRICT");
    run("CREATE INDEX raw_by_session ON raw (session, number)");
    sqlite3_stmt *insert = nullptr;
    sqlite3_prepare_v2(db, "INSERT INTO raw (session, run, generation, launch, at, direction, bytes) VALUES ('s-0123456789abcdef','r',1,1,?1,'from_harness',?2)", -1,
                       &insert, nullptr);
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < batches; ++i) {
        run("BEGIN IMMEDIATE");
        for (int row = 0; row < batchRows; ++row) {
            sqlite3_bind_int64(insert, 1, 1764576000000LL + row);
            sqlite3_bind_blob(insert, 2, line.constData(), int(line.size()), SQLITE_STATIC);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        run("COMMIT");
    }
    const double rate = batches * batchRows / (double(timer.nsecsElapsed()) / 1e9);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return rate;
}

} // namespace

int main()
{
    QTemporaryDir folder;
    const double plain = plainRows(folder.path());
    const double ours = storeRows(folder.path());
    bench::report("event ingest, persisted", ours, "rows/s", "SQLite C interface, same rows", plain, ">= 50000 rows/s", ours >= 50000);
    return 0;
}
