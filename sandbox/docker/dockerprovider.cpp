#include "sandbox/docker/dockerprovider.h"

#include "sandbox/docker/dockersocket.h"
#include "sandbox/docker/hijackedstream.h"
#include "sandbox/docker/inspected.h"
#include "sandbox/docker/names.h"
#include "sandbox/link/workerchannel.h"

#include <QCoroFuture>
#include <QCryptographicHash>
#include <QFile>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

tl::unexpected<Error> dockerFailure(Failure kind, const QString &message, const QString &detail = {})
{
    return tl::unexpected<Error>(Error{kind, message, detail});
}

} // namespace

// An engine that does not answer says nothing of a container: it may run on.
Error DockerProvider::asUnavailable(Error error)
{
    if (error.failure == Failure::Unreachable)
        error.failure = Failure::Unavailable;
    return error;
}

DockerProvider::DockerProvider(DockerOptions options) : m_options(std::move(options)) {}

DockerProvider::~DockerProvider() = default;

Capabilities DockerProvider::capabilities() const
{
    Capabilities can;
    can.isolation = true;
    can.pause = true;
    can.checkpoint = true;
    can.networkPolicy = true;
    can.exec = true;
    return can;
}

void DockerProvider::setListener(std::function<void()> listener)
{
    m_listener = std::move(listener);
}

// Found and asked anew after every loss, since a daemon may have been replaced by another version.
QCoro::Task<Result<DockerEngine>> DockerProvider::engine()
{
    if (!m_client) {
        const Result<DockerSocket> socket = findDockerSocket(m_options.socket, m_options.environment);
        if (!socket)
            co_return tl::unexpected<Error>(asUnavailable(socket.error()));
        m_client = std::make_unique<DockerClient>(socket->path);
    }
    const Result<DockerEngine> answered = co_await m_client->connect();
    if (!answered) {
        m_engine.reset();
        co_return tl::unexpected<Error>(asUnavailable(answered.error()));
    }
    m_engine = *answered;
    follow();
    co_return answered;
}

void DockerProvider::follow()
{
    if (m_events)
        return;
    m_events = std::make_unique<DockerEvents>(*m_client);
    const auto tell = [this] {
        if (m_listener)
            m_listener();
    };
    QObject::connect(m_events.get(), &DockerEvents::listening, m_events.get(), tell);
    QObject::connect(m_events.get(), &DockerEvents::happened, m_events.get(), tell);
    QObject::connect(m_events.get(), &DockerEvents::lost, m_events.get(), tell);
    m_events->start(QString(containerlabel::install) + u'=' + m_options.installId);
}

// One call of the engine's API; an error is a call that got no answer.
QCoro::Task<Result<DockerReply>> DockerProvider::ask(QByteArray method, QString path, QUrlQuery query, QByteArray body)
{
    const Result<DockerEngine> answered = co_await engine();
    if (!answered)
        co_return tl::unexpected<Error>(answered.error());
    DockerRequest request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.body = body;
    const Result<DockerReply> reply = co_await m_client->request(request);
    if (!reply)
        co_return tl::unexpected<Error>(asUnavailable(reply.error()));
    co_return reply;
}

ContainerPlan DockerProvider::planOf(const ComputerSpec &spec) const
{
    ContainerPlan plan;
    plan.name = containerName(spec.sessionId, spec.generation);
    plan.image = spec.image.isEmpty() ? m_options.defaultImage : spec.image;
    plan.installId = m_options.installId;
    plan.sessionId = spec.sessionId;
    plan.generation = spec.generation;
    plan.sessionVolume = sessionVolumeName(spec.sessionId);
    plan.workerVolume = m_workerVolume;
    plan.gatewayPort = m_options.gatewayPort;
    plan.journalBytes = m_options.journalBytes;
    plan.limits = spec.limits;
    plan.labels = spec.labels;
    plan.isPodman = m_engine && m_engine->name == QLatin1String("Podman");
    plan.labels.insert(containerlabel::plan, planDigest(plan));
    return plan;
}

QCoro::Task<Result<Computer>> DockerProvider::ensure(ComputerSpec spec)
{
    const Result<void> worker = co_await prepareWorkerVolume();
    if (!worker)
        co_return tl::unexpected<Error>(worker.error());
    const Result<void> fenced = co_await fenceOlder(spec.sessionId, spec.generation);
    if (!fenced)
        co_return tl::unexpected<Error>(fenced.error());
    const ContainerPlan plan = planOf(spec);
    const Result<std::optional<Inspected>> found = co_await inspect(plan.name);
    if (!found)
        co_return tl::unexpected<Error>(found.error());
    if (*found) {
        const Result<Computer> revived = co_await revive(**found, plan);
        co_return revived;
    }
    const Result<Computer> created = co_await create(plan);
    co_return created;
}

// A container of that name exists. Ours and alive: it is what was asked for. Ours and dead: made anew. Foreign: hands off.
QCoro::Task<Result<Computer>> DockerProvider::revive(Inspected found, ContainerPlan plan)
{
    const Result<void> ours = found.checkOwner(m_options.installId, plan.sessionId, plan.generation);
    if (!ours)
        co_return tl::unexpected<Error>(ours.error());
    if (found.computer.state == ComputerState::Running)
        co_return found.computer;
    if (found.computer.state == ComputerState::Paused) {
        const Result<void> resumed = co_await resume(found.computer);
        if (!resumed)
            co_return tl::unexpected<Error>(resumed.error());
        found.computer.state = ComputerState::Running;
        co_return found.computer;
    }
    const Result<void> removed = co_await removeContainer(found.computer.id);
    if (!removed)
        co_return tl::unexpected<Error>(removed.error());
    const Result<Computer> created = co_await create(plan);
    co_return created;
}

// One session, one living generation: two harnesses must never work on the same conversation.
QCoro::Task<Result<void>> DockerProvider::fenceOlder(QString sessionId, int generation)
{
    const Result<QList<Computer>> known = co_await list();
    if (!known)
        co_return tl::unexpected<Error>(known.error());
    for (const Computer &computer : *known) {
        if (computer.sessionId != sessionId || computer.generation == generation)
            continue;
        if (computer.generation > generation)
            co_return dockerFailure(Failure::Stale,
                                    QStringLiteral("Generation %1 of session %2 was asked for, but generation %3 "
                                                   "exists: another console has moved the session on. Reload it.")
                                        .arg(generation)
                                        .arg(sessionId)
                                        .arg(computer.generation));
        const Result<void> ended = co_await removeContainer(computer.id);
        if (!ended)
            co_return ended;
    }
    co_return Result<void>{};
}

// The first channel runs over the stream that was attached before the start; every later one through a relay program
// that is run beside the worker.
QCoro::Task<Result<std::unique_ptr<Channel>>> DockerProvider::open(Computer computer, quint64 epoch, Offsets received)
{
    const auto fresh = m_fresh.find(computer.id);
    if (fresh != m_fresh.end()) {
        std::unique_ptr<ByteLink> link = std::move(fresh->second);
        m_fresh.erase(fresh);
        auto first = std::make_unique<WorkerChannel>(std::move(link));
        const QFuture<Result<void>> greeted =
            first->attach(computer.sessionId, computer.generation, epoch, received, m_options.answerLimit);
        const Result<void> welcomed = co_await greeted;
        if (welcomed)
            co_return std::unique_ptr<Channel>(std::move(first));
        if (welcomed.error().failure == Failure::Stale)
            co_return tl::unexpected<Error>(welcomed.error());
        // The worker gave the stream up after some seconds without a word; it still listens.
    }
    Result<std::unique_ptr<ByteLink>> relay = co_await openRelay(computer);
    if (!relay)
        co_return tl::unexpected<Error>(relay.error());
    auto channel = std::make_unique<WorkerChannel>(std::move(*relay));
    const QFuture<Result<void>> attached =
        channel->attach(computer.sessionId, computer.generation, epoch, received, m_options.answerLimit);
    const Result<void> result = co_await attached;
    if (result)
        co_return std::unique_ptr<Channel>(std::move(channel));
    const Error why = result.error();
    if (why.failure == Failure::Unreachable) {
        // A stream that ended may be the engine's end as well as the worker's.
        const Result<DockerEngine> answered = co_await engine();
        if (!answered)
            co_return tl::unexpected<Error>(answered.error());
    }
    co_return tl::unexpected<Error>(why);
}

QCoro::Task<Result<std::unique_ptr<ByteLink>>> DockerProvider::openRelay(Computer computer)
{
    const QByteArray command = QByteArray::fromStdString(
        json{{"AttachStdin", true},
             {"AttachStdout", true},
             {"AttachStderr", true},
             {"Tty", false},
             {"User", "0:0"},
             {"Cmd", {containerpath::worker.data(), "attach", containerpath::workerSocket.data()}}}
            .dump());
    const QString path = QStringLiteral("/containers/%1/exec").arg(computer.id);
    const Result<DockerReply> made = co_await ask("POST", path, {}, command);
    if (!made)
        co_return tl::unexpected<Error>(made.error());
    if (made->status == 404)
        co_return dockerFailure(Failure::Absent, QStringLiteral("The container %1 is gone, and its harness with it. Start "
                                                                "the session's process again.")
                                                     .arg(computer.id.left(12)));
    if (made->status != 201)
        co_return dockerFailure(Failure::Unreachable, QStringLiteral("The worker in container %1 cannot be reached: %2")
                                                          .arg(computer.id.left(12), made->message()));
    const json exec = json::parse(made->body.begin(), made->body.end(), nullptr, false);
    const QString id = exec.is_object() ? QString::fromStdString(exec.value("Id", "")) : QString();
    co_return std::unique_ptr<ByteLink>(m_client->hijack(QStringLiteral("/exec/%1/start").arg(id), {},
                                                         R"({"Detach":false,"Tty":false})",
                                                         containerName(computer.sessionId, computer.generation)));
}

QCoro::Task<Result<void>> DockerProvider::pause(Computer computer)
{
    const Result<DockerReply> reply = co_await ask("POST", QStringLiteral("/containers/%1/pause").arg(computer.id));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status == 204)
        co_return Result<void>{};
    // "Conflict" may also mean that it is paused already: only its state tells.
    const Result<std::optional<Inspected>> now = co_await inspect(computer.id);
    if (now && *now && (*now)->computer.state == ComputerState::Paused)
        co_return Result<void>{};
    co_return dockerFailure(reply->status == 404 ? Failure::Absent : Failure::Busy,
                            QStringLiteral("Container %1 was not paused: %2").arg(computer.id.left(12), reply->message()));
}

QCoro::Task<Result<void>> DockerProvider::resume(Computer computer)
{
    const Result<DockerReply> reply = co_await ask("POST", QStringLiteral("/containers/%1/unpause").arg(computer.id));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status == 204)
        co_return Result<void>{};
    const Result<std::optional<Inspected>> now = co_await inspect(computer.id);
    if (now && *now && (*now)->computer.state == ComputerState::Running)
        co_return Result<void>{};
    co_return dockerFailure(reply->status == 404 ? Failure::Absent : Failure::Busy,
                            QStringLiteral("Container %1 was not resumed: %2").arg(computer.id.left(12), reply->message()));
}

QCoro::Task<Result<void>> DockerProvider::destroy(Computer computer)
{
    const QString name = containerName(computer.sessionId, computer.generation);
    const Result<std::optional<Inspected>> found = co_await inspect(name);
    if (!found)
        co_return tl::unexpected<Error>(found.error());
    if (!*found)
        co_return Result<void>{};
    const Result<void> ours = (*found)->checkOwner(m_options.installId, computer.sessionId, computer.generation);
    if (!ours)
        co_return ours;
    const Result<void> removed = co_await removeContainer((*found)->computer.id);
    co_return removed;
}

QCoro::Task<Result<void>> DockerProvider::removeContainer(QString id)
{
    m_fresh.erase(id);
    QUrlQuery query;
    query.addQueryItem(QStringLiteral("force"), QStringLiteral("1"));
    query.addQueryItem(QStringLiteral("v"), QStringLiteral("1"));
    const Result<DockerReply> reply = co_await ask("DELETE", QStringLiteral("/containers/%1").arg(id), query);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    // 409: another removal of it is under way.
    if (reply->status == 204 || reply->status == 404 || reply->status == 409)
        co_return Result<void>{};
    co_return dockerFailure(Failure::Busy,
                            QStringLiteral("Container %1 was not removed: %2").arg(id.left(12), reply->message()));
}

QCoro::Task<Result<void>> DockerProvider::forget(QString sessionId)
{
    const Result<QList<Computer>> known = co_await list();
    if (!known)
        co_return tl::unexpected<Error>(known.error());
    for (const Computer &computer : *known) {
        if (computer.sessionId != sessionId)
            continue;
        const Result<void> ended = co_await removeContainer(computer.id);
        if (!ended)
            co_return ended;
    }
    const QString volume = sessionVolumeName(sessionId);
    const Result<DockerReply> reply = co_await ask("DELETE", QStringLiteral("/volumes/%1").arg(volume));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status == 204 || reply->status == 404)
        co_return Result<void>{};
    co_return dockerFailure(Failure::Busy, QStringLiteral("The volume %1 of session %2 was not removed: %3")
                                               .arg(volume, sessionId, reply->message()));
}

} // namespace sandbox
