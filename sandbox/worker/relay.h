#pragma once

#include <string>

namespace sandbox {

// Connects to a worker's socket (@name: abstract) and copies both ways between it and the standard streams until one
// side ends; the way into a container from outside. Returns the program's exit code.
int relay(const std::string &socket);

} // namespace sandbox
