#pragma once

#include <QString>
#include <tl/expected.hpp>

namespace engine {

// The codes every door (window, command line, headless) gets alike. BEHAVIOURS.md's HTTP-like numbers map onto
// them: 400 Invalid, 403 Forbidden, 404 NotFound, 409 Conflict/ActionChanged/Stale, 410 Expired, 429 QueueFull,
// 503 StorageUnavailable.
enum class ErrorCode {
    Invalid,            // the caller's input; the message names the field and what is allowed
    NotFound,           // no such object, or outside the caller's scope
    Conflict,           // a guarded update lost its race, or the object is in another state
    ActionChanged,      // the digest of a decision is not the digest of the pending action
    Expired,            // the approval's time ran out before the decision
    Stale,              // an answer to an earlier question or from an older attempt or generation
    Forbidden,          // continue before every approval is decided
    QueueFull,          // the session's or the engine's limit of waiting runs is reached
    StorageUnavailable, // the store refused a read or a write; nothing was changed and nothing was sent
    StorageNewer,       // the database was written by a newer program
    StorageBusy,        // another instance holds the store
    ProgramMissing,     // the harness program was not found
    ProgramVersion,     // the harness program is of a version that cannot be driven safely
    CredentialMissing,  // no key in the configured environment variable
    SandboxFailed,      // the computer could not be made ready
    WorkerUnreachable,  // the worker channel is down; the harness may well go on
    SandboxUnavailable, // the provider cannot be asked; its computers may well go on
    HarnessFailed,      // the harness ended or reported a failure
    NativeResumeFailed, // the native conversation is missing, damaged or another one
    NotSupported,       // the provider or harness lacks the capability
    Cancelled,          // the caller or an operator cancelled it
    ShuttingDown,       // the engine is closing
    Internal            // our own mistake, caught at an edge
};
QString toString(ErrorCode code);

// message: what was tried, on what, why it failed and what to do next, for a person. detail: raw text behind it.
struct Error
{
    ErrorCode code = ErrorCode::Internal;
    QString message;
    QString detail;

    bool operator==(const Error &) const = default;
};

template <class T> using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, const QString &message, const QString &detail = {})
{
    return tl::unexpected<Error>(Error{code, message, detail});
}

} // namespace engine
