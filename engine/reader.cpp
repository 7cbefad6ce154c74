#include "engine/reader.h"

namespace engine {

void Reader::open(const QString &storePath)
{
    Result<std::unique_ptr<Database>> database = Database::open({storePath, true, 5000});
    if (!database)
        return giveUp(database.error());
    m_database = std::move(*database);
    m_stores = std::make_unique<Stores>(*m_database);
    m_settled = true;
    for (const auto &query : std::exchange(m_waiting, {}))
        query();
}

void Reader::giveUp(const Error &reason)
{
    m_failure = reason;
    m_settled = true;
    for (const auto &query : std::exchange(m_waiting, {}))
        query();
}

void Reader::perform(std::function<void()> query)
{
    if (m_settled)
        query();
    else
        m_waiting.append(std::move(query));
}

void Reader::close()
{
    m_stores.reset();
    m_database.reset();
    giveUp({ErrorCode::ShuttingDown, QStringLiteral("The engine is closing."), {}});
}

const Error *Reader::failure() const
{
    return m_stores ? nullptr : &m_failure;
}

Result<QList<Session>> Reader::sessions(const SessionQuery &query)
{
    Result<QList<Session>> sessions = m_stores->sessions.list(query);
    if (sessions) {
        for (Session &session : *sessions)
            session.warm = m_warm.contains(session.id);
    }
    return sessions;
}

Result<Session> Reader::session(const SessionId &id)
{
    Result<Session> session = m_stores->sessions.get(id);
    if (session)
        session->warm = m_warm.contains(id);
    return session;
}

Result<QList<Run>> Reader::runs(const SessionId &id, int limit)
{
    if (!id.isEmpty())
        return m_stores->runs.list(id, limit);
    Result<QList<Run>> runs = m_stores->runs.active();
    if (!runs)
        return runs;
    const Result<QList<Run>> waiting = m_stores->runs.waiting(limit);
    if (!waiting)
        return waiting;
    return *runs + *waiting;
}

Result<Counts> Reader::counts()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    return m_stores->runs.counts(now, now.toLocalTime().date().startOfDay().toUTC());
}

} // namespace engine
