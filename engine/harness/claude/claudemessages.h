#pragma once

#include "engine/types/run.h"
#include "engine/types/states.h"

#include <QByteArray>
#include <QList>
#include <QString>
#include <variant>

namespace engine::claude {

// The lines of Claude Code's stream-json and control protocol as values. Measured with 2.1.197 and 2.1.332; it is no
// published contract, so every field may be missing.
struct CanUseTool
{
    QString requestId;
    QString toolName;
    QString toolUseId;
    QByteArray input; // exact text; empty: missing
    bool inputIsObject = false;
    bool tooDeep = false; // nested beyond what is looked at: `input` is empty
    QString reason;
    QString blockedPath;
    QByteArray raw;
};
struct HookCallback
{
    QString requestId;
    QString event;
    QString toolName;
    bool wellFormed = false;
};
struct McpMessage
{
    QString requestId;
    QString server;
    QString method;
    QByteArray id; // JSON text; empty: a notification
    QString protocolVersion;
    QString toolName;
    QByteArray arguments;
};
struct OtherRequest
{
    QString requestId;
    QString subtype;
};
struct ControlReply
{
    QString requestId;
    bool ok = false;
    QString error;
    QString version;
    QString model;
    QString mode;
};
struct CancelRequest
{
    QString requestId;
};
struct SystemInit
{
    QString sessionId;
    QString model;
    QString permissionMode;
    QString version;
};
struct ModeStatus
{
    QString mode;
};
struct ApiRetry
{
    int attempt = 0;
    int maxAttempts = 0;
    int delayMs = 0;
    int status = 0;
    QString text;
};
struct RuleDenial
{
    QString toolUseId;
    QString message;
};
struct StreamEvent
{
    enum class Kind { MessageStart, BlockStart, Delta, MessageStop, Other };

    Kind kind = Kind::Other;
    QString parent; // tool use id of the sub-agent, else empty
    QString messageId;
    int index = 0;
    QString blockType; // BlockStart: "text", "thinking", "tool_use", ...
    BlockKind deltaKind = BlockKind::Answer;
    QString text;
    int abandonedFrom = -1; // MessageStop: blocks from here on are void
};
struct ContentBlock
{
    QString type;
    QString text;
    QString toolUseId;
    QString toolName;
    QByteArray input;
};
struct AssistantLine
{
    QString parent;
    QString messageId;
    bool apiError = false;
    QList<ContentBlock> blocks;
};
struct ToolResult
{
    QString toolUseId;
    QString text;
    bool isError = false;
    bool refused = false; // tool_result_meta says that it was not let run
};
struct UserLine
{
    QString parent;
    bool isReplay = false;
    QList<ToolResult> results;
    QStringList texts;
};
struct ResultLine
{
    bool isError = false;
    int apiStatus = 0;
    QString terminalReason;
    QString text;
    int turns = 0;
    Usage usage;                 // costMicros: only when `costIsOfTurn`
    bool costIsOfTurn = false;   // from model_usage_since_last_result
    qint64 totalCostMicros = -1; // of the process; -1: not said
};
struct Note
{
    QString text;
    bool warning = false;
};
struct Ignored
{
};
struct Unknown
{
    QString summary;
};
using Message = std::variant<CanUseTool, HookCallback, McpMessage, OtherRequest, ControlReply, CancelRequest, SystemInit,
                             ModeStatus, ApiRetry, RuleDenial, StreamEvent, AssistantLine, UserLine, ResultLine, Note,
                             Ignored, Unknown>;

struct Line
{
    QByteArray text; // the object's own text
    QString sessionId;
    Message message;
};

} // namespace engine::claude
