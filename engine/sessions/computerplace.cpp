#include "engine/sessions/computerplace.h"

#include "engine/harness/claude/transcript.h"
#include "engine/workspace/packworkspace.h"
#include "sandbox/docker/policy.h"

#include <QCoreApplication>
#include <QCoroFuture>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTemporaryFile>
#include <QVersionNumber>
#include <QtConcurrentRun>

namespace engine {

namespace {

QString trComputer(const char *text)
{
    return QCoreApplication::translate("engine::ComputerPlace", text);
}

// Laid out as the harness does it, so that the same check serves for the host and for computers.
Result<QString> verifyCopy(const QByteArray &transcript, const NativeIdentity &native, const QString &scratch, const QString &workspace)
{
    const QTemporaryDir folder(scratch + QStringLiteral("/verify-XXXXXX"));
    const QString slug = folder.filePath(QStringLiteral("projects/") + transcriptSlug(workspace));
    QFile file(slug + u'/' + native.nativeSessionId + QStringLiteral(".jsonl"));
    if (!folder.isValid() || !QDir().mkpath(slug) || !file.open(QIODevice::WriteOnly) || file.write(transcript) != transcript.size())
        return fail(ErrorCode::StorageUnavailable, trComputer("The conversation could not be checked: no file can be written in %1.").arg(scratch));
    file.close();
    NativeIdentity copy = native;
    copy.transcriptPath.clear();
    const Result<void> verified = verifyTranscript(copy, folder.path(), workspace);
    if (!verified)
        return tl::unexpected<Error>(verified.error());
    return QString();
}

} // namespace

ComputerPlace::ComputerPlace(sandbox::Provider &provider, const sandbox::Computer &computer, const Agent &agent,
                             const QString &hostWorkspace, const QString &scratchFolder)
    : m_provider(provider), m_computer(computer), m_agent(agent), m_hostWorkspace(hostWorkspace), m_scratchFolder(scratchFolder)
{
}

QString ComputerPlace::configFolder() const
{
    return sandbox::containerpath::home + QStringLiteral("/.claude");
}

QString ComputerPlace::workspace() const
{
    return sandbox::containerpath::workspace;
}

QCoro::Task<Result<HarnessProgram>> ComputerPlace::program()
{
    HarnessProgram program;
    program.version = m_computer.labels.value(QStringLiteral("io.signalbox.claude"));
    program.path = m_agent.program.isEmpty() ? QStringLiteral("/usr/local/bin/claude") : m_agent.program;
    if (program.version.isEmpty() && m_agent.program.isEmpty())
        co_return fail(ErrorCode::ProgramMissing,
                       trComputer("Image %1 holds no Claude Code that Signalbox knows of. Build the agent image under Sandboxes > "
                                  "Images, or name the program's path inside your own image in the agent's settings.")
                           .arg(m_computer.image));
    const QVersionNumber oldest = QVersionNumber::fromString(ProgramFinder::oldestSupported());
    if (!program.version.isEmpty() && QVersionNumber::fromString(program.version) < oldest)
        co_return fail(ErrorCode::ProgramVersion,
                       trComputer("Image %1 holds Claude Code %2; at least %3 is needed. Build the image anew.")
                           .arg(m_computer.image, program.version, ProgramFinder::oldestSupported()));
    co_return program;
}

// A copy, never a mount: what the agent does to it stays in the computer.
QCoro::Task<Result<void>> ComputerPlace::prepare(bool isNew)
{
    if (!isNew || m_hostWorkspace.isEmpty() || QDir(m_hostWorkspace).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot))
        co_return Result<void>{};
    QTemporaryFile tar(m_scratchFolder + QStringLiteral("/workspace-XXXXXX.tar"));
    if (!tar.open())
        co_return fail(ErrorCode::StorageUnavailable, trComputer("The workspace could not be copied: no file can be made in %1 (%2).")
                                                          .arg(m_scratchFolder, tar.errorString()));
    QTemporaryFile *file = &tar;
    const QFuture<Result<int>> packing = QtConcurrent::run([folder = m_hostWorkspace, file] { return packWorkspace(folder, *file); });
    const Result<int> packed = co_await packing;
    if (!packed)
        co_return tl::unexpected<Error>(packed.error());
    tar.seek(0);
    const auto unpacked = co_await m_provider.unpack(m_computer, workspace(), file);
    if (!unpacked)
        co_return fail(ErrorCode::SandboxFailed, trComputer("The workspace %1 was not copied into the computer: %2")
                                                     .arg(m_hostWorkspace, unpacked.error().message));
    co_return Result<void>{};
}

QString ComputerPlace::transcriptOf(const NativeIdentity &native) const
{
    return QStringLiteral("%1/projects/%2/%3.jsonl").arg(configFolder(), transcriptSlug(workspace()), native.nativeSessionId);
}

QCoro::Task<Result<std::optional<QByteArray>>> ComputerPlace::fetch(NativeIdentity native)
{
    const auto file = co_await m_provider.readFile(m_computer, transcriptOf(native));
    if (!file)
        co_return fail(ErrorCode::SandboxFailed,
                       trComputer("The conversation could not be read from the computer: %1").arg(file.error().message));
    co_return *file;
}

QCoro::Task<Result<bool>> ComputerPlace::holds(NativeIdentity native)
{
    const Result<std::optional<QByteArray>> file = co_await fetch(native);
    if (!file)
        co_return tl::unexpected<Error>(file.error());
    co_return file->has_value();
}

QCoro::Task<Result<QString>> ComputerPlace::verify(NativeIdentity native)
{
    const Result<std::optional<QByteArray>> file = co_await fetch(native);
    if (!file)
        co_return tl::unexpected<Error>(file.error());
    if (!file->has_value())
        co_return fail(ErrorCode::NativeResumeFailed,
                       trComputer("The conversation can't be resumed: its transcript %1 is missing in the computer. Restore a "
                                  "checkpoint, or start fresh, which begins a new conversation.")
                           .arg(transcriptOf(native)));
    const QByteArray transcript = **file;
    const QFuture<Result<QString>> verifying =
        QtConcurrent::run([transcript, native, scratch = m_scratchFolder, folder = workspace()] {
            return verifyCopy(transcript, native, scratch, folder);
        });
    const Result<QString> verified = co_await verifying;
    co_return verified;
}

QCoro::Task<Result<NativeIdentity>> ComputerPlace::snapshot(NativeIdentity native)
{
    const Result<std::optional<QByteArray>> file = co_await fetch(native);
    if (!file)
        co_return tl::unexpected<Error>(file.error());
    if (!file->has_value())
        co_return fail(ErrorCode::NativeResumeFailed,
                       trComputer("The transcript %1 is not there yet.").arg(transcriptOf(native)));
    NativeIdentity now = native;
    now.transcriptPath = transcriptOf(native);
    now.transcriptSize = (*file)->size();
    now.transcriptHash = QString::fromLatin1(QCryptographicHash::hash(**file, QCryptographicHash::Sha256).toHex());
    co_return now;
}

} // namespace engine
