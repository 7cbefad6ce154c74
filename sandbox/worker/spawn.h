#pragma once

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/fd.h"

#include <string>
#include <sys/types.h>

namespace sandbox {

struct Spawned
{
    pid_t pid = -1;
    Fd input;  // ours, non-blocking
    Fd output; // ours, non-blocking
    Fd errorOutput;
};

// Starts the harness in a session of its own; it is killed by the kernel when the worker dies. False with a message
// for a person.
bool spawnHarness(const LaunchPayload &launch, mode_t umaskOfHarness, Spawned &to, std::string &error);

} // namespace sandbox
