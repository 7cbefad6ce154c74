#pragma once

#include "engine/harness/claude/claudemessages.h"
#include "engine/harness/driver.h"

#include <optional>

namespace engine::claude {

// One line of the harness's output; more than one when several objects stand on it. Never fails: what is not
// understood is an Unknown with a summary of at most 200 characters.
QList<Line> decode(const QByteArray &line);

// What a line of ours said; used to rebuild a driver from a record. Empty when it says nothing the driver keeps.
struct SentLine
{
    enum class Kind { Request, Answer, Prompt };

    Kind kind = Kind::Request;
    QString id;       // request id, or the prompt's uuid
    QString subtype;  // Request
    QString argument; // Request: model or mode
    bool deny = false;
};
std::optional<SentLine> decodeSent(const QByteArray &line);

// Lines for the harness, each with its line feed.
QByteArray initializeLine(const QString &requestId, bool withTools);
QByteArray requestLine(const QString &requestId, const QString &subtype, const QString &key = {},
                       const QString &value = {});
QByteArray interruptLine(const QString &requestId);
QByteArray promptLine(const QString &uuid, const QString &text);
// `input` is taken over as it is; it must have passed `isObject`.
QByteArray allowLine(const QString &requestId, const QByteArray &input);
QByteArray denyLine(const QString &requestId, const QString &message);
// decision: "ask", "deny", or empty for no opinion.
QByteArray hookLine(const QString &requestId, const QString &decision, const QString &reason);
QByteArray errorLine(const QString &requestId, const QString &error);
// Answers of the in-process MCP server.
QByteArray mcpLine(const QString &requestId, const QByteArray &id, const QByteArray &result);
QByteArray mcpErrorLine(const QString &requestId, const QByteArray &id, int code, const QString &message);
QByteArray mcpInitializeResult(const QString &protocolVersion);
QByteArray mcpToolList(const QList<ToolDefinition> &tools);
QByteArray mcpToolResult(const ToolReply &reply);
// Arguments of a tool call with the caller's native session id added.
QByteArray withCaller(const QByteArray &arguments, const QString &nativeSessionId);

bool isObject(const QByteArray &json);

} // namespace engine::claude
