#pragma once

#include "engine/types/error.h"

namespace app {

// What the program answers to its caller; the numbers are a promise (README.md).
enum class ExitCode {
    Ok = 0,
    Failed = 1,     // the command or the run failed
    Usage = 2,      // the command line is wrong
    Refused = 3,    // conflict, stale, expired, changed action, not allowed now
    NotFound = 4,   // no such session, run, approval or agent
    Storage = 5,    // the store refused a read or a write
    NeedsYou = 6,   // the run waits for a person's decision
    Unavailable = 7 // no engine: another instance holds the store or does not answer
};
ExitCode exitCodeOf(engine::ErrorCode code);

} // namespace app
