#include "engine/store/row.h"

namespace engine {

Bound::Bound(const char *name, const QString &text) : name(name), value(text.isNull() ? QStringLiteral("") : text) {}

Bound::Bound(const char *name, const QByteArray &bytes) : name(name), value(bytes.isNull() ? QByteArray("") : bytes) {}

Bound::Bound(const char *name, const QDateTime &time) : name(name)
{
    if (time.isValid())
        value = time.toMSecsSinceEpoch();
}

Bound::Bound(const char *name, qint64 number) : name(name), value(number) {}

Bound::Bound(const char *name, double number) : name(name), value(number) {}

Bound::Bound(const char *name, std::nullptr_t) : name(name) {}

Row::Row(std::shared_ptr<const Columns> columns, QList<QVariant> values)
    : m_columns(std::move(columns)), m_values(std::move(values))
{
}

const QVariant &Row::at(const char *column) const
{
    static const QVariant none;
    const auto it = m_columns->constFind(QString::fromLatin1(column));
    Q_ASSERT_X(it != m_columns->constEnd(), "Row", column);
    return it == m_columns->constEnd() ? none : m_values.at(*it);
}

bool Row::isNull(const char *column) const
{
    return at(column).isNull();
}

QString Row::text(const char *column) const
{
    return at(column).toString();
}

QByteArray Row::bytes(const char *column) const
{
    return at(column).toByteArray();
}

qint64 Row::number(const char *column) const
{
    return at(column).toLongLong();
}

int Row::integer(const char *column) const
{
    return int(number(column));
}

bool Row::flag(const char *column) const
{
    return number(column) != 0;
}

double Row::real(const char *column) const
{
    return at(column).toDouble();
}

QDateTime Row::time(const char *column) const
{
    const QVariant &value = at(column);
    return value.isNull() ? QDateTime() : QDateTime::fromMSecsSinceEpoch(value.toLongLong(), Qt::UTC);
}

} // namespace engine
