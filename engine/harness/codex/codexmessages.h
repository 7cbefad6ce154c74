#pragma once

#include "engine/types/run.h"
#include "engine/types/states.h"

#include <QByteArray>
#include <QString>
#include <variant>

namespace engine::codex {

// The lines of `codex app-server` as values. Measured with 0.171.0; every field may be missing. Ids of requests are
// kept as the JSON text they came in: 0 and "0" are two ids, and an answer under the wrong one is ignored silently.
struct ServerRequest
{
    enum class Kind {
        Command,     // may a command run?
        WriteStdin,  // may something be typed into a running program?
        FileChange,  // may files change? What changes stands in the item alone
        Permissions, // more permissions for the turn
        UserInput,   // the model asks the person
        Form,        // an MCP server asks the person
        McpTool,     // may a tool of an MCP server be called?
        ToolCall,    // a tool of the console
        Other
    };

    Kind kind = Kind::Other;
    QByteArray id;
    QString method;
    QString turnId;
    QString itemId;
    QString toolName;
    QString reason;
    QString blockedPath;
    QByteArray input;      // what is asked, for a person: JSON object text without the protocol's own fields
    bool complete = false; // everything needed to show and answer it is there
    QByteArray raw;
};
struct Reply
{
    QByteArray id;
    bool ok = false;
    int code = 0;
    QString error;
    QString version;        // initialize
    QString threadId;       // thread/start, resume, fork
    QString rolloutPath;    // the same
    QString model;          // the same
    QString approvalPolicy; // the same: what is in force
    QString sandboxType;    // the same
    QString turnId;         // turn/start, turn/steer; thread/turns/list: the newest
};
// A piece of a turn: a text, a thought, or a tool at work.
struct Item
{
    QString id;
    QString type;
    QString text;       // of agentMessage, plan and reasoning
    QString toolName;   // of everything that acts
    QByteArray input;   // the same: JSON object text
    QByteArray changes; // of fileChange: JSON array text
    QString output;
    QString status;
    int exitCode = 0;
};
struct ItemStarted
{
    Item item;
};
struct ItemCompleted
{
    Item item;
};
struct TextChunk
{
    QString itemId;
    BlockKind kind = BlockKind::Answer;
    QString text;
};
struct OutputChunk
{
    QString itemId;
    QString text;
};
struct TerminalInput // the model typed into a running program
{
    QString itemId;
    QString text;
};
struct TurnBegun
{
    QString turnId;
};
struct TurnDone
{
    QString turnId;
    QString status; // "completed", "interrupted", "failed"
    QString text;
    QString error;
    QString errorInfo;
    int apiStatus = 0;
};
struct TokenUsage
{
    QString turnId;
    qint64 totalTokens = 0; // of the thread
    Usage last;             // of the newest response
};
struct ApiError
{
    bool willRetry = false;
    int attempt = 0;
    int maxAttempts = 0;
    int status = 0;
    QString text;
};
struct Settings // what is in force from now on
{
    QString approvalPolicy;
    QString sandboxType;
};
struct Resolved // a request is not open any more
{
    QByteArray id;
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
using Message = std::variant<ServerRequest, Reply, ItemStarted, ItemCompleted, TextChunk, OutputChunk, TerminalInput,
                             TurnBegun, TurnDone, TokenUsage, ApiError, Settings, Resolved, Note, Ignored, Unknown>;

struct Line
{
    QByteArray text;  // the object's own text
    QString threadId; // of turns, items and requests; else empty
    Message message;
};

} // namespace engine::codex
