#pragma once

#include "engine/types/ids.h"
#include "engine/types/states.h"

#include <QByteArray>
#include <QDateTime>

namespace engine {

// One request of a harness for a decision, bound to its exact action by `digest`.
struct Approval
{
    ApprovalId id;
    RunId runId;
    SessionId sessionId;
    AgentId agentId;
    QString sessionTitle; // joined for display
    QString agentName;    // joined for display
    int attempt = 0;
    int generation = 0;
    ApprovalKind kind = ApprovalKind::Tool;
    ApprovalState state = ApprovalState::Pending;
    Delivery delivery = Delivery::None;
    bool nativeLost = false; // the harness that asked is gone; an approval is used only by an identical new request
    QString nativeSessionId;
    QString nativeRequestId;
    QString nativeToolUseId;
    QString toolName;
    QString title;        // one sentence: what will happen
    QString reason;       // why the harness asks, in its words
    QString blockedPath;  // as reported by the harness
    QByteArray input;     // exact arguments, JSON object text
    QByteArray raw;       // the whole request as it came, JSON text
    QString cwd;
    QByteArray canonical; // RFC 8785 JSON of the action; its SHA-256 is `digest`
    Digest digest;
    bool editable = true;   // the harness accepts changed arguments
    QByteArray editedInput; // empty: approved as asked
    Digest editedDigest;
    QString note;
    QString requestedBy; // who asked for the run
    QString decidedBy;
    QString decisionKey; // idempotency key of the decision
    QDateTime requestedAt;
    QDateTime seenAt; // first drawn to a person
    QString seenBy;
    QDateTime expiresAt;
    QDateTime decidedAt;
    QDateTime writtenAt;
    QDateTime acknowledgedAt;
    QDateTime executedAt;
    QString executedStatus; // "ok", "failed", "denied"

    bool operator==(const Approval &) const = default;
};

struct Decision
{
    ApprovalId id;
    Digest digest; // of the action as it was shown
    Verdict verdict = Verdict::Deny;
    QString note;
    QByteArray editedInput; // JSON object text; empty: as asked. Answers to a question travel here too.
    QString decidedBy;
    QString key; // idempotency key; empty: none
    bool continueAfter = false;
};

struct Resolved
{
    Approval approval;
    bool repeated = false; // the same key again: the original result, nothing was sent
    bool continued = false;
};

struct ApprovalQuery
{
    bool pendingOnly = true;
    SessionId sessionId; // empty: all
    RunId runId;         // empty: all
    QString text;        // substring of title, tool, agent or session title
    int limit = 500;
    int offset = 0;
};

struct AuditEntry
{
    qint64 number = 0;
    QDateTime at;
    QString who;
    QString what;    // "approval.approve", "run.cancel", "agent.save", ...
    QString subject; // id of the object
    QString result;  // "ok" or an error code
    QString detail;

    bool operator==(const AuditEntry &) const = default;
};

} // namespace engine
