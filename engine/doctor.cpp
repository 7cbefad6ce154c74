#include "engine/doctor.h"

#include "engine/engineparts.h"

#include <QCoroTask>
#include <QFileInfo>
#include <QStorageInfo>

namespace engine {
namespace {

constexpr qint64 lowSpaceBytes = qint64(500) * 1024 * 1024;

QString trDoctor(const char *text)
{
    return QCoreApplication::translate("engine::Doctor", text);
}

Finding storeFinding(EngineParts &parts, const EngineOptions &options)
{
    Finding finding{Finding::Level::Ok, trDoctor("Store"),
                    trDoctor("%1, schema %2, %3")
                        .arg(parts.database->kind())
                        .arg(parts.database->schemaVersion())
                        .arg(parts.database->path()),
                    {}};
    const QStorageInfo volume(options.dataFolder);
    if (volume.bytesAvailable() >= 0 && volume.bytesAvailable() < lowSpaceBytes) {
        finding.level = Finding::Level::Warning;
        finding.text += trDoctor("; only %1 MB free").arg(volume.bytesAvailable() / (1024 * 1024));
        finding.remedy = trDoctor("Free space on the volume of the data folder.");
    }
    return finding;
}

Finding workerFinding(const EngineOptions &options)
{
    const QFileInfo worker(options.workerProgram);
    if (worker.isExecutable())
        return {Finding::Level::Ok, trDoctor("Worker"), worker.absoluteFilePath(), {}};
    return {Finding::Level::Error, trDoctor("Worker"),
            trDoctor("The program signalbox-worker was not found at %1; no session can start.").arg(options.workerProgram),
            trDoctor("Install Signalbox again: the worker belongs beside the signalbox program.")};
}

Finding keyFinding(const Agent &agent, const EngineOptions &options)
{
    const QString subject = trDoctor("Key of %1").arg(agent.name);
    if (!options.environment.value(agent.keyVariable).isEmpty())
        return {Finding::Level::Ok, subject, trDoctor("%1 is set").arg(agent.keyVariable), {}};
    return {Finding::Level::Warning, subject, trDoctor("The environment variable %1 is not set").arg(agent.keyVariable),
            trDoctor("Set %1 in the environment and start Signalbox again.").arg(agent.keyVariable)};
}

} // namespace

QCoro::Task<Result<QList<Finding>>> examine(EngineParts &parts, const EngineOptions &options)
{
    const RunningTask task(parts.tasks);
    QList<Finding> findings{storeFinding(parts, options), workerFinding(options)};
    const Result<QList<Agent>> agents = parts.stores.agents.list(false);
    if (!agents)
        co_return tl::unexpected<Error>(agents.error());
    QStringList seenPrograms;
    QStringList seenKeys;
    for (const Agent &agent : *agents) {
        if (agent.harness == HarnessKind::Replay)
            continue;
        const QString product = agent.harness == HarnessKind::Codex ? trDoctor("Codex") : trDoctor("Claude Code");
        if (!seenPrograms.contains(product + agent.program)) {
            seenPrograms.append(product + agent.program);
            const Result<HarnessProgram> program = co_await parts.programs.find(agent.program, agent.harness);
            if (program)
                findings.append({program->warning.isEmpty() ? Finding::Level::Ok : Finding::Level::Warning,
                                 product, trDoctor("%1 at %2").arg(program->version, program->path),
                                 program->warning});
            else
                findings.append({Finding::Level::Error, product, program.error().message, {}});
        }
        if (!seenKeys.contains(agent.keyVariable)) {
            seenKeys.append(agent.keyVariable);
            findings.append(keyFinding(agent, options));
        }
    }
    findings.append({Finding::Level::Warning, trDoctor("Isolation"),
                     trDoctor("Agents of provider \"host\" run as you, on this computer, without isolation."),
                     trDoctor("Use them in folders whose loss you can bear, and keep the gate on.")});
    co_return findings;
}

} // namespace engine
