#pragma once

#include "engine/types/error.h"
#include "engine/types/ids.h"

#include <QByteArray>
#include <QString>

namespace engine {

// Everything an approval is bound to; a change in any of it is another action with another digest.
struct ActionFacts
{
    QString harness;  // "claude"
    QString kind;     // toString(ApprovalKind)
    QString toolName;
    QByteArray input; // as it came; JSON text, or anything
    QString cwd;
    QString nativeSessionId;
    QString nativeRequestId;
    QString nativeToolUseId;
    SessionId sessionId;
    RunId runId;
    int attempt = 0;
    int generation = 0;
};

// RFC 8785 (JSON Canonicalization Scheme). Invalid: not JSON, a repeated key, a lone surrogate, invalid UTF-8, a
// number beyond a double, an integer that a double can't hold exactly, or nesting deeper than 512. Any thread.
Result<QByteArray> canonicalJson(const QByteArray &json);

// The action as canonical JSON. Input that canonicalJson() refuses is carried as text (or base64 when it is no
// UTF-8) under another member, so it still has a digest and never the digest of a proper one. Any thread.
Result<QByteArray> canonicalAction(const ActionFacts &facts);

// Of the arguments alone, by the same rule; equal for calls that differ in spelling only.
Digest inputDigest(const QByteArray &input);

Digest digestOf(const QByteArray &canonical);

} // namespace engine
