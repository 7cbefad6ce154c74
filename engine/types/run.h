#pragma once

#include "engine/types/ids.h"
#include "engine/types/states.h"

#include <QDateTime>
#include <QList>

namespace engine {

// Tokens of one turn as the harness reports them; money in millionths of a US dollar.
struct Usage
{
    qint64 inputTokens = 0;
    qint64 outputTokens = 0;
    qint64 cacheReadTokens = 0;
    qint64 cacheWriteTokens = 0;
    qint64 costMicros = 0;

    bool operator==(const Usage &) const = default;
};

// A named moment of a run ("claimed", "computer ready", "first text", ...): answers why it was slow.
struct RunStep
{
    QString name;
    QDateTime at;

    bool operator==(const RunStep &) const = default;
};

// One turn asked of a session.
struct Run
{
    RunId id;
    SessionId sessionId;
    AgentId agentId;
    qint64 sequence = 0; // store-assigned order; never a clock
    RunState state = RunState::Pending;
    int attempt = 0; // counts claims; every write of a run is fenced by it
    int maxAttempts = 1;
    QString prompt;
    QString requestedBy;
    QString origin; // "window", "command line", "headless"
    QString idempotencyKey;
    QDateTime createdAt;
    QDateTime availableAt; // not claimed before (back-off)
    QDateTime startedAt;
    QDateTime endedAt;
    QString errorCode; // "harness_failed", "native_resume_failed", ...; empty unless state is Error
    QString errorMessage;
    bool cancelRequested = false;
    QString leaseOwner; // engine instance
    QList<RunStep> steps;
    Usage usage;
    bool continued = false; // PAUSED was left by Continue and its decisions may still be on their way
    int position = 0;       // 1-based place among the session's waiting runs; 0 when not waiting (derived)
    QString waitingFor;     // why it waits, in words (derived)

    bool operator==(const Run &) const = default;
};

struct NewRun
{
    SessionId sessionId;
    QString prompt;
    QString requestedBy;
    QString origin;
    QString idempotencyKey; // empty: none; at most 512 characters
};

struct Submitted
{
    Run run;
    bool duplicate = false; // the key was used before: `run` is the original one
};

// Continue is accepted once; a second call attaches to the leg that already runs.
struct Continued
{
    Run run;
    bool attached = false;
};

} // namespace engine
