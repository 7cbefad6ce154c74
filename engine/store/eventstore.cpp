#include "engine/store/eventstore.h"

#include "engine/store/database.h"

#include <algorithm>

namespace engine {
namespace {

tl::unexpected<Error> noTranscript(const SessionId &id)
{
    return fail(ErrorCode::NotFound, QStringLiteral("There is no session %1 (any more).").arg(id.value));
}

Result<qint64> sessionNumber(Database &database, const SessionId &id)
{
    const Result<Rows> rows = database.run(QStringLiteral("event.blockTotal"), {{"id", id.value}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty())
        return noTranscript(id);
    return rows->first().number("number");
}

// One append: checks, numbers of session and runs looked up once, then the rows.
class Appender final
{
public:
    Appender(Database &database, const EventBatch &batch) : m_database(database), m_batch(batch) {}

    Result<AppendedEvents> run()
    {
        const Result<qint64> number = sessionNumber(m_database, m_batch.sessionId);
        if (!number)
            return tl::unexpected(number.error());
        m_session = *number;
        using Step = Result<void> (Appender::*)();
        for (const Step step : {&Appender::checkFence, &Appender::addRaw, &Appender::addEvents, &Appender::addBlocks,
                                &Appender::changeBlocks, &Appender::setChannel}) {
            if (const Result<void> done = (this->*step)(); !done)
                return tl::unexpected(done.error());
        }
        return m_done;
    }

private:
    Result<void> checkFence()
    {
        if (!m_batch.fence)
            return {};
        const Result<Rows> rows = m_database.run(QStringLiteral("event.fence"), {{"id", m_batch.fence->run.value}});
        if (!rows)
            return tl::unexpected(rows.error());
        if (rows->isEmpty()) {
            return fail(
                ErrorCode::Stale,
                QStringLiteral("A late write of run %1 was refused: the run is gone.").arg(m_batch.fence->run.value));
        }
        const Row &run = rows->first();
        if (run.integer("attempt") == m_batch.fence->attempt && run.text("state") != toString(RunState::Pending))
            return {};
        return fail(ErrorCode::Stale,
                    QStringLiteral("A late write of attempt %1 of run %2 was refused: the run is %3 in attempt %4.")
                        .arg(m_batch.fence->attempt)
                        .arg(m_batch.fence->run.value, run.text("state"))
                        .arg(run.integer("attempt")));
    }

    Result<void> checkSession(const SessionId &id) const
    {
        if (id.isEmpty() || id == m_batch.sessionId)
            return {};
        return fail(
            ErrorCode::Internal,
            QStringLiteral("A batch of session %1 holds a part of session %2.").arg(m_batch.sessionId.value, id.value));
    }

    // 0: no run.
    Result<qint64> runNumber(const RunId &id)
    {
        if (id.isEmpty())
            return 0;
        if (const auto known = m_runs.constFind(id); known != m_runs.constEnd())
            return *known;
        const Result<Rows> rows =
            m_database.run(QStringLiteral("event.runNumber"), {{"id", id.value}, {"session_number", m_session}});
        if (!rows)
            return tl::unexpected(rows.error());
        if (rows->isEmpty()) {
            return fail(
                ErrorCode::NotFound,
                QStringLiteral("There is no run %1 in session %2 (any more).").arg(id.value, m_batch.sessionId.value));
        }
        const qint64 number = rows->first().number("number");
        m_runs.insert(id, number);
        return number;
    }

    static Bound boundRun(qint64 number)
    {
        return number == 0 ? Bound("run_number", nullptr) : Bound("run_number", number);
    }

    Result<void> addRaw()
    {
        for (const RawLine &line : m_batch.raw) {
            if (const auto checked = checkSession(line.sessionId); !checked)
                return checked;
            const Result<qint64> run = runNumber(line.runId);
            if (!run)
                return tl::unexpected(run.error());
            const Result<Rows> stored =
                m_database.run(QStringLiteral("event.insertRaw"), {{"session_number", m_session},
                                                                   boundRun(*run),
                                                                   {"generation", line.generation},
                                                                   {"launch", m_batch.launch},
                                                                   {"attempt", line.attempt},
                                                                   {"at", line.at},
                                                                   {"direction", int(line.direction)},
                                                                   {"bytes", line.bytes}});
            if (!stored)
                return tl::unexpected(stored.error());
        }
        return {};
    }

    Result<void> addEvents()
    {
        for (const RunEvent &event : m_batch.events) {
            if (const auto checked = checkSession(event.sessionId); !checked)
                return checked;
            const Result<qint64> run = runNumber(event.runId);
            if (!run)
                return tl::unexpected(run.error());
            const Result<Rows> stored = m_database.run(QStringLiteral("event.insertEvent"), {{"run_number", *run},
                                                                                             {"attempt", event.attempt},
                                                                                             {"at", event.at},
                                                                                             {"kind", event.kind},
                                                                                             {"text", event.text}});
            if (!stored)
                return tl::unexpected(stored.error());
            RunEvent done = event;
            done.sessionId = m_batch.sessionId;
            done.number = stored->first().number("number");
            m_done.events.append(done);
        }
        return {};
    }

    Bindings blockBindings(const Block &block, qint64 run, Bindings first) const
    {
        first.insert(first.end(), {boundRun(run),
                                   {"kind", toString(block.kind)},
                                   {"text", block.text},
                                   {"tool_name", block.toolName},
                                   {"input", block.input},
                                   {"output", block.output},
                                   {"tool_state", toString(block.tool)},
                                   {"duration_ms", block.durationMs},
                                   {"approval_id", block.approvalId.value},
                                   {"session_number", m_session},
                                   {"key", block.key}});
        return first;
    }

    // False: no block has this key.
    Result<bool> replace(Block &block)
    {
        block.sessionId = m_batch.sessionId;
        if (block.key.isEmpty())
            return false;
        const Result<qint64> run = runNumber(block.runId);
        if (!run)
            return tl::unexpected(run.error());
        const Result<Rows> changed =
            m_database.run(QStringLiteral("event.changeBlock"), blockBindings(block, *run, {}));
        if (!changed)
            return tl::unexpected(changed.error());
        if (changed->isEmpty())
            return false;
        block.position = changed->first().number("position");
        block.at = changed->first().time("at");
        return true;
    }

    Result<void> addBlocks()
    {
        for (Block block : m_batch.newBlocks) {
            if (const auto checked = checkSession(block.sessionId); !checked)
                return checked;
            const Result<bool> replaced = replace(block);
            if (!replaced)
                return tl::unexpected(replaced.error());
            if (!*replaced) {
                if (const auto added = add(block); !added)
                    return added;
            }
            m_done.newBlocks.append(block);
        }
        return {};
    }

    Result<void> add(Block &block)
    {
        const Result<qint64> run = runNumber(block.runId);
        if (!run)
            return tl::unexpected(run.error());
        const Result<Rows> total =
            m_database.run(QStringLiteral("session.takePositions"), {{"count", 1}, {"number", m_session}});
        if (!total)
            return tl::unexpected(total.error());
        block.position = total->first().number("block_count") - 1;
        const Result<Rows> stored =
            m_database.run(QStringLiteral("event.insertBlock"),
                           blockBindings(block, *run, {{"position", block.position}, {"at", block.at}}));
        if (!stored)
            return tl::unexpected(stored.error());
        return {};
    }

    Result<void> changeBlocks()
    {
        for (Block block : m_batch.changedBlocks) {
            if (const auto checked = checkSession(block.sessionId); !checked)
                return checked;
            const Result<bool> replaced = replace(block);
            if (!replaced)
                return tl::unexpected(replaced.error());
            if (!*replaced) {
                return fail(ErrorCode::NotFound, QStringLiteral("Session %1 has no piece \"%2\" to change.")
                                                     .arg(m_batch.sessionId.value, block.key));
            }
            m_done.changedBlocks.append(block);
        }
        return {};
    }

    Result<void> setChannel()
    {
        if (!m_batch.channel)
            return {};
        return SessionStore(m_database).setChannelState(m_batch.sessionId, *m_batch.channel);
    }

    Database &m_database;
    const EventBatch &m_batch;
    AppendedEvents m_done;
    qint64 m_session = 0;
    QHash<RunId, qint64> m_runs;
};

Block blockOf(const Row &row, const SessionId &session)
{
    Block block;
    block.sessionId = session;
    block.position = row.number("position");
    block.runId = {row.text("run_id")};
    block.kind = row.word("kind", &blockKindFromString, BlockKind::Unknown);
    block.key = row.text("key");
    block.text = row.text("text");
    block.toolName = row.text("tool_name");
    block.input = row.text("input");
    block.output = row.text("output");
    block.tool = row.word("tool_state", &toolStateFromString, ToolState::None);
    block.durationMs = row.number("duration_ms");
    block.approvalId = {row.text("approval_id")};
    block.at = row.time("at");
    return block;
}

RawLine rawLineOf(const Row &row, const SessionId &session)
{
    RawLine line;
    line.number = row.number("number");
    line.sessionId = session;
    line.runId = {row.text("run_id")};
    line.generation = row.integer("generation");
    line.attempt = row.integer("attempt");
    line.at = row.time("at");
    line.direction = RawLine::Direction(row.integer("direction"));
    line.bytes = row.bytes("bytes");
    return line;
}

} // namespace

Result<AppendedEvents> EventStore::append(const EventBatch &batch)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<AppendedEvents> done = Appender(m_database, batch).run();
    if (!done)
        return done;
    if (const auto committed = transaction->commit(); !committed)
        return tl::unexpected(committed.error());
    return done;
}

Result<BlockPage> EventStore::blocks(const SessionId &id, qint64 first, int count) const
{
    const Result<Rows> total = m_database.run(QStringLiteral("event.blockTotal"), {{"id", id.value}});
    if (!total)
        return tl::unexpected(total.error());
    if (total->isEmpty())
        return noTranscript(id);
    BlockPage page;
    page.sessionId = id;
    page.total = total->first().number("block_count");
    page.first = std::clamp<qint64>(first, 0, page.total);
    const Result<Rows> rows =
        m_database.run(QStringLiteral("event.blocks"), {{"session_number", total->first().number("number")},
                                                        {"first", page.first},
                                                        {"end", page.first + std::max(count, 0)}});
    if (!rows)
        return tl::unexpected(rows.error());
    page.blocks.reserve(rows->rows.size());
    for (const Row &row : rows->rows)
        page.blocks.append(blockOf(row, id));
    return page;
}

Result<std::optional<Block>> EventStore::blockByKey(const SessionId &id, const QString &key) const
{
    const Result<qint64> session = sessionNumber(m_database, id);
    if (!session)
        return tl::unexpected(session.error());
    const Result<Rows> rows =
        m_database.run(QStringLiteral("event.blockByKey"), {{"session_number", *session}, {"key", key}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty())
        return std::optional<Block>();
    return std::optional<Block>(blockOf(rows->first(), id));
}

Result<QList<RawLine>> EventStore::rawLines(const SessionId &id, const RunId &run, int limit) const
{
    const Result<qint64> session = sessionNumber(m_database, id);
    if (!session)
        return tl::unexpected(session.error());
    const Result<Rows> rows =
        run.isEmpty()
            ? m_database.run(QStringLiteral("event.rawOfSession"), {{"session_number", *session}, {"limit", limit}})
            : m_database.run(QStringLiteral("event.rawOfRun"),
                             {{"run_id", run.value}, {"session_number", *session}, {"limit", limit}});
    if (!rows)
        return tl::unexpected(rows.error());
    QList<RawLine> lines;
    lines.reserve(rows->rows.size());
    for (auto row = rows->rows.crbegin(); row != rows->rows.crend(); ++row)
        lines.append(rawLineOf(*row, id));
    return lines;
}

Result<void> EventStore::rawOfLaunch(const SessionId &id, int generation, quint64 launch,
                                     const std::function<bool(const RawLine &)> &visit) const
{
    const Result<qint64> session = sessionNumber(m_database, id);
    if (!session)
        return tl::unexpected(session.error());
    return m_database.each(QStringLiteral("event.rawOfLaunch"),
                           {{"session_number", *session}, {"generation", generation}, {"launch", launch}},
                           [&id, &visit](const Row &row) { return visit(rawLineOf(row, id)); });
}

Result<QList<RunEvent>> EventStore::runEvents(const RunId &id, int limit) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("event.ofRun"), {{"run_id", id.value}, {"limit", limit}});
    if (!rows)
        return tl::unexpected(rows.error());
    QList<RunEvent> events;
    events.reserve(rows->rows.size());
    for (auto row = rows->rows.crbegin(); row != rows->rows.crend(); ++row) {
        events.append({row->number("number"),
                       {row->text("session_id")},
                       {row->text("run_id")},
                       row->integer("attempt"),
                       row->time("at"),
                       row->text("kind"),
                       row->text("text")});
    }
    return events;
}

} // namespace engine
