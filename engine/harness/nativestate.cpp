#include "engine/harness/nativestate.h"

#include "engine/harness/claude/transcript.h"
#include "engine/harness/codex/rollout.h"

namespace engine {

QString findConversation(HarnessKind kind, const QString &configFolder, const QString &workspace,
                         const QString &nativeSessionId)
{
    return kind == HarnessKind::Codex ? findRollout(configFolder, nativeSessionId)
                                      : findTranscript(configFolder, workspace, nativeSessionId);
}

Result<QString> verifyConversation(HarnessKind kind, const NativeIdentity &native, const QString &configFolder,
                                   const QString &workspace)
{
    if (kind == HarnessKind::Codex)
        return verifyRollout(native, configFolder);
    const Result<void> verified = verifyTranscript(native, configFolder, workspace);
    return verified ? Result<QString>(QString()) : tl::unexpected<Error>(verified.error());
}

QString signedInFile(HarnessKind kind)
{
    return kind == HarnessKind::Codex ? QStringLiteral("/auth.json") : QStringLiteral("/.credentials.json");
}

} // namespace engine
