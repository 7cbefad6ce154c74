#pragma once

#include "engine/types/agent.h"
#include "engine/types/error.h"

namespace engine {

class Database;

// Agents. Thread of its Database.
class AgentStore final
{
public:
    explicit AgentStore(Database &database) : m_database(database) {}

    Result<void> insertOrUpdate(const Agent &agent);
    Result<Agent> get(const AgentId &id) const;
    // By name.
    Result<QList<Agent>> list(bool withArchived) const;

private:
    Database &m_database;
};

} // namespace engine
