#pragma once

#include "engine/harness/codex/codexmessages.h"
#include "engine/harness/driver.h"

#include <optional>

namespace engine::codex {

// One line of the harness's output; more than one when several objects stand on it. Never fails: what is not understood
// is an Unknown with a summary of at most 200 characters.
QList<Line> decode(const QByteArray &line);

// What a line of ours said; used to rebuild a driver from a record. Empty when it says nothing the driver keeps.
struct SentLine
{
    enum class Kind { Request, Answer };

    Kind kind = Kind::Request;
    QByteArray id;          // JSON text
    QString method;         // Request
    QString threadId;       // Request
    QString text;           // Request: of the prompt
    QString approvalPolicy; // Request: asked for; empty: not said
    QString sandboxType;    // the same, in the words of a reply ("readOnly")
    bool refused = false;   // Answer
    QString note;           // Answer: what the model is to be told
};
std::optional<SentLine> decodeSent(const QByteArray &line);

// What policy and sandbox a turn runs under.
struct GatePolicy
{
    QString approval; // "on-request", "untrusted", "never"
    QString sandbox;  // "read-only", "workspace-write", "danger-full-access", "external"

    bool operator==(const GatePolicy &) const = default;
};
// The policy in force for an agent: what it names, else the defaults; gate "all" needs "untrusted".
GatePolicy gatePolicy(const Agent &agent);
// A sandbox as replies name it: "readOnly", ...; `forTurn`: external sandboxes exist on turns only.
QString sandboxType(const QString &sandbox, bool forTurn);

// Lines for the harness, each with its line feed. Ids are JSON text.
QByteArray initializeLine(const QByteArray &id);
QByteArray initializedLine();
struct ThreadRequest
{
    QString method = QStringLiteral("thread/start"); // or thread/resume, thread/fork
    QString threadId;                                // resume and fork
    QString workspace;
    QString model;
    QString instructions;
    GatePolicy policy;
    QList<ToolDefinition> tools;
};
QByteArray threadLine(const QByteArray &id, const ThreadRequest &request);
QByteArray turnLine(const QByteArray &id, const QString &threadId, const QString &text, const GatePolicy &policy,
                    const QString &workspace, const QString &model);
QByteArray steerLine(const QByteArray &id, const QString &threadId, const QString &turnId, const QString &text);
QByteArray interruptLine(const QByteArray &id, const QString &threadId, const QString &turnId);
QByteArray cleanTerminalsLine(const QByteArray &id, const QString &threadId);
QByteArray newestTurnLine(const QByteArray &id, const QString &threadId);
// `note` is carried along for the record: the protocol has no place for it and passes over it.
QByteArray decisionLine(const QByteArray &id, bool accept, const QString &note = {});
QByteArray permissionsLine(const QByteArray &id, const QByteArray &decided);
QByteArray answersLine(const QByteArray &id, const QByteArray &decided);
QByteArray formLine(const QByteArray &id, bool accept, const QByteArray &decided, const QByteArray &asked);
QByteArray toolReplyLine(const QByteArray &id, const ToolReply &reply);
QByteArray resultLine(const QByteArray &id, const QByteArray &result);
QByteArray errorLine(const QByteArray &id, int code, const QString &message);

QByteArray jsonText(const QString &text);
bool isObject(const QByteArray &json);
// {"changes": ...} of a file change's item.
QByteArray fileChangeInput(const QByteArray &changes, const QByteArray &asked);
// Arguments of a tool call with the caller's native session id added.
QByteArray withCaller(const QByteArray &arguments, const QString &nativeSessionId);

} // namespace engine::codex
