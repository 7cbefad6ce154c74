#pragma once

#include "engine/types/agent.h"
#include "engine/types/error.h"
#include "engine/types/session.h"

namespace engine {

// Where each harness keeps its conversations, asked by its kind. Pure functions of the files' present state, for any
// thread; see claude/transcript and codex/rollout.

// Empty: none.
QString findConversation(HarnessKind kind, const QString &configFolder, const QString &workspace,
                         const QString &nativeSessionId);
// Before a resume. Answers the id of the newest turn; empty when the harness has none.
Result<QString> verifyConversation(HarnessKind kind, const NativeIdentity &native, const QString &configFolder,
                                   const QString &workspace);
// The file by which a configuration folder is signed in to an account of its own.
QString signedInFile(HarnessKind kind);

} // namespace engine
