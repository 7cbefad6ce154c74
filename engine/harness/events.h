#pragma once

#include "engine/types/run.h"
#include "engine/types/states.h"

#include <QByteArray>
#include <QString>
#include <variant>

namespace engine {

// What a harness's lines mean, in the engine's words. Values; times are added by the caller.
struct HarnessReady // initialize was answered: a prompt may be written
{
    QString version; // empty when the harness does not say
    bool operator==(const HarnessReady &) const = default;
};
struct TurnStarted // the harness took the prompt up; sessionId is what it claims to be
{
    QString nativeSessionId;
    QString model;
    QString permissionMode;
    QString version;
    bool operator==(const TurnStarted &) const = default;
};
struct ConversationOpened // the harness itself names the conversation that begins or goes on, and where it is kept
{
    QString nativeSessionId;
    QString path;
    bool operator==(const ConversationOpened &) const = default;
};
struct HarnessBroken // it hangs, or does not hold what was asked of it: it must not go on
{
    QString message;
    bool operator==(const HarnessBroken &) const = default;
};
struct IdentityMismatch // a line carries another session id than the one asked for
{
    QString expected;
    QString found;
    bool operator==(const IdentityMismatch &) const = default;
};
struct TextDelta // `key` is message id + ":" + content index
{
    QString key;
    BlockKind kind = BlockKind::Answer; // or Thinking
    QString text;
    bool operator==(const TextDelta &) const = default;
};
struct TextDropped // what streamed under `key` is void
{
    QString key;
    bool operator==(const TextDropped &) const = default;
};
struct TextCompleted
{
    QString key;
    BlockKind kind = BlockKind::Answer;
    QString text;
    QString parentToolUseId; // set for a sub-agent's text
    bool operator==(const TextCompleted &) const = default;
};
struct ToolStarted
{
    QString toolUseId;
    QString name;
    QByteArray input; // JSON object text
    QString parentToolUseId;
    bool operator==(const ToolStarted &) const = default;
};
struct ToolEnded
{
    QString toolUseId;
    ToolState state = ToolState::Done;
    QString output;
    bool operator==(const ToolEnded &) const = default;
};
struct PermissionRequested
{
    QString requestId;
    QString toolUseId;
    ApprovalKind kind = ApprovalKind::Tool;
    QString toolName;
    QByteArray input; // exact JSON text of the arguments
    QString reason;
    QString blockedPath;
    bool editable = true;
    QByteArray raw;
    bool operator==(const PermissionRequested &) const = default;
};
struct PermissionWithdrawn // by the harness (interrupt, cancel) or with the end of turn or process
{
    QString requestId;
    bool operator==(const PermissionWithdrawn &) const = default;
};
struct RetryAnnounced // the harness retries the model's API by itself
{
    int attempt = 0;
    int maxAttempts = 0;
    int delayMs = 0;
    int status = 0; // HTTP status; 0: none
    QString text;
    bool operator==(const RetryAnnounced &) const = default;
};
struct NoteSeen // anything else worth a line in the transcript
{
    QString text;
    bool warning = false;
    bool operator==(const NoteSeen &) const = default;
};
struct ModelChanged
{
    QString model;
    bool operator==(const ModelChanged &) const = default;
};
struct ModeChanged
{
    QString mode;
    bool operator==(const ModeChanged &) const = default;
};
struct TurnEnded
{
    bool isError = false;
    bool interrupted = false;
    int apiStatus = 0;      // HTTP status of a failed API call; 0: none
    QString terminalReason; // the harness's word: "completed", "aborted_tools", "api_error", ...
    QString text;           // final text, or the error for a person
    int turns = 0;
    Usage usage; // of this turn alone
    bool operator==(const TurnEnded &) const = default;
};
struct StartFailed // ended or reported an error before it was ready
{
    QString message;
    bool noConversation = false; // the native conversation was not found
    bool operator==(const StartFailed &) const = default;
};
struct UnknownLine // kept and shown, never fatal
{
    QString summary; // "system/foo", "not JSON"
    QByteArray line;
    bool operator==(const UnknownLine &) const = default;
};

using HarnessEvent =
    std::variant<HarnessReady, TurnStarted, ConversationOpened, HarnessBroken, IdentityMismatch, TextDelta, TextDropped, TextCompleted, ToolStarted,
                 ToolEnded, PermissionRequested, PermissionWithdrawn, RetryAnnounced, NoteSeen, ModelChanged, ModeChanged,
                 TurnEnded, StartFailed, UnknownLine>;

} // namespace engine
