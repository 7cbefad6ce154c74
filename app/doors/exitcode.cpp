#include "app/doors/exitcode.h"

namespace app {

using engine::ErrorCode;

ExitCode exitCodeOf(ErrorCode code)
{
    switch (code) {
    case ErrorCode::Invalid:
        return ExitCode::Usage;
    case ErrorCode::NotFound:
        return ExitCode::NotFound;
    case ErrorCode::Conflict:
    case ErrorCode::ActionChanged:
    case ErrorCode::Expired:
    case ErrorCode::Stale:
    case ErrorCode::Forbidden:
    case ErrorCode::QueueFull:
        return ExitCode::Refused;
    case ErrorCode::StorageUnavailable:
    case ErrorCode::StorageNewer:
        return ExitCode::Storage;
    case ErrorCode::StorageBusy:
    case ErrorCode::ShuttingDown:
        return ExitCode::Unavailable;
    case ErrorCode::ProgramMissing:
    case ErrorCode::ProgramVersion:
    case ErrorCode::CredentialMissing:
    case ErrorCode::SandboxFailed:
    case ErrorCode::WorkerUnreachable:
    case ErrorCode::SandboxUnavailable:
    case ErrorCode::HarnessFailed:
    case ErrorCode::NativeResumeFailed:
    case ErrorCode::NotSupported:
    case ErrorCode::Cancelled:
    case ErrorCode::Internal:
        break;
    }
    return ExitCode::Failed;
}

} // namespace app
