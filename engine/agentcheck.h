#pragma once

#include "engine/types/agent.h"
#include "engine/types/error.h"

namespace engine {

// The permission modes a person may choose, in Claude Code's spelling.
QStringList permissionModes();

// Invalid names the field and what is allowed. Any thread.
Result<void> checkAgent(const Agent &agent);

} // namespace engine
