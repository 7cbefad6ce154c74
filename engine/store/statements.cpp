#include "engine/store/statements.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <sqlite3.h>

// Outside of every namespace, as Q_INIT_RESOURCE demands; a static library's resources are dropped by the linker
// unless somebody asks for them.
static void initStoreResources()
{
    Q_INIT_RESOURCE(store_sql);
}

namespace engine {
namespace {

QString readResource(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

struct RawStatements
{
    QHash<QString, QString> fragments;
    QHash<QString, QString> purposes;
    QHash<QString, QString> bodies;
};

void readStatementFile(const QString &text, RawStatements &into)
{
    QString *body = nullptr;
    for (const QString &line : text.split(u'\n')) {
        if (line.startsWith(QLatin1String("-- name: "))) {
            const QStringList parts = line.mid(9).split(u'|');
            const QString name = parts.first().trimmed();
            into.purposes.insert(name, parts.value(1).trimmed());
            body = &into.bodies[name];
        } else if (line.startsWith(QLatin1String("-- fragment: "))) {
            body = &into.fragments[line.mid(13).trimmed()];
        } else if (body) {
            *body += line + u'\n';
        }
    }
}

QString withFragments(const QString &body, const QHash<QString, QString> &fragments)
{
    QString result;
    for (const QString &line : body.split(u'\n')) {
        if (line.startsWith(QLatin1String("-- include: ")))
            result += fragments.value(line.mid(12).trimmed()).trimmed() + u'\n';
        else if (!line.startsWith(QLatin1String("--")))
            result += line + u'\n';
    }
    return result.trimmed();
}

bool isNameCharacter(QChar c)
{
    return c.isLetterOrNumber() || c == u'_';
}

// Qt binds `?` without a lookup, and a `:name` of ours can be checked for being given.
StatementText withPlaces(const QString &sql)
{
    StatementText statement;
    bool quoted = false;
    for (qsizetype i = 0; i < sql.size(); ++i) {
        const QChar c = sql.at(i);
        if (c == u'\'')
            quoted = !quoted;
        if (quoted || c != u':' || i + 1 >= sql.size() || !isNameCharacter(sql.at(i + 1))) {
            statement.sql += c;
            continue;
        }
        qsizetype end = i + 1;
        while (end < sql.size() && isNameCharacter(sql.at(end)))
            ++end;
        statement.values.push_back(sql.mid(i + 1, end - i - 1).toLatin1());
        statement.sql += u'?';
        i = end - 1;
    }
    return statement;
}

QHash<QString, StatementText> readStatements()
{
    initStoreResources();
    RawStatements raw;
    const QDir folder(QStringLiteral(":/store/sql"));
    for (const QString &name : folder.entryList({QStringLiteral("*.sql")}, QDir::Files, QDir::Name)) {
        if (!name.startsWith(QLatin1String("migration_")))
            readStatementFile(readResource(folder.filePath(name)), raw);
    }
    QHash<QString, StatementText> statements;
    for (auto it = raw.bodies.cbegin(); it != raw.bodies.cend(); ++it) {
        StatementText statement = withPlaces(withFragments(it.value(), raw.fragments));
        statement.purpose = raw.purposes.value(it.key());
        statements.insert(it.key(), statement);
    }
    return statements;
}

const QHash<QString, StatementText> &allStatements()
{
    static const QHash<QString, StatementText> statements = readStatements();
    return statements;
}

} // namespace

const StatementText *findStatement(const QString &name)
{
    const auto it = allStatements().constFind(name);
    return it == allStatements().constEnd() ? nullptr : &*it;
}

QStringList statementNames()
{
    QStringList names = allStatements().keys();
    names.sort();
    return names;
}

QString migrationScript(int version)
{
    initStoreResources();
    return readResource(QStringLiteral(":/store/sql/migration_%1.sql").arg(version, 3, 10, QLatin1Char('0')));
}

QStringList splitScript(const QString &script)
{
    QStringList parts;
    QString part;
    for (const QChar c : script) {
        part += c;
        if (c == u';' && sqlite3_complete(part.toUtf8().constData())) {
            parts += part.trimmed();
            part.clear();
        }
    }
    return parts;
}

} // namespace engine
