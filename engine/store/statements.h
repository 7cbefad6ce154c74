#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <vector>

namespace engine {

// One named statement of sql/*.sql: `-- name: run.claim | claim a run` and the SQL below it, where a line
// `-- include: x` stands for the text of `-- fragment: x`.
struct StatementText
{
    QString purpose;                // "claim a run": completes "Could not ..."
    QString sql;                    // with `?` in the place of each `:name`
    std::vector<QByteArray> values; // the names in the places of the `?`
};

// Null: there is none of this name. Read once from the program's resources. Any thread.
const StatementText *findStatement(const QString &name);
QStringList statementNames();

// A migration's whole script; empty: there is none of this number.
QString migrationScript(int version);
// Cut at the semicolons that end a statement (a trigger's inner ones do not).
QStringList splitScript(const QString &script);

} // namespace engine
