#pragma once

#include "engine/types/agent.h"
#include "engine/types/error.h"

namespace engine {

// The modes a person may choose, in the harness's spelling.
QStringList permissionModes();  // Claude Code
QStringList approvalPolicies(); // Codex
QStringList sandboxModes();     // Codex

// What a Codex agent's sessions start with: "on-request" when nothing is set.
QString effectiveApprovalPolicy(const Agent &agent);

// Old names of settings are taken over under the new ones; true: there was one, and the person is told. Invalid when both
// are given. Any thread.
Result<bool> takeOldSpellings(Agent &agent);
QString oldSpellingWarning(const Agent &agent);

// Invalid names the field and what is allowed. Any thread.
Result<void> checkAgent(const Agent &agent);

} // namespace engine
