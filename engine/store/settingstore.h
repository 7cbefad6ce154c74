#pragma once

#include "engine/types/error.h"

#include <QMap>
#include <optional>

namespace engine {

class Database;

// Settings of the engine by key. Thread of its Database.
class SettingStore final
{
public:
    explicit SettingStore(Database &database) : m_database(database) {}

    // Empty: never set.
    Result<std::optional<QString>> get(const QString &key) const;
    Result<void> set(const QString &key, const QString &value);
    Result<QMap<QString, QString>> all() const;

private:
    Database &m_database;
};

} // namespace engine
