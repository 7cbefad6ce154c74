#pragma once

#include "engine/types/error.h"
#include "engine/types/session.h"

namespace engine {

// The file that Claude Code keeps a conversation in: <config>/projects/<slug of the folder>/<session id>.jsonl.
// Pure functions of the files' present state, for any thread.

// A folder as the harness spells it: every other character than letters and digits is a dash.
QString transcriptSlug(const QString &workspace);
// Under the workspace's slug, else under any other one (2.1.332 resumes from there too). Empty: none.
QString findTranscript(const QString &configFolder, const QString &workspace, const QString &nativeSessionId);
// Size and hash as they are now; NativeResumeFailed when it can't be read.
Result<NativeIdentity> snapshotTranscript(const QString &path, const QString &nativeSessionId);
// Before a resume: every byte of the snapshot must still be there. What came behind it is accepted as long as it is
// whole lines of this conversation (the harness notes things at its end, and a turn may have died), but for a last line
// cut by a kill. The harness itself resumes damaged files silently, so it can't be asked.
Result<void> verifyTranscript(const NativeIdentity &native, const QString &configFolder, const QString &workspace);

} // namespace engine
