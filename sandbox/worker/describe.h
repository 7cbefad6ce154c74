#pragma once

#include <string>

namespace sandbox {

// How closed off the container is, as seen from inside: lines of key=value (uid, capabilities, noNewPrivileges,
// seccomp, root, devices, routes, engineSocket). What cannot be read is left out, so that it cannot count as proved.
std::string describeContainer();

} // namespace sandbox
