#pragma once

#include "engine/sessions/sessionhost.h"
#include "engine/types/computer.h"
#include "sandbox/docker/dockerprovider.h"
#include "sandbox/docker/imagebuilder.h"

namespace engine {

// What Sandboxes asks and does: computers of every provider, leftovers, images. Engine thread.
class SandboxDesk final
{
public:
    SandboxDesk(SessionParts parts, SessionHost &host, sandbox::Provider &hostProvider, sandbox::DockerProvider &docker);
    ~SandboxDesk();

    QCoro::Task<Result<SandboxEngine>> engineState();
    QCoro::Task<Result<QList<Computer>>> computers(bool usage);
    QCoro::Task<Result<QList<Protection>>> checklist(SessionId id);
    QCoro::Task<Result<void>> pause(SessionId id);
    QCoro::Task<Result<void>> resume(SessionId id);
    QCoro::Task<Result<void>> stop(SessionId id);
    QCoro::Task<Result<QList<Leftover>>> leftovers();
    QCoro::Task<Result<void>> remove(Leftover leftover);
    QCoro::Task<Result<QList<AgentImage>>> images();
    // Answers when the build has begun.
    QCoro::Task<Result<void>> build(ImageRequest request);
    void cancelBuild();
    // A deleted session: its process ends, and everything that was made for it goes.
    QCoro::Task<> forget(SessionId id, AgentId agent);

private:
    struct Place
    {
        sandbox::Provider *provider = nullptr;
        sandbox::Computer computer;
        bool isActive = false; // a run is RUNNING or PAUSED in it
    };

    QCoro::Task<Result<Place>> placeOf(SessionId id);
    QCoro::Task<Computer> describe(sandbox::Provider &provider, sandbox::Computer found, bool usage);
    QCoro::Task<Result<QList<sandbox::ImageProgram>>> programsFor(ImageRequest request);
    QCoro::Task<> runBuild(sandbox::ImageRecipe recipe);
    bool isInUse(const SessionId &id, int generation) const;

    SessionParts m_parts;
    SessionHost &m_host;
    sandbox::Provider &m_hostProvider;
    sandbox::DockerProvider &m_docker;
    std::unique_ptr<sandbox::ImageBuilder> m_builder;
};

} // namespace engine
