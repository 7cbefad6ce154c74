#pragma once

#include <sys/types.h>
#include <vector>

namespace sandbox {

// Every living process below `root` (zombies are left out), by /proc.
std::vector<pid_t> descendantsOf(pid_t root);

} // namespace sandbox
