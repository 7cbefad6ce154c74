#include "engine/store/database.h"

#include "engine/store/statements.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QSqlRecord>
#include <atomic>
#include <cstring>
#include <sqlite3.h>

namespace engine {
namespace {

QString newConnectionName()
{
    static std::atomic<quint64> count = 0;
    return QStringLiteral("signalbox-store-%1").arg(++count);
}

QString wayOut(int code)
{
    switch (code) {
    case SQLITE_FULL:
        return QStringLiteral("The disk is full: free some space, then try again.");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return QStringLiteral("Another program holds the file: close it, then try again.");
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return QStringLiteral("Make the file and its folder writable, or choose another data folder.");
    case SQLITE_CANTOPEN:
        return QStringLiteral("Make sure that the folder exists and may be read and written, or choose another data "
                              "folder.");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return QStringLiteral(
            "The file is damaged or no store of Signalbox: restore a backup, or move the file away to "
            "begin with an empty store.");
    case SQLITE_IOERR:
        return QStringLiteral("Check the disk and its space, then try again.");
    default:
        return QStringLiteral("Try again; if it stays, restart the program.");
    }
}

int primaryCode(const QSqlError &error)
{
    return error.nativeErrorCode().toInt() & 0xff;
}

} // namespace

struct Database::Statement
{
    QString purpose;
    const StatementText *text = nullptr;
    QSqlQuery query;
    std::shared_ptr<const Row::Columns> columns;
    bool busy = false;

    Row row() const
    {
        QList<QVariant> values;
        values.reserve(columns->size());
        for (int i = 0; i < int(columns->size()); ++i)
            values.append(query.value(i));
        return Row(columns, std::move(values));
    }
};

// Ends the statement's read snapshot in every way out.
struct Database::Lease
{
    Statement &statement;
    explicit Lease(Statement &statement) : statement(statement) { statement.busy = true; }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    ~Lease()
    {
        statement.query.finish();
        statement.busy = false;
    }
};

Database::Database(const OpenOptions &options) : m_options(options), m_connectionName(newConnectionName()) {}

Database::~Database()
{
    m_statements.clear();
    {
        QSqlDatabase handle = QSqlDatabase::database(m_connectionName, false);
        handle.close();
    }
    QSqlDatabase::removeDatabase(m_connectionName);
}

Result<std::unique_ptr<Database>> Database::open(const OpenOptions &options)
{
    std::unique_ptr<Database> database(new Database(options));
    if (const auto connected = database->connectFile(); !connected)
        return tl::unexpected(connected.error());
    if (const auto owned = database->checkOwner(); !owned)
        return tl::unexpected(owned.error());
    const Result<int> version = database->readVersion();
    if (!version)
        return tl::unexpected(version.error());
    if (*version > newestSchemaVersion()) {
        return fail(ErrorCode::StorageNewer,
                    QStringLiteral("Could not open the store %1: it was written by a newer Signalbox (schema %2, this "
                                   "program knows up to %3). Start the newer program, or choose another data folder. "
                                   "Nothing was changed.")
                        .arg(options.path)
                        .arg(*version)
                        .arg(newestSchemaVersion()));
    }
    database->m_version = *version;
    if (options.readOnly && *version < newestSchemaVersion()) {
        return fail(
            ErrorCode::StorageUnavailable,
            QStringLiteral("Could not read the store %1: it is not prepared for this program (schema %2 of %3). "
                           "Start Signalbox once, it brings the store up to date.")
                .arg(options.path)
                .arg(*version)
                .arg(newestSchemaVersion()));
    }
    if (const auto migrated = database->migrate(*version); !migrated)
        return tl::unexpected(migrated.error());
    return database;
}

Result<void> Database::connectFile()
{
    const QString folder = QFileInfo(m_options.path).absolutePath();
    if (!m_options.readOnly && !QDir().mkpath(folder)) {
        return fail(
            ErrorCode::StorageUnavailable,
            QStringLiteral("Could not make the folder %1 for the store %2: it may not be written or a file is in "
                           "its way. Make it writable, or choose another data folder.")
                .arg(folder, m_options.path));
    }
    QSqlDatabase handle = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connectionName);
    if (!handle.isValid()) {
        return fail(ErrorCode::StorageUnavailable,
                    QStringLiteral("Could not open the store %1: Qt's SQLite driver is missing. Install it (Debian: "
                                   "libqt6sql6-sqlite).")
                        .arg(m_options.path));
    }
    handle.setDatabaseName(m_options.path);
    handle.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=%1%2")
                                 .arg(m_options.busyTimeoutMs)
                                 .arg(m_options.readOnly ? QStringLiteral(";QSQLITE_OPEN_READONLY") : QString()));
    if (!handle.open())
        return refuse(QStringLiteral("open the store"), handle.lastError());
    const Result<Rows> version = run(QStringLiteral("database.engineVersion"));
    if (!version)
        return tl::unexpected(version.error());
    m_kind = QStringLiteral("SQLite ") + version->first().text("version");
    return {};
}

Result<void> Database::checkOwner()
{
    const Result<Rows> tables = run(QStringLiteral("database.tables"));
    if (!tables)
        return tl::unexpected(tables.error());
    const Row &found = tables->first();
    if (found.integer("tables") > 0 && found.integer("ours") == 0) {
        return fail(ErrorCode::StorageUnavailable,
                    QStringLiteral("Could not open the store %1: it is another program's database. Choose another data "
                                   "folder. Nothing was changed.")
                        .arg(m_options.path));
    }
    QStringList pragmas{QStringLiteral("database.foreignKeys"), QStringLiteral("database.cache")};
    if (!m_options.readOnly)
        pragmas += {QStringLiteral("database.wal"), QStringLiteral("database.synchronous")};
    for (const QString &pragma : pragmas) {
        const Result<Rows> set = run(pragma);
        if (!set)
            return tl::unexpected(set.error());
        if (pragma == QLatin1String("database.wal") &&
            (set->isEmpty() || set->first().text("journal_mode") != QLatin1String("wal"))) {
            return fail(ErrorCode::StorageUnavailable,
                        QStringLiteral("Could not open the store %1: its disk does not support write-ahead logging (a "
                                       "network disk?). Choose a data folder on a local disk.")
                            .arg(m_options.path));
        }
    }
    return {};
}

Result<int> Database::readVersion()
{
    const Result<Rows> tables = run(QStringLiteral("database.tables"));
    if (!tables)
        return tl::unexpected(tables.error());
    if (tables->first().integer("ours") == 0)
        return 0;
    const Result<Rows> version = run(QStringLiteral("database.version"));
    if (!version)
        return tl::unexpected(version.error());
    return version->first().integer("version");
}

Result<void> Database::migrate(int from)
{
    for (int version = from + 1; version <= newestSchemaVersion(); ++version) {
        Result<Transaction> transaction = Transaction::begin(*this);
        if (!transaction)
            return tl::unexpected(transaction.error());
        const Result<int> present = readVersion(); // another process may have been quicker
        if (!present)
            return tl::unexpected(present.error());
        if (*present < version) {
            if (const auto done = runScript(migrationScript(version)); !done)
                return done;
            const Result<Rows> noted = run(QStringLiteral("database.migrated"),
                                           {{"version", version}, {"applied_at", QDateTime::currentDateTimeUtc()}});
            if (!noted)
                return tl::unexpected(noted.error());
        }
        if (const auto committed = transaction->commit(); !committed)
            return committed;
        m_version = version;
    }
    return {};
}

Result<void> Database::runScript(const QString &script)
{
    for (const QString &part : splitScript(script)) {
        QSqlQuery query(connection());
        if (!query.exec(part))
            return refuse(QStringLiteral("bring the store up to date"), query.lastError());
    }
    return {};
}

int Database::schemaVersion() const
{
    return m_version;
}

int Database::newestSchemaVersion()
{
    static const int newest = [] {
        int version = 0;
        while (!migrationScript(version + 1).isEmpty())
            ++version;
        return version;
    }();
    return newest;
}

QString Database::path() const
{
    return m_options.path;
}

QString Database::kind() const
{
    return m_kind;
}

QSqlDatabase Database::connection() const
{
    return QSqlDatabase::database(m_connectionName, false);
}

tl::unexpected<Error> Database::refuse(const QString &purpose, const QSqlError &error)
{
    const int code = primaryCode(error);
    const QString reason = error.databaseText().isEmpty() ? error.driverText() : error.databaseText();
    if (code == SQLITE_CONSTRAINT) {
        return fail(ErrorCode::Conflict,
                    QStringLiteral("Could not %1: the store %2 refused it (%3). Nothing was changed.")
                        .arg(purpose, m_options.path, reason),
                    error.text());
    }
    const auto failed = fail(ErrorCode::StorageUnavailable,
                             QStringLiteral("Could not %1 in the store %2: %3. Nothing was changed. %4")
                                 .arg(purpose, m_options.path, reason, wayOut(code)),
                             error.text());
    if (m_depth > 0 && !m_doomed)
        m_doomed = failed.value();
    return failed;
}

Result<Database::Statement *> Database::prepare(const QString &name, std::unique_ptr<Statement> &spare)
{
    const auto known = m_statements.find(name);
    if (known != m_statements.end() && !known->second->busy)
        return known->second.get();
    const StatementText *text = findStatement(name);
    if (!text)
        return fail(ErrorCode::Internal, QStringLiteral("There is no statement %1.").arg(name));
    auto statement = std::make_unique<Statement>();
    statement->text = text;
    statement->purpose = text->purpose;
    statement->query = QSqlQuery(connection());
    statement->query.setForwardOnly(true);
    if (!statement->query.prepare(text->sql))
        return refuse(text->purpose, statement->query.lastError());
    Statement *const result = statement.get();
    if (known == m_statements.end())
        m_statements.emplace(name, std::move(statement));
    else
        spare = std::move(statement);
    return result;
}

Result<void> Database::execute(Statement &statement, const Bindings &bindings)
{
    const std::vector<QByteArray> &places = statement.text->values;
    for (size_t i = 0; i < places.size(); ++i) {
        const Bound *found = i < bindings.size() && places[i] == bindings[i].name ? &bindings[i] : nullptr;
        for (size_t j = 0; !found && j < bindings.size(); ++j) {
            if (places[i] == bindings[j].name)
                found = &bindings[j];
        }
        if (!found) {
            return fail(ErrorCode::Internal, QStringLiteral("Could not %1: no value for :%2.")
                                                 .arg(statement.purpose, QString::fromLatin1(places[i])));
        }
        statement.query.bindValue(int(i), found->value);
    }
    if (!statement.query.exec())
        return refuse(statement.purpose, statement.query.lastError());
    if (!statement.columns) {
        const QSqlRecord record = statement.query.record();
        auto columns = std::make_shared<Row::Columns>();
        for (int i = 0; i < record.count(); ++i)
            columns->insert(record.fieldName(i), i);
        statement.columns = std::move(columns);
    }
    return {};
}

Result<Rows> Database::run(const QString &name, const Bindings &bindings)
{
    Rows rows;
    if (m_doomed)
        return tl::unexpected(*m_doomed);
    std::unique_ptr<Statement> spare;
    const Result<Statement *> statement = prepare(name, spare);
    if (!statement)
        return tl::unexpected(statement.error());
    const Lease lease(**statement);
    if (const auto executed = execute(**statement, bindings); !executed)
        return tl::unexpected(executed.error());
    QSqlQuery &query = (*statement)->query;
    if (query.isSelect()) {
        while (query.next())
            rows.rows.append((*statement)->row());
        if (query.lastError().isValid())
            return refuse((*statement)->purpose, query.lastError());
    }
    rows.changed = query.numRowsAffected();
    return rows;
}

Result<void> Database::each(const QString &name, const Bindings &bindings,
                            const std::function<bool(const Row &)> &visit)
{
    if (m_doomed)
        return tl::unexpected(*m_doomed);
    std::unique_ptr<Statement> spare;
    const Result<Statement *> statement = prepare(name, spare);
    if (!statement)
        return tl::unexpected(statement.error());
    const Lease lease(**statement);
    if (const auto executed = execute(**statement, bindings); !executed)
        return executed;
    QSqlQuery &query = (*statement)->query;
    while (query.next()) {
        if (!visit((*statement)->row()))
            return {};
    }
    if (query.lastError().isValid())
        return refuse((*statement)->purpose, query.lastError());
    return {};
}

Result<void> Database::checkpoint()
{
    for (const QString &name : {QStringLiteral("database.checkpoint"), QStringLiteral("database.optimize")}) {
        if (const Result<Rows> done = run(name); !done)
            return tl::unexpected(done.error());
    }
    return {};
}

} // namespace engine
