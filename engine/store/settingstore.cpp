#include "engine/store/settingstore.h"

#include "engine/store/database.h"

namespace engine {

Result<std::optional<QString>> SettingStore::get(const QString &key) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("setting.get"), {{"key", key}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty())
        return std::optional<QString>();
    return std::optional<QString>(rows->first().text("value"));
}

Result<void> SettingStore::set(const QString &key, const QString &value)
{
    const Result<Rows> stored = m_database.run(QStringLiteral("setting.set"), {{"key", key}, {"value", value}});
    if (!stored)
        return tl::unexpected(stored.error());
    return {};
}

Result<QMap<QString, QString>> SettingStore::all() const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("setting.all"));
    if (!rows)
        return tl::unexpected(rows.error());
    QMap<QString, QString> settings;
    for (const Row &row : rows->rows)
        settings.insert(row.text("key"), row.text("value"));
    return settings;
}

} // namespace engine
