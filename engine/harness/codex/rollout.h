#pragma once

#include "engine/types/error.h"
#include "engine/types/session.h"

namespace engine {

// The file that Codex keeps a conversation in: <home>/sessions/.../rollout-<time>-<thread id>.jsonl. Pure functions of
// the files' present state, for any thread. Size and hash are taken by snapshotTranscript.

// Empty: none.
QString findRollout(const QString &home, const QString &threadId);
// Before a resume: every byte of the snapshot must still be there, the file must begin with this thread's own record,
// and what came behind must be whole records, but for a last one cut by a kill. Codex resumes shortened and damaged
// files without a word (and shows turns that the model is not told), so it can't be asked. Answers the id of the newest
// turn in the file; empty when none began.
Result<QString> verifyRollout(const NativeIdentity &native, const QString &home);

} // namespace engine
