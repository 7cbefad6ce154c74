#pragma once

#include "engine/harness/programfinder.h"
#include "engine/types/agent.h"
#include "engine/types/session.h"

#include <QCoroTask>
#include <memory>

namespace engine {

// Where a session's harness finds its program and keeps its conversation, as the harness itself names these places.
// Engine thread; a place outlives its tasks.
class NativePlace
{
public:
    virtual ~NativePlace() = default;
    virtual QString configFolder() const = 0;
    virtual QString workspace() const = 0;
    // Missing, or of a version that cannot be driven: an error with the way out.
    virtual QCoro::Task<Result<HarnessProgram>> program() = 0;
    // What the harness needs and is not there: folders; of a new computer the copied workspace.
    virtual QCoro::Task<Result<void>> prepare(bool isNew) = 0;
    // A conversation of that id exists, whatever its state.
    virtual QCoro::Task<Result<bool>> holds(NativeIdentity native) = 0;
    // Before a resume: what was recorded must still be there, unchanged. NativeResumeFailed says what is not.
    // Answers the id of the newest turn; empty where the harness has none.
    virtual QCoro::Task<Result<QString>> verify(NativeIdentity native) = 0;
    // Size and hash as they are now.
    virtual QCoro::Task<Result<NativeIdentity>> snapshot(NativeIdentity native) = 0;
};

// The harness's own folder of an agent on this host.
QString hostConfigFolder(const Agent &agent, const QString &dataFolder);

// On this host, where the console itself sees the same files.
class HostPlace final : public NativePlace
{
public:
    HostPlace(ProgramFinder &programs, const Agent &agent, const Session &session, const QString &dataFolder);

    QString configFolder() const override { return m_configFolder; }
    QString workspace() const override { return m_session.workspace; }
    QCoro::Task<Result<HarnessProgram>> program() override;
    QCoro::Task<Result<void>> prepare(bool isNew) override;
    QCoro::Task<Result<bool>> holds(NativeIdentity native) override;
    QCoro::Task<Result<QString>> verify(NativeIdentity native) override;
    QCoro::Task<Result<NativeIdentity>> snapshot(NativeIdentity native) override;

private:
    ProgramFinder &m_programs;
    Agent m_agent;
    Session m_session;
    QString m_configFolder;
};

} // namespace engine
