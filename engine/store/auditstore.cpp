#include "engine/store/auditstore.h"

#include "engine/store/database.h"

namespace engine {

Result<qint64> AuditStore::append(const AuditEntry &entry)
{
    const Result<Rows> rows = m_database.run(QStringLiteral("audit.append"), {{"at", entry.at},
                                                                              {"who", entry.who},
                                                                              {"what", entry.what},
                                                                              {"subject", entry.subject},
                                                                              {"result", entry.result},
                                                                              {"detail", entry.detail}});
    if (!rows)
        return tl::unexpected(rows.error());
    return rows->first().number("number");
}

Result<QList<AuditEntry>> AuditStore::list(int limit) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("audit.list"), {{"limit", limit}});
    if (!rows)
        return tl::unexpected(rows.error());
    QList<AuditEntry> entries;
    for (const Row &row : rows->rows) {
        entries.append({row.number("number"), row.time("at"), row.text("who"), row.text("what"), row.text("subject"),
                        row.text("result"), row.text("detail")});
    }
    return entries;
}

} // namespace engine
