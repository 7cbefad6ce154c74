#include "engine/agentcheck.h"

#include "engine/harness/codex/codexsettings.h"

#include <QCoreApplication>
#include <QDir>
#include <QRegularExpression>

namespace engine {
namespace {

QString trAgent(const char *text)
{
    return QCoreApplication::translate("engine::Agent", text);
}

Result<void> inRange(const QString &field, int value, int lowest, int highest)
{
    if (value >= lowest && value <= highest)
        return {};
    return fail(ErrorCode::Invalid, trAgent("%1 is from %2 to %3, not %4.").arg(field).arg(lowest).arg(highest).arg(value));
}

} // namespace

QStringList permissionModes()
{
    return {QStringLiteral("default"), QStringLiteral("acceptEdits"), QStringLiteral("plan"), QStringLiteral("dontAsk"),
            QStringLiteral("bypassPermissions")};
}

Result<void> checkAgent(const Agent &agent)
{
    static const QRegularExpression variable(QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*$"));
    if (agent.name.trimmed().isEmpty())
        return fail(ErrorCode::Invalid, trAgent("The agent needs a name."));
    if (!permissionModes().contains(agent.permissionMode))
        return fail(ErrorCode::Invalid, trAgent("Permission mode \"%1\" is not known. Allowed: %2.")
                                            .arg(agent.permissionMode, permissionModes().join(QStringLiteral(", "))));
    if (agent.harness == HarnessKind::Codex) {
        if (const Result<void> codex = checkCodexSettings(agent); !codex)
            return codex;
    }
    if (!agent.keyVariable.isEmpty() && !variable.match(agent.keyVariable).hasMatch())
        return fail(ErrorCode::Invalid,
                    trAgent("The key is taken from an environment variable; \"%1\" is no name of one. The key itself does not "
                            "belong here.")
                        .arg(agent.keyVariable));
    if (agent.harness == HarnessKind::Replay && agent.recording.isEmpty())
        return fail(ErrorCode::Invalid, trAgent("A replay agent needs a recording."));
    if (agent.replaySpeed < 0)
        return fail(ErrorCode::Invalid, trAgent("The replay speed is 0 (without waiting) or more."));
    if (!agent.workspace.isEmpty() && !QDir(agent.workspace).exists())
        return fail(ErrorCode::Invalid, trAgent("The workspace %1 does not exist.").arg(agent.workspace));
    for (auto it = agent.environment.begin(); it != agent.environment.end(); ++it) {
        if (!variable.match(it.key()).hasMatch())
            return fail(ErrorCode::Invalid, trAgent("\"%1\" is no name of an environment variable.").arg(it.key()));
        if (it.key() == agent.keyVariable || it.key() == u"ANTHROPIC_API_KEY" || it.key() == u"ANTHROPIC_AUTH_TOKEN" ||
            it.key() == u"OPENAI_API_KEY" || it.key() == u"CODEX_API_KEY")
            return fail(ErrorCode::Invalid, trAgent("%1 holds a key and is never stored. Set it in the environment that "
                                                    "Signalbox starts in.")
                                                .arg(it.key()));
    }
    if (agent.computer.cpus < 0.1 || agent.computer.cpus > 256)
        return fail(ErrorCode::Invalid, trAgent("The number of processors is from 0.1 to 256, not %1.").arg(agent.computer.cpus));
    if (agent.harness == HarnessKind::Codex && agent.provider == QLatin1String("docker"))
        return fail(ErrorCode::NotSupported, trAgent("Codex runs on this computer only; choose Claude Code for a container."));
    static const QRegularExpression image(QStringLiteral("^[a-z0-9][A-Za-z0-9_.:/@-]*$"));
    if (!agent.computer.image.isEmpty() && !image.match(agent.computer.image).hasMatch())
        return fail(ErrorCode::Invalid, trAgent("\"%1\" is no name of an image. Names look like signalbox-agent:latest.").arg(agent.computer.image));
    for (const Result<void> &checked :
         {inRange(trAgent("The approval time-out (seconds)"), agent.approvalTimeoutSeconds, 5, 7 * 24 * 3600),
          inRange(trAgent("The warm time (seconds)"), agent.warmSeconds, 0, 24 * 3600),
          inRange(trAgent("The memory (MB)"), agent.computer.memoryMb, 128, 1024 * 1024),
          inRange(trAgent("The number of processes"), agent.computer.processes, 16, 1000000),
          inRange(trAgent("The size of /tmp (MB)"), agent.computer.temporaryMb, 16, 1024 * 1024),
          inRange(trAgent("The turn limit"), agent.maxTurns, 0, 10000),
          inRange(trAgent("The number of attempts"), agent.maxAttempts, 1, 10),
          inRange(trAgent("The number of waiting runs"), agent.maxQueued, 1, 10000)}) {
        if (!checked)
            return checked;
    }
    return {};
}

} // namespace engine
