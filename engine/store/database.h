#pragma once

#include "engine/store/row.h"
#include "engine/types/error.h"

#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

class QSqlDatabase;
class QSqlError;

namespace engine {

struct OpenOptions
{
    QString path;
    bool readOnly = false;    // for the reader thread: no migration, every write is refused
    int busyTimeoutMs = 5000; // how long a statement waits for another process's lock
};

// One connection to the store's file. Lives in the thread that opened it; everything is synchronous. Statements are
// named (`sql/*.sql`), so no SQL stands in C++. Each failure is StorageUnavailable and says what was tried, on which
// file, SQLite's reason, and that nothing was changed; a violated constraint is Conflict.
class Database final
{
public:
    // Makes the folder and the file, switches to WAL with synchronous=FULL and runs the missing migrations.
    // StorageNewer: written by a newer program.
    static Result<std::unique_ptr<Database>> open(const OpenOptions &options);
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    int schemaVersion() const;
    static int newestSchemaVersion();
    QString path() const;
    QString kind() const; // "SQLite 3.40.1"

    Result<Rows> run(const QString &statement, const Bindings &bindings = {});
    // Row by row without keeping them; `visit` answers false to stop. It may run other statements.
    Result<void> each(const QString &statement, const Bindings &bindings,
                      const std::function<bool(const Row &)> &visit);
    // Moves the write-ahead log's pages into the file without waiting for anyone; call it when idle.
    Result<void> checkpoint();

private:
    friend class Transaction;
    struct Statement;
    struct Lease;

    explicit Database(const OpenOptions &options);
    Result<void> connectFile();
    Result<void> checkOwner();
    Result<int> readVersion();
    Result<void> migrate(int from);
    Result<void> runScript(const QString &script);
    Result<Statement *> prepare(const QString &name, std::unique_ptr<Statement> &spare);
    Result<void> execute(Statement &statement, const Bindings &bindings);
    tl::unexpected<Error> refuse(const QString &purpose, const QSqlError &error);
    QSqlDatabase connection() const;

    OpenOptions m_options;
    QString m_connectionName;
    QString m_kind;
    int m_version = 0;
    int m_depth = 0;               // open Transaction objects
    std::optional<Error> m_doomed; // why the open transaction can't be committed any more
    std::unordered_map<QString, std::unique_ptr<Statement>> m_statements;
};

// BEGIN IMMEDIATE until commit(); rolled back when destroyed without it. Begun inside another one it is a savepoint of
// that one: its own changes are undone alone, and only the outermost commit writes. After a failure of the store
// (not a violated constraint) every further statement and the commit are refused with that failure.
class Transaction final
{
public:
    static Result<Transaction> begin(Database &database);
    Transaction(Transaction &&other) noexcept;
    Transaction &operator=(Transaction &&) = delete;
    ~Transaction();

    [[nodiscard]] Result<void> commit();

private:
    Transaction(Database *database, bool outermost) : m_database(database), m_outermost(outermost) {}
    void undo();

    Database *m_database = nullptr; // null: moved from or ended
    bool m_outermost = true;
};

} // namespace engine
