#pragma once

#include "engine/types/ids.h"
#include "engine/types/states.h"

#include <QDateTime>
#include <QMap>
#include <QStringList>

namespace engine {

// The computer that sessions of an agent get, where the provider makes one.
struct ComputerSettings
{
    QString image;        // empty: the provider's default
    int memoryMb = 2048;
    double cpus = 2;
    int processes = 512;
    int temporaryMb = 512; // of /tmp; counts to memoryMb

    bool gateway = false;  // a host-run harness, too, reaches its model through the gateway and never sees the key
    QString keyEntry;      // of the secret store, read by the gateway; empty: the variable that `keyVariable` names
    int maxTokensPerRun = 0;      // counted by the gateway; 0: no limit
    int maxRequestsPerMinute = 0; // 0: no limit

    bool operator==(const ComputerSettings &) const = default;
};

// How one kind of session is run: harness, model, limits. A plain value; the store keeps `settings` as JSON.
// The model's key is never here: only the name of the environment variable that holds it.
struct Agent
{
    AgentId id;
    QString name;
    HarnessKind harness = HarnessKind::Claude;
    QString provider = QStringLiteral("host"); // name of a sandbox provider; "host" has no isolation and says so
    ComputerSettings computer;
    QString program;                           // path of the harness program; empty: searched (PATH, npm folder)
    QString model;                             // empty: the harness's own default
    QString baseUrl; // empty: ANTHROPIC_BASE_URL or OPENAI_BASE_URL of the environment, else the vendor's
    QString keyVariable = QStringLiteral("ANTHROPIC_API_KEY");
    QString permissionMode = QStringLiteral("default"); // default, acceptEdits, plan, dontAsk, bypassPermissions
    QString approvalPolicy; // Codex: on-request, untrusted, never; empty: on-request, or untrusted with gate "all"
    QString sandboxMode;    // Codex's own: read-only, workspace-write, danger-full-access, external; empty: read-only
    QString sandbox;        // the old spelling of sandboxMode: taken over with a warning, refused beside it
    Gate gate = Gate::Native;
    QString workspace;    // folder sessions start in; empty: a folder of their own below the data folder
    QString configFolder; // harness's own state (CLAUDE_CONFIG_DIR, CODEX_HOME); empty: one per agent below the data folder
    QString instructions; // appended to the harness's system prompt
    QStringList allowedTools;
    QStringList disallowedTools;
    QMap<QString, QString> environment; // extra variables; values are not secret and are stored
    int approvalTimeoutSeconds = 900;
    int warmSeconds = 300; // an idle harness process is kept this long; 0: ended after each turn
    int maxTurns = 0;      // 0: no limit
    int maxAttempts = 1;
    int maxQueued = 100;    // waiting runs per session
    QString recording;      // replay: a recording's path or ":/demo/name.jsonl"
    double replaySpeed = 1; // replay: 2 = twice as fast; 0 = without waiting
    bool archived = false;
    QStringList oldSpellings; // settings that were read from an old place; told once, then stored at the new one
    QDateTime createdAt;
    QDateTime updatedAt;

    bool operator==(const Agent &) const = default;
};

} // namespace engine
