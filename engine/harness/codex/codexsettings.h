#pragma once

#include "engine/types/agent.h"
#include "engine/types/error.h"

namespace engine {

// What an agent says about Codex alone. Pure functions, any thread.

// The words a person may choose, in Codex's spelling.
QStringList approvalPolicies();
QStringList sandboxModes();
// What its sessions start with: "on-request" when nothing is set.
QString effectiveApprovalPolicy(const Agent &agent);

// Old names of settings are taken over under the new ones; true: there was one, and the person is told. Invalid when
// both are given.
Result<bool> takeOldSpellings(Agent &agent);
QString oldSpellingWarning(const Agent &agent);

// Invalid names the field and what is allowed; nothing that can't be gated passes.
Result<void> checkCodexSettings(const Agent &agent);

} // namespace engine
