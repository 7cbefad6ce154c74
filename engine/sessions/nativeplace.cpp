#include "engine/sessions/nativeplace.h"

#include "engine/harness/claude/transcript.h"
#include "engine/harness/nativestate.h"

#include <QCoreApplication>
#include <QCoroFuture>
#include <QDir>
#include <QtConcurrentRun>

namespace engine {

namespace {

QString trPlace(const char *text)
{
    return QCoreApplication::translate("engine::NativePlace", text);
}

} // namespace

QString hostConfigFolder(const Agent &agent, const QString &dataFolder)
{
    return agent.configFolder.isEmpty() ? dataFolder + QStringLiteral("/agents/") + agent.id.value : agent.configFolder;
}

HostPlace::HostPlace(ProgramFinder &programs, const Agent &agent, const Session &session, const QString &dataFolder)
    : m_programs(programs), m_agent(agent), m_session(session), m_configFolder(hostConfigFolder(agent, dataFolder))
{
}

QCoro::Task<Result<HarnessProgram>> HostPlace::program()
{
    const Result<HarnessProgram> found = co_await m_programs.find(m_agent.program, m_agent.harness);
    co_return found;
}

QCoro::Task<Result<void>> HostPlace::prepare(bool)
{
    if (!QDir().mkpath(m_configFolder))
        co_return fail(ErrorCode::HarnessFailed, trPlace("The folder %1 for the harness's own state could not be made. Choose "
                                                         "another in the agent's settings.")
                                                     .arg(m_configFolder));
    if (!QDir(m_session.workspace).exists())
        co_return fail(ErrorCode::Invalid, trPlace("The workspace %1 of session %2 does not exist. Create the folder, or open a "
                                                   "session in another one.")
                                               .arg(m_session.workspace, m_session.id.value));
    co_return Result<void>{};
}

QCoro::Task<Result<bool>> HostPlace::holds(NativeIdentity native)
{
    co_return !findConversation(m_agent.harness, m_configFolder, m_session.workspace, native.nativeSessionId).isEmpty();
}

// Transcripts grow to many megabytes, so they are hashed on another thread. The futures are named first: this compiler
// destroys a lambda's captures twice inside a co_await expression.
QCoro::Task<Result<QString>> HostPlace::verify(NativeIdentity native)
{
    const QFuture<Result<QString>> verifying =
        QtConcurrent::run([kind = m_agent.harness, native, config = m_configFolder, workspace = m_session.workspace] {
            return verifyConversation(kind, native, config, workspace);
        });
    const Result<QString> verified = co_await verifying;
    co_return verified;
}

QCoro::Task<Result<NativeIdentity>> HostPlace::snapshot(NativeIdentity native)
{
    const QFuture<Result<NativeIdentity>> hashing =
        QtConcurrent::run([kind = m_agent.harness, id = native.nativeSessionId, config = m_configFolder, workspace = m_session.workspace] {
            return snapshotTranscript(findConversation(kind, config, workspace, id), id);
        });
    const Result<NativeIdentity> now = co_await hashing;
    co_return now;
}

} // namespace engine
