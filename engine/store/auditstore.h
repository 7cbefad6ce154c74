#pragma once

#include "engine/types/approval.h"
#include "engine/types/error.h"

#include <QList>

namespace engine {

class Database;

// The append-only list of what people and the system did; the database refuses to change or delete its rows.
// Thread of its Database.
class AuditStore final
{
public:
    explicit AuditStore(Database &database) : m_database(database) {}

    // Answers the entry's number.
    Result<qint64> append(const AuditEntry &entry);
    // Newest first.
    Result<QList<AuditEntry>> list(int limit) const;

private:
    Database &m_database;
};

} // namespace engine
