#pragma once

#include "engine/types/ids.h"
#include "engine/types/states.h"

#include <QDateTime>

namespace engine {

// What is known of the harness's own conversation. Verified before every resume and after it.
struct NativeIdentity
{
    QString nativeSessionId;    // chosen by us before the first turn
    QString transcriptPath;     // on the computer the harness runs on
    qint64 transcriptSize = -1; // bytes at the end of the last turn; -1: no turn ended yet
    QString transcriptHash;     // SHA-256 of those bytes, hexadecimal

    bool operator==(const NativeIdentity &) const = default;
};

// One conversation: a block of track that takes one run at a time.
struct Session
{
    SessionId id;
    AgentId agentId;
    QString agentName; // joined for display
    QString title;
    QString workspace;  // the folder the harness works in
    NativeIdentity native;
    int generation = 1; // of its computer; an older worker is refused
    QString model;          // set for this session; empty: the agent's
    QString permissionMode; // set for this session; empty: the agent's
    QDateTime createdAt;
    QDateTime updatedAt;
    // Derived by the store's queries:
    RunId activeRun; // RUNNING or PAUSED, else empty
    RunState activeState = RunState::Completed;
    int queued = 0;           // PENDING runs
    int pendingApprovals = 0; // of the active run
    RunState lastOutcome = RunState::Completed; // state of the newest terminal run
    qint64 blocks = 0;        // length of the transcript
    bool warm = false;        // a harness process is alive; known to the engine only

    bool operator==(const Session &) const = default;
};

struct NewSession
{
    AgentId agentId;
    QString title;     // empty: made from the first prompt
    QString workspace; // empty: the agent's
};

enum class SessionGroup { NeedsYou, Running, Queued, Idle };

struct SessionQuery
{
    QString text;    // matches title and agent name, case-insensitive substring; empty: all
    AgentId agentId; // empty: all
    int limit = 500;
    int offset = 0;
};

} // namespace engine
