#include "engine/store/database.h"

namespace engine {

Result<Transaction> Transaction::begin(Database &database)
{
    const bool outermost = database.m_depth == 0;
    const Result<Rows> begun =
        database.run(outermost ? QStringLiteral("database.begin") : QStringLiteral("database.savepoint"));
    if (!begun)
        return tl::unexpected(begun.error());
    ++database.m_depth;
    return Transaction(&database, outermost);
}

Transaction::Transaction(Transaction &&other) noexcept
    : m_database(std::exchange(other.m_database, nullptr)), m_outermost(other.m_outermost)
{
}

Transaction::~Transaction()
{
    if (m_database)
        undo();
}

Result<void> Transaction::commit()
{
    Q_ASSERT(m_database);
    const Result<Rows> committed =
        m_database->run(m_outermost ? QStringLiteral("database.commit") : QStringLiteral("database.release"));
    if (!committed) {
        undo();
        return tl::unexpected(committed.error());
    }
    --m_database->m_depth;
    m_database = nullptr;
    return {};
}

void Transaction::undo()
{
    Database &database = *std::exchange(m_database, nullptr);
    --database.m_depth;
    // A doomed inner step leaves the undoing to the outermost transaction. SQLite may have rolled back by itself (full
    // disk): then there is nothing to undo and its complaint says just that.
    if (m_outermost) {
        database.m_doomed.reset();
        (void)database.run(QStringLiteral("database.rollback"));
        return;
    }
    if (database.m_doomed)
        return;
    if (database.run(QStringLiteral("database.rollbackStep")))
        (void)database.run(QStringLiteral("database.release"));
}

} // namespace engine
