#include "engine/sandboxes/sandboxdesk.h"

#include <QCoreApplication>

namespace engine {

namespace {

QString trDesk(const char *text)
{
    return QCoreApplication::translate("engine::SandboxDesk", text);
}

Error deskError(const sandbox::Error &error)
{
    switch (error.failure) {
    case sandbox::Failure::NotSupported:
        return {ErrorCode::NotSupported, error.message, error.detail};
    case sandbox::Failure::Unreachable:
        return {ErrorCode::WorkerUnreachable, error.message, error.detail};
    case sandbox::Failure::Unavailable:
        return {ErrorCode::SandboxUnavailable, error.message, error.detail};
    case sandbox::Failure::Absent:
        return {ErrorCode::NotFound, error.message, error.detail};
    case sandbox::Failure::Busy:
        return {ErrorCode::Conflict, error.message, error.detail};
    case sandbox::Failure::Stale:
        return {ErrorCode::Stale, error.message, error.detail};
    case sandbox::Failure::Refused:
    case sandbox::Failure::Protocol:
    case sandbox::Failure::LaunchFailed:
        break;
    }
    return {ErrorCode::SandboxFailed, error.message, error.detail};
}

ComputerState stateOf(sandbox::ComputerState state)
{
    switch (state) {
    case sandbox::ComputerState::Running:
        return ComputerState::Running;
    case sandbox::ComputerState::Paused:
        return ComputerState::Paused;
    case sandbox::ComputerState::Stopped:
    case sandbox::ComputerState::Absent:
        break;
    }
    return ComputerState::Stopped;
}

AgentImage toAgentImage(const sandbox::DockerImage &image, const QList<Agent> &agents, const QString &defaultImage)
{
    AgentImage row;
    row.id = image.id;
    row.tag = image.tags.value(0);
    row.claudeVersion = image.claudeVersion;
    row.codexVersion = image.codexVersion;
    row.prepared = image.hasLayout;
    row.bytes = image.bytes;
    row.createdAt = image.createdAt;
    for (const Agent &agent : agents) {
        const QString wanted = agent.computer.image.isEmpty() ? defaultImage : agent.computer.image;
        if (agent.provider == QLatin1String("docker") && !agent.archived && image.tags.contains(wanted))
            row.usedBy.append(agent.name);
    }
    return row;
}

} // namespace

SandboxDesk::SandboxDesk(SessionParts parts, SessionHost &host, sandbox::Provider &hostProvider, sandbox::DockerProvider &docker)
    : m_parts(std::move(parts)), m_host(host), m_hostProvider(hostProvider), m_docker(docker)
{
}

SandboxDesk::~SandboxDesk() = default;

QCoro::Task<Result<SandboxEngine>> SandboxDesk::engineState()
{
    const RunningTask task(m_parts.tasks);
    const auto engine = co_await m_docker.engine();
    SandboxEngine state;
    state.available = engine.has_value();
    if (m_docker.client())
        state.socket = m_docker.client()->socketPath();
    if (!engine) {
        state.problem = engine.error().message;
        co_return state;
    }
    state.name = engine->name + u' ' + engine->version;
    state.apiVersion = engine->apiVersion;
    state.liveRestore = engine->liveRestore;
    state.rootless = engine->rootless;
    co_return state;
}

QCoro::Task<Computer> SandboxDesk::describe(sandbox::Provider &provider, sandbox::Computer found, bool usage)
{
    Computer row;
    row.sessionId = {found.sessionId};
    row.provider = provider.name();
    row.isolated = provider.capabilities().isolation;
    row.canPause = provider.capabilities().pause;
    row.id = found.id;
    row.name = QStringLiteral("signalbox-%1-%2").arg(found.sessionId).arg(found.generation);
    row.image = found.image;
    row.generation = found.generation;
    row.state = stateOf(found.state);
    row.why = found.why;
    row.startedAt = found.startedAt;
    if (const Result<Session> session = m_parts.stores.sessions.get(row.sessionId); session) {
        row.sessionTitle = session->title;
        row.agentName = session->agentName;
        row.inTurn = !session->activeRun.isEmpty();
        const Result<Agent> agent = m_parts.stores.agents.get(session->agentId);
        const LiveSession *live = m_host.find(row.sessionId);
        if (agent && live && live->state() == LiveSession::State::Ready && !row.inTurn)
            row.warmUntil = live->idleSince().addSecs(agent->warmSeconds);
    }
    if (usage && row.isolated && found.state == sandbox::ComputerState::Running) {
        const auto used = co_await m_docker.usage(found);
        if (used) {
            row.cpuPercent = used->cpuPercent;
            row.memoryBytes = used->memoryBytes;
            row.memoryLimit = used->memoryLimit;
            row.processes = used->processes;
        }
    }
    co_return row;
}

// A container engine that does not answer hides none of the host's computers; why it does not is told by engineState().
QCoro::Task<Result<QList<Computer>>> SandboxDesk::computers(bool usage)
{
    const RunningTask task(m_parts.tasks);
    QList<Computer> rows;
    for (sandbox::Provider *provider : {static_cast<sandbox::Provider *>(&m_docker), &m_hostProvider}) {
        const auto listed = co_await provider->list();
        if (!listed)
            continue;
        for (const sandbox::Computer &found : *listed) {
            const Computer row = co_await describe(*provider, found, usage);
            rows.append(row);
        }
    }
    co_return rows;
}

QCoro::Task<Result<SandboxDesk::Place>> SandboxDesk::placeOf(SessionId id)
{
    const Result<Session> session = m_parts.stores.sessions.get(id);
    if (!session)
        co_return tl::unexpected<Error>(session.error());
    const Result<Agent> agent = m_parts.stores.agents.get(session->agentId);
    if (!agent)
        co_return tl::unexpected<Error>(agent.error());
    Place place;
    place.provider = m_parts.providerFor(*agent);
    place.isActive = !session->activeRun.isEmpty();
    if (!place.provider)
        co_return fail(ErrorCode::NotSupported, trDesk("Agent %1 asks for sandbox provider \"%2\", which this build does not have.")
                                                    .arg(agent->name, agent->provider));
    const auto stored = m_parts.stores.sessions.channelState(id);
    const int generation = stored && *stored ? qMax((*stored)->generation, session->generation) : session->generation;
    const auto found = co_await place.provider->find(id.value, generation);
    if (!found)
        co_return tl::unexpected<Error>(deskError(found.error()));
    if (!*found)
        co_return fail(ErrorCode::NotFound, trDesk("Session %1 has no computer now; its next prompt makes one.").arg(id.value));
    place.computer = **found;
    co_return place;
}

QCoro::Task<Result<QList<Protection>>> SandboxDesk::checklist(SessionId id)
{
    const RunningTask task(m_parts.tasks);
    const Result<Place> place = co_await placeOf(id);
    if (!place)
        co_return tl::unexpected<Error>(place.error());
    const auto items = co_await place->provider->checklist(place->computer);
    if (!items)
        co_return tl::unexpected<Error>(deskError(items.error()));
    QList<Protection> rows;
    for (const sandbox::HardeningItem &item : *items)
        rows.append({item.key, item.title, item.wanted, item.found, item.holds});
    co_return rows;
}

QCoro::Task<Result<void>> SandboxDesk::pause(SessionId id)
{
    const RunningTask task(m_parts.tasks);
    const Result<Place> place = co_await placeOf(id);
    if (!place)
        co_return tl::unexpected<Error>(place.error());
    const auto paused = co_await place->provider->pause(place->computer);
    if (!paused)
        co_return tl::unexpected<Error>(deskError(paused.error()));
    if (LiveSession *live = m_host.find(id))
        live->computerWasPaused(true);
    m_parts.feed.noteComputers();
    co_return Result<void>{};
}

QCoro::Task<Result<void>> SandboxDesk::resume(SessionId id)
{
    const RunningTask task(m_parts.tasks);
    const Result<Place> place = co_await placeOf(id);
    if (!place)
        co_return tl::unexpected<Error>(place.error());
    const auto resumed = co_await place->provider->resume(place->computer);
    if (!resumed)
        co_return tl::unexpected<Error>(deskError(resumed.error()));
    if (LiveSession *live = m_host.find(id))
        live->computerWasPaused(false);
    m_parts.feed.noteComputers();
    co_return Result<void>{};
}

QCoro::Task<Result<void>> SandboxDesk::stop(SessionId id)
{
    const RunningTask task(m_parts.tasks);
    const Result<Place> place = co_await placeOf(id);
    if (!place)
        co_return tl::unexpected<Error>(place.error());
    if (place->isActive)
        co_return fail(ErrorCode::Conflict, trDesk("A run is active in session %1. Cancel it first, then stop its computer.").arg(id.value));
    LiveSession *live = m_host.find(id);
    if (live && live->state() != LiveSession::State::Closed)
        co_await live->end();
    // One that no session of this console holds (it is paused, or its worker is gone).
    const auto destroyed = co_await place->provider->destroy(place->computer);
    if (!destroyed)
        co_return tl::unexpected<Error>(deskError(destroyed.error()));
    m_parts.feed.noteComputers();
    co_return Result<void>{};
}

QCoro::Task<> SandboxDesk::forget(SessionId id, AgentId agentId)
{
    const RunningTask task(m_parts.tasks);
    co_await m_host.forget(id);
    const Result<Agent> agent = m_parts.stores.agents.get(agentId);
    sandbox::Provider *provider = agent ? m_parts.providerFor(*agent) : nullptr;
    if (!provider)
        co_return;
    const auto forgotten = co_await provider->forget(id.value);
    if (!forgotten)
        m_parts.feed.noteNotice({Notice::Level::Warning, trDesk("Something of the deleted session %1 is left. Look at Sandboxes > Leftovers.").arg(id.value),
                                 forgotten.error().message, {}});
    m_parts.feed.noteComputers();
}

bool SandboxDesk::isInUse(const SessionId &id, int generation) const
{
    const Result<Session> session = m_parts.stores.sessions.get(id);
    if (!session)
        return false;
    const auto stored = m_parts.stores.sessions.channelState(id);
    const int present = stored && *stored ? qMax((*stored)->generation, session->generation) : session->generation;
    return generation == 0 || generation == present; // 0: a volume, which serves every generation
}

QCoro::Task<Result<QList<Leftover>>> SandboxDesk::leftovers()
{
    const RunningTask task(m_parts.tasks);
    QList<Leftover> rows;
    const auto workers = co_await m_hostProvider.list();
    if (!workers)
        co_return tl::unexpected<Error>(deskError(workers.error()));
    for (const sandbox::Computer &worker : *workers) {
        Leftover row;
        row.kind = Leftover::Kind::Worker;
        row.id = row.name = worker.id;
        row.sessionId = {worker.sessionId};
        row.generation = worker.generation;
        row.state = worker.state == sandbox::ComputerState::Running ? trDesk("running") : trDesk("ended");
        row.madeAt = worker.startedAt;
        rows.append(row);
    }
    // Without a container engine there is nothing of ours that it could tell of.
    const auto found = co_await m_docker.leftovers();
    for (const sandbox::Leftover &one : found.value_or(QList<sandbox::Leftover>{})) {
        Leftover row;
        row.kind = one.kind == sandbox::Leftover::Kind::Volume ? Leftover::Kind::Volume : Leftover::Kind::Container;
        row.id = one.id;
        row.name = one.name;
        row.sessionId = {one.sessionId};
        row.generation = one.generation;
        row.state = one.state;
        row.madeAt = one.madeAt;
        row.bytes = one.bytes;
        rows.append(row);
    }
    for (Leftover &row : rows) {
        const Result<Session> session = m_parts.stores.sessions.get(row.sessionId);
        row.sessionTitle = session ? session->title : QString();
        row.inUse = row.sessionId.isEmpty() ? m_docker.isWorkerVolume(row.name) : isInUse(row.sessionId, row.generation);
    }
    co_return rows;
}

QCoro::Task<Result<void>> SandboxDesk::remove(Leftover leftover)
{
    const RunningTask task(m_parts.tasks);
    const bool used = leftover.sessionId.isEmpty() ? m_docker.isWorkerVolume(leftover.name)
                                                   : isInUse(leftover.sessionId, leftover.generation);
    if (used)
        co_return fail(ErrorCode::Conflict,
                       trDesk("%1 is in use. Stop the session's computer, or delete the session, and it goes with it.").arg(leftover.name));
    sandbox::Result<void> removed;
    if (leftover.kind == Leftover::Kind::Worker) {
        sandbox::Computer worker;
        worker.id = leftover.id;
        worker.sessionId = leftover.sessionId.value;
        worker.generation = leftover.generation;
        removed = co_await m_hostProvider.destroy(worker);
    } else {
        sandbox::Leftover one;
        one.kind = leftover.kind == Leftover::Kind::Volume ? sandbox::Leftover::Kind::Volume : sandbox::Leftover::Kind::Container;
        one.id = leftover.id;
        one.name = leftover.name;
        removed = co_await m_docker.remove(one);
    }
    if (!removed)
        co_return tl::unexpected<Error>(deskError(removed.error()));
    m_parts.feed.noteComputers();
    co_return Result<void>{};
}

QCoro::Task<Result<QList<AgentImage>>> SandboxDesk::images()
{
    const RunningTask task(m_parts.tasks);
    const Result<QList<Agent>> agents = m_parts.stores.agents.list(false);
    if (!agents)
        co_return tl::unexpected<Error>(agents.error());
    const auto prepared = co_await m_docker.preparedImages();
    if (!prepared)
        co_return tl::unexpected<Error>(deskError(prepared.error()));
    QList<AgentImage> rows;
    QStringList seen;
    for (const sandbox::DockerImage &image : *prepared) {
        rows.append(toAgentImage(image, *agents, m_docker.defaultImage()));
        seen += image.tags;
    }
    for (const Agent &agent : *agents) {
        if (agent.computer.image.isEmpty() || seen.contains(agent.computer.image))
            continue;
        seen.append(agent.computer.image);
        const auto own = co_await m_docker.image(agent.computer.image);
        if (own)
            rows.append(toAgentImage(*own, *agents, m_docker.defaultImage()));
    }
    co_return rows;
}

QCoro::Task<Result<QList<sandbox::ImageProgram>>> SandboxDesk::programsFor(ImageRequest request)
{
    QList<sandbox::ImageProgram> programs;
    if (request.withClaude) {
        const Result<HarnessProgram> claude = co_await m_parts.programs.find(QString());
        if (!claude)
            co_return tl::unexpected<Error>(claude.error());
        programs.append({QStringLiteral("claude"), claude->path, claude->version});
    }
    if (programs.isEmpty())
        co_return fail(ErrorCode::Invalid, trDesk("Choose at least one program that the image is to hold."));
    co_return programs;
}

QCoro::Task<Result<void>> SandboxDesk::build(ImageRequest request)
{
    const RunningTask task(m_parts.tasks);
    if (m_builder)
        co_return fail(ErrorCode::Conflict, trDesk("An image is being built already. Wait for its end, or cancel it."));
    const auto engine = co_await m_docker.engine();
    if (!engine)
        co_return tl::unexpected<Error>(deskError(engine.error()));
    const Result<QList<sandbox::ImageProgram>> programs = co_await programsFor(request);
    if (!programs)
        co_return tl::unexpected<Error>(programs.error());
    if (m_builder)
        co_return fail(ErrorCode::Conflict, trDesk("An image is being built already. Wait for its end, or cancel it."));
    sandbox::ImageRecipe recipe;
    recipe.tag = request.tag;
    recipe.base = request.base;
    recipe.baseArchive = request.baseArchive;
    recipe.network = request.baseArchive.isEmpty();
    recipe.programs = *programs;
    m_builder = std::make_unique<sandbox::ImageBuilder>(*m_docker.client(), m_parts.options.dataFolder);
    runBuild(recipe);
    co_return Result<void>{};
}

QCoro::Task<> SandboxDesk::runBuild(sandbox::ImageRecipe recipe)
{
    const RunningTask task(m_parts.tasks);
    const auto tell = [this](const sandbox::ImageProgress &progress) {
        ImageProgress step;
        step.step = progress.step;
        step.output = progress.output;
        m_parts.feed.noteImageProgress(step);
    };
    const sandbox::ImageBuilder::OnProgress onProgress = tell;
    const auto built = co_await m_builder->build(recipe, onProgress);
    m_builder.reset();
    ImageProgress end;
    end.finished = true;
    end.failed = !built;
    end.step = built ? trDesk("Image %1 was built").arg(recipe.tag) : trDesk("Image %1 was not built").arg(recipe.tag);
    end.message = built ? *built : built.error().message;
    end.output = built ? QString() : built.error().detail;
    m_parts.feed.noteImageProgress(end);
    m_parts.feed.noteComputers();
}

void SandboxDesk::cancelBuild()
{
    if (m_builder)
        m_builder->cancel();
}

} // namespace engine
