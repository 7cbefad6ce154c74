#pragma once

#include "engine/types/error.h"

#include <QByteArray>
#include <QDateTime>
#include <QHash>
#include <QList>
#include <QString>
#include <QVariant>
#include <memory>
#include <optional>
#include <vector>

namespace engine {

// A value for a statement's `:name`. Only what SQLite stores exactly gets in: text, integers, doubles, bytes, times
// (milliseconds since 1970 UTC; an invalid time is NULL). A null string is the empty text, never NULL.
struct Bound
{
    const char *name;
    QVariant value;

    Bound(const char *name, const QString &text);
    Bound(const char *name, const QByteArray &bytes);
    Bound(const char *name, const QDateTime &time);
    Bound(const char *name, int number) : Bound(name, qint64(number)) {}
    Bound(const char *name, qint64 number);
    Bound(const char *name, quint64 number) : Bound(name, qint64(number)) {}
    Bound(const char *name, double number);
    Bound(const char *name, bool flag) : Bound(name, qint64(flag)) {}
    Bound(const char *name, std::nullptr_t);
    Bound(const char *, const char *) = delete;
};

using Bindings = std::vector<Bound>;

// One answer row, read by column name; NULL reads as an empty value. Asking for a column that the statement does not
// answer is a mistake of ours and asserts.
class Row
{
public:
    using Columns = QHash<QString, int>;
    Row(std::shared_ptr<const Columns> columns, QList<QVariant> values);

    bool isNull(const char *column) const;
    QString text(const char *column) const;
    QByteArray bytes(const char *column) const;
    qint64 number(const char *column) const;
    int integer(const char *column) const;
    bool flag(const char *column) const;
    double real(const char *column) const;
    QDateTime time(const char *column) const;
    // A word of the domain ("RUNNING"); the schema's CHECKs let no other one in, so `otherwise` is never answered.
    template <class E> E word(const char *column, std::optional<E> (*fromString)(const QString &), E otherwise) const
    {
        return fromString(text(column)).value_or(otherwise);
    }

private:
    const QVariant &at(const char *column) const;

    std::shared_ptr<const Columns> m_columns;
    QList<QVariant> m_values;
};

struct Rows
{
    QList<Row> rows;
    int changed = 0; // rows that an UPDATE, INSERT or DELETE touched

    bool isEmpty() const { return rows.isEmpty(); }
    const Row &first() const { return rows.first(); }
};

} // namespace engine
