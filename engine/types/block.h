#pragma once

#include "engine/types/ids.h"
#include "engine/types/states.h"

#include <QDateTime>
#include <QList>

namespace engine {

// A piece of a session's transcript. Positions are dense per session from 0, so a view can window over millions.
struct Block
{
    SessionId sessionId;
    qint64 position = -1; // -1: not stored yet
    RunId runId;
    BlockKind kind = BlockKind::Note;
    QString key;      // stable within the session: message id + index, tool use id, approval id; unique if not empty
    QString text;     // prompt, Markdown answer, thinking, note, failure; Unknown: the raw line
    QString toolName; // Tool
    QString input;    // Tool: arguments, JSON text
    QString output;   // Tool: what came back
    ToolState tool = ToolState::None;
    qint64 durationMs = -1; // Tool: measured by us
    ApprovalId approvalId;  // Approval
    QDateTime at;

    bool operator==(const Block &) const = default;
};

struct BlockPage
{
    SessionId sessionId;
    qint64 first = 0;
    qint64 total = 0;
    QList<Block> blocks;
};

// Text that still streams; the final Block with the same key replaces it. Chunks are appended in order.
struct LiveText
{
    SessionId sessionId;
    RunId runId;
    QString key;
    BlockKind kind = BlockKind::Answer; // Answer or Thinking
    qsizetype offset = 0;               // where `text` goes; 0 starts anew
    QString text;
    bool dropped = false; // the harness took it back: remove what was shown

    bool operator==(const LiveText &) const = default;
};

// One line between engine and harness, as it was.
struct RawLine
{
    enum class Direction { ToHarness, FromHarness, FromHarnessError };

    qint64 number = 0; // store-assigned
    SessionId sessionId;
    RunId runId;
    int generation = 0;
    int attempt = 0;
    QDateTime at;
    Direction direction = Direction::FromHarness;
    QByteArray bytes; // without the line feed; secrets redacted

    bool operator==(const RawLine &) const = default;
};

// A fact of a run for the debugger's timeline.
struct RunEvent
{
    qint64 number = 0; // store-assigned, increasing
    SessionId sessionId;
    RunId runId;
    int attempt = 0;
    QDateTime at;
    QString kind; // "RunStarted", "RunPaused", "ToolCallStarted", ...
    QString text;

    bool operator==(const RunEvent &) const = default;
};

} // namespace engine
