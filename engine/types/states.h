#pragma once

#include <QString>
#include <optional>

namespace engine {

// A run's life; the diagram and what a crash does to each state stand in engine/README.md.
enum class RunState {
    Pending,   // enters: submit; leaves: claim, cancel. A crash leaves it as it is.
    Running,   // enters: claim, continue, expiry; leaves: pause, settle, cancel. A crash: adopted when its worker
               // lives, else Error with the reason.
    Paused,    // enters: an approval request, with its approval in one transaction; leaves: continue, expiry, cancel.
               // A crash leaves it; a dead harness marks its approvals "native execution lost".
    Completed, // terminal
    Error,     // terminal; requeue makes a new attempt
    Cancelled  // terminal
};
QString toString(RunState state);
std::optional<RunState> runStateFromString(const QString &text);
bool isTerminal(RunState state);
bool mayMove(RunState from, RunState to);

enum class ApprovalState {
    Pending,  // enters: the pausing transaction; leaves: resolve, expiry, cancel. A crash leaves it with its deadline.
    Approved, // decided by a person (or rule); delivered by continue
    Denied,   // decided by a person (or rule); delivered by continue
    Expired,  // decided by nobody; the harness is told "timed out"
    Cancelled // by the system: the run was cancelled, the harness withdrew or ended
};
QString toString(ApprovalState state);
std::optional<ApprovalState> approvalStateFromString(const QString &text);
bool mayMove(ApprovalState from, ApprovalState to);

// How far a decision has come. It never claims more than was proved by the other side.
enum class Delivery {
    None,         // not decided yet, or nothing to deliver
    NotDelivered, // decided, not delivered: a crash redelivers it with the same input id
    Written,      // the worker acknowledged that it wrote the bytes to the harness's stdin
    Acknowledged, // the harness acted on it (its tool result or a later line proves it)
    Executed,     // the approved tool ended; executedStatus holds its outcome
    Lost          // the native execution died before the decision reached it
};
QString toString(Delivery delivery);
std::optional<Delivery> deliveryFromString(const QString &text);

enum class ApprovalKind {
    Tool,     // may a tool run?
    Question, // the model asks the person (AskUserQuestion)
    Plan,     // leave plan mode (ExitPlanMode)
    Unknown   // a request of a kind never seen: shown raw, may be denied or answered, never auto-answered
};
QString toString(ApprovalKind kind);
std::optional<ApprovalKind> approvalKindFromString(const QString &text);

enum class Verdict { Approve, Deny };

enum class Gate {
    Native, // the harness decides what it asks for
    All     // every tool call asks a person
};
QString toString(Gate gate);
std::optional<Gate> gateFromString(const QString &text);

enum class HarnessKind { Claude, Codex, Replay };
QString toString(HarnessKind kind);
std::optional<HarnessKind> harnessKindFromString(const QString &text);

// A piece of the transcript.
enum class BlockKind { Prompt, Answer, Thinking, Tool, Approval, Note, Warning, Failure, Unknown };
QString toString(BlockKind kind);
std::optional<BlockKind> blockKindFromString(const QString &text);

enum class ToolState { None, Running, Done, Failed, Denied };
QString toString(ToolState state);
std::optional<ToolState> toolStateFromString(const QString &text);

} // namespace engine
