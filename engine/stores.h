#pragma once

#include "engine/store/agentstore.h"
#include "engine/store/approvalstore.h"
#include "engine/store/auditstore.h"
#include "engine/store/database.h"
#include "engine/store/eventstore.h"
#include "engine/store/runstore.h"
#include "engine/store/sessionstore.h"
#include "engine/store/settingstore.h"

namespace engine {

// The aggregates over one connection. Lives in the thread that opened the database.
struct Stores
{
    explicit Stores(Database &db)
        : database(db), agents(db), sessions(db), runs(db), events(db), approvals(db), audit(db), settings(db)
    {
    }

    Database &database;
    AgentStore agents;
    SessionStore sessions;
    RunStore runs;
    EventStore events;
    ApprovalStore approvals;
    AuditStore audit;
    SettingStore settings;
};

} // namespace engine
