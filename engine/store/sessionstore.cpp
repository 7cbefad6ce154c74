#include "engine/store/sessionstore.h"

#include "engine/store/database.h"

namespace engine {
namespace {

Session sessionOf(const Row &row)
{
    Session session;
    session.id = {row.text("id")};
    session.agentId = {row.text("agent_id")};
    session.agentName = row.text("agent_name");
    session.title = row.text("title");
    session.workspace = row.text("workspace");
    session.native = {row.text("native_session_id"), row.text("transcript_path"), row.number("transcript_size"),
                      row.text("transcript_hash")};
    session.generation = row.integer("generation");
    session.model = row.text("model");
    session.permissionMode = row.text("permission_mode");
    session.createdAt = row.time("created_at");
    session.updatedAt = row.time("updated_at");
    session.activeRun = {row.text("active_run_id")};
    session.activeState = row.word("active_state", &runStateFromString, RunState::Completed);
    session.queued = row.integer("queued");
    session.pendingApprovals = row.integer("pending_approvals");
    session.lastOutcome = row.word("last_outcome", &runStateFromString, RunState::Completed);
    session.blocks = row.number("block_count");
    return session;
}

tl::unexpected<Error> noSession(const SessionId &id)
{
    return fail(ErrorCode::NotFound,
                QStringLiteral("There is no session %1 (any more). Choose one of the list.").arg(id.value));
}

Result<void> changeSession(Database &database, const SessionId &id, const QString &statement, const Bindings &bindings)
{
    const Result<Rows> changed = database.run(statement, bindings);
    if (!changed)
        return tl::unexpected(changed.error());
    if (changed->changed == 0)
        return noSession(id);
    return {};
}

Result<void> runAll(Database &database, const QStringList &statements, const Bindings &bindings)
{
    for (const QString &statement : statements) {
        if (const Result<Rows> done = database.run(statement, bindings); !done)
            return tl::unexpected(done.error());
    }
    return {};
}

} // namespace

Result<void> SessionStore::insert(const Session &session)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> deleted = m_database.run(QStringLiteral("session.deleted"), {{"id", session.id.value}});
    if (!deleted)
        return tl::unexpected(deleted.error());
    if (!deleted->isEmpty()) {
        return fail(ErrorCode::Conflict,
                    QStringLiteral("The session %1 was deleted; its id can't be used again. Make a "
                                   "new session.")
                        .arg(session.id.value));
    }
    const Result<Rows> stored =
        m_database.run(QStringLiteral("session.insert"), {{"id", session.id.value},
                                                          {"agent_id", session.agentId.value},
                                                          {"title", session.title},
                                                          {"title_folded", session.title.toCaseFolded()},
                                                          {"workspace", session.workspace},
                                                          {"native_session_id", session.native.nativeSessionId},
                                                          {"transcript_path", session.native.transcriptPath},
                                                          {"transcript_size", session.native.transcriptSize},
                                                          {"transcript_hash", session.native.transcriptHash},
                                                          {"generation", session.generation},
                                                          {"model", session.model},
                                                          {"permission_mode", session.permissionMode},
                                                          {"created_at", session.createdAt},
                                                          {"updated_at", session.updatedAt}});
    if (!stored)
        return tl::unexpected(stored.error());
    return transaction->commit();
}

Result<Session> SessionStore::get(const SessionId &id) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("session.get"), {{"id", id.value}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty())
        return noSession(id);
    return sessionOf(rows->first());
}

Result<QList<Session>> SessionStore::list(const SessionQuery &query) const
{
    const bool all = query.text.isEmpty() && query.agentId.isEmpty();
    const Bindings page{{"limit", query.limit}, {"offset", query.offset}};
    const Bindings search{{"agent_id", query.agentId.value},
                          {"text", query.text.toCaseFolded()},
                          {"limit", query.limit},
                          {"offset", query.offset}};
    const Result<Rows> rows = all ? m_database.run(QStringLiteral("session.list"), page)
                                  : m_database.run(QStringLiteral("session.search"), search);
    if (!rows)
        return tl::unexpected(rows.error());
    QList<Session> sessions;
    sessions.reserve(rows->rows.size());
    for (const Row &row : rows->rows)
        sessions.append(sessionOf(row));
    return sessions;
}

Result<void> SessionStore::setTitle(const SessionId &id, const QString &title)
{
    return changeSession(m_database, id, QStringLiteral("session.setTitle"),
                         {{"title", title}, {"title_folded", title.toCaseFolded()}, {"id", id.value}});
}

Result<void> SessionStore::setModel(const SessionId &id, const QString &model)
{
    return changeSession(m_database, id, QStringLiteral("session.setModel"), {{"model", model}, {"id", id.value}});
}

Result<void> SessionStore::setMode(const SessionId &id, const QString &permissionMode)
{
    return changeSession(m_database, id, QStringLiteral("session.setMode"),
                         {{"permission_mode", permissionMode}, {"id", id.value}});
}

Result<void> SessionStore::setNative(const SessionId &id, const NativeIdentity &native)
{
    return changeSession(m_database, id, QStringLiteral("session.setNative"),
                         {{"native_session_id", native.nativeSessionId},
                          {"transcript_path", native.transcriptPath},
                          {"transcript_size", native.transcriptSize},
                          {"transcript_hash", native.transcriptHash},
                          {"id", id.value}});
}

Result<void> SessionStore::setWorkspace(const SessionId &id, const QString &workspace)
{
    return changeSession(m_database, id, QStringLiteral("session.setWorkspace"),
                         {{"workspace", workspace}, {"id", id.value}});
}

Result<void> SessionStore::setGeneration(const SessionId &id, int generation)
{
    return changeSession(m_database, id, QStringLiteral("session.setGeneration"),
                         {{"generation", generation}, {"id", id.value}});
}

Result<void> SessionStore::touch(const SessionId &id, const QDateTime &at)
{
    return changeSession(m_database, id, QStringLiteral("session.touch"), {{"at", at}, {"id", id.value}});
}

Result<void> SessionStore::remove(const SessionId &id, const QDateTime &at)
{
    Result<Transaction> transaction = Transaction::begin(m_database);
    if (!transaction)
        return tl::unexpected(transaction.error());
    const Result<Rows> found = m_database.run(QStringLiteral("session.number"), {{"id", id.value}});
    if (!found)
        return tl::unexpected(found.error());
    if (found->isEmpty())
        return noSession(id);
    const Row &session = found->first();
    if (!session.isNull("active_run_id") || session.integer("queued") > 0) {
        const QString why = session.isNull("active_run_id")
                                ? QStringLiteral("%1 of its runs wait").arg(session.integer("queued"))
                                : QStringLiteral("its run %1 is active").arg(session.text("active_run_id"));
        return fail(ErrorCode::Conflict, QStringLiteral("Could not delete the session %1: %2. Cancel them first, then "
                                                        "delete it.")
                                             .arg(id.value, why));
    }
    const qint64 number = session.number("number");
    const QStringList statements{QStringLiteral("session.removeRaw"),       QStringLiteral("session.removeBlocks"),
                                 QStringLiteral("session.removeApprovals"), QStringLiteral("session.removeEvents"),
                                 QStringLiteral("session.removeRuns"),      QStringLiteral("session.removeChannel"),
                                 QStringLiteral("session.remove")};
    if (const auto removed = runAll(m_database, statements, {{"number", number}}); !removed)
        return removed;
    const Result<Rows> buried = m_database.run(QStringLiteral("session.bury"), {{"id", id.value}, {"deleted_at", at}});
    if (!buried)
        return tl::unexpected(buried.error());
    return transaction->commit();
}

Result<std::optional<ChannelState>> SessionStore::channelState(const SessionId &id) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("session.channel"), {{"id", id.value}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty())
        return noSession(id);
    const Row &row = rows->first();
    if (row.isNull("epoch"))
        return std::optional<ChannelState>();
    return std::optional<ChannelState>({quint64(row.number("epoch")), row.integer("generation"),
                                        quint64(row.number("launch")), quint64(row.number("output_offset")),
                                        quint64(row.number("error_offset"))});
}

Result<void> SessionStore::setChannelState(const SessionId &id, const ChannelState &state)
{
    const Result<Rows> found = m_database.run(QStringLiteral("session.number"), {{"id", id.value}});
    if (!found)
        return tl::unexpected(found.error());
    if (found->isEmpty())
        return noSession(id);
    const Result<Rows> stored =
        m_database.run(QStringLiteral("session.setChannel"), {{"number", found->first().number("number")},
                                                              {"epoch", state.epoch},
                                                              {"generation", state.generation},
                                                              {"launch", state.launch},
                                                              {"output_offset", state.outputOffset},
                                                              {"error_offset", state.errorOffset}});
    if (!stored)
        return tl::unexpected(stored.error());
    return {};
}

} // namespace engine
