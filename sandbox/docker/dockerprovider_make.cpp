// How a container comes to be: worker volume, session volume, creation, proof, start.
#include "sandbox/docker/hijackedstream.h"
#include "sandbox/docker/inspected.h"
#include "sandbox/docker/names.h"
#include "sandbox/docker/tarfile.h"

#include <QBuffer>
#include <QCoroFuture>
#include <QCryptographicHash>
#include <QFile>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

constexpr int agentUser = 1000;

tl::unexpected<Error> makeFailure(Failure kind, const QString &message, const QString &detail = {})
{
    return tl::unexpected<Error>(Error{kind, message, detail});
}

QString idOf(const DockerReply &reply)
{
    const json parsed = json::parse(reply.body.begin(), reply.body.end(), nullptr, false);
    return parsed.is_object() ? QString::fromStdString(parsed.value("Id", "")) : QString();
}

QString failedItems(const QList<HardeningItem> &items)
{
    QStringList lines;
    for (const HardeningItem &item : items) {
        if (!item.holds)
            lines.append(QStringLiteral("%1: asked for %2, found %3").arg(item.key, item.wanted, item.found));
    }
    return lines.join(u'\n');
}

QByteArray volumeBody(const QString &name, const QMap<QString, QString> &labels)
{
    json body = {{"Name", name.toStdString()}, {"Driver", "local"}, {"Labels", json::object()}};
    for (auto at = labels.cbegin(); at != labels.cend(); ++at)
        body["Labels"][at.key().toStdString()] = at.value().toStdString();
    return QByteArray::fromStdString(body.dump());
}

} // namespace

// Any image gets the worker through a read-only volume of its own, named after the program's content, so that a
// container keeps the worker it was started with whatever is installed later.
QCoro::Task<Result<void>> DockerProvider::prepareWorkerVolume()
{
    const Result<DockerEngine> answered = co_await engine();
    if (!answered)
        co_return tl::unexpected<Error>(answered.error());
    if (m_workerVolume.isEmpty()) {
        QFile program(m_options.workerProgram);
        if (!program.open(QIODevice::ReadOnly))
            co_return makeFailure(Failure::Refused,
                                  QStringLiteral("Agents cannot be started: the worker program %1 cannot be read (%2). "
                                                 "Install Signalbox again, or build the target signalbox-worker.")
                                      .arg(m_options.workerProgram, program.errorString()));
        QCryptographicHash hash(QCryptographicHash::Sha256);
        hash.addData(&program);
        m_workerDigest = QString::fromLatin1(hash.result().toHex().left(16));
        m_workerVolume = QStringLiteral("signalbox-worker-") + m_workerDigest;
    }
    if (m_workerReady)
        co_return Result<void>{};
    // Twice: an engine that died in the middle of the first fill left a volume that is not whole.
    for (int attempt = 0; attempt < 2 && !m_workerReady; ++attempt) {
        const Result<bool> filled = co_await fillWorkerVolume();
        if (!filled)
            co_return tl::unexpected<Error>(filled.error());
        m_workerReady = *filled;
        if (!m_workerReady)
            co_await ask("DELETE", QStringLiteral("/volumes/%1").arg(m_workerVolume));
    }
    if (!m_workerReady)
        co_return makeFailure(Failure::Refused, QStringLiteral("The worker program could not be put into the volume %1. "
                                                               "Look at it with the engine's own tools, or remove it.")
                                                    .arg(m_workerVolume));
    co_return Result<void>{};
}

// An empty volume that is mounted by a container which is created, and never started, takes over what the image has at
// that place. The image is ours and holds the worker alone. False: what the volume holds is not the worker.
QCoro::Task<Result<bool>> DockerProvider::fillWorkerVolume()
{
    const QString tag = QStringLiteral("signalbox-worker:") + m_workerDigest;
    const Result<DockerReply> known = co_await ask("GET", QStringLiteral("/images/%1/json").arg(tag));
    if (!known)
        co_return tl::unexpected<Error>(known.error());
    if (known->status != 200) {
        QFile program(m_options.workerProgram);
        QBuffer tar;
        tar.open(QIODevice::ReadWrite);
        TarWriter writer(tar);
        writer.addFolder(QStringLiteral("signalbox"), 0755);
        if (program.open(QIODevice::ReadOnly))
            writer.addFile(QStringLiteral("signalbox/signalbox-worker"), program.readAll(), 0755);
        if (!writer.finish())
            co_return makeFailure(Failure::Refused, QStringLiteral("The worker's image was not made: ") + writer.error());
        tar.seek(0);
        DockerRequest import;
        import.method = "POST";
        import.path = QStringLiteral("/images/create");
        import.query.addQueryItem(QStringLiteral("fromSrc"), QStringLiteral("-"));
        import.query.addQueryItem(QStringLiteral("repo"), QStringLiteral("signalbox-worker"));
        import.query.addQueryItem(QStringLiteral("tag"), m_workerDigest);
        import.contentType = "application/x-tar";
        import.body = tar.data();
        const Result<DockerReply> imported = co_await m_client->request(import);
        if (!imported)
            co_return tl::unexpected<Error>(imported.error());
        if (imported->status != 200)
            co_return makeFailure(Failure::Refused,
                                  QStringLiteral("The engine did not take the worker's image: ") + imported->message());
    }
    const QByteArray volume = volumeBody(m_workerVolume, {{containerlabel::install, m_options.installId},
                                                          {containerlabel::purpose, QStringLiteral("worker")}});
    const Result<DockerReply> made = co_await ask("POST", QStringLiteral("/volumes/create"), {}, volume);
    if (!made)
        co_return tl::unexpected<Error>(made.error());
    json filler = {{"Image", tag.toStdString()},
                   {"Cmd", {containerpath::worker.data()}},
                   {"NetworkDisabled", true},
                   {"Labels", {{containerlabel::install.data(), m_options.installId.toStdString()}, {containerlabel::purpose.data(), "filler"}}},
                   {"HostConfig",
                    {{"NetworkMode", "none"},
                     {"Mounts",
                      {{{"Type", "volume"},
                        {"Source", m_workerVolume.toStdString()},
                        {"Target", containerpath::workerFolder.data()}}}}}}};
    const Result<DockerReply> created =
        co_await ask("POST", QStringLiteral("/containers/create"), {}, QByteArray::fromStdString(filler.dump()));
    if (!created)
        co_return tl::unexpected<Error>(created.error());
    if (created->status != 201)
        co_return makeFailure(Failure::Refused,
                              QStringLiteral("The worker's volume was not filled: ") + created->message());
    const QString id = idOf(*created);
    QUrlQuery where;
    where.addQueryItem(QStringLiteral("path"), containerpath::worker);
    const Result<DockerReply> held = co_await ask("HEAD", QStringLiteral("/containers/%1/archive").arg(id), where);
    const Result<void> removed = co_await removeContainer(id);
    if (!held)
        co_return tl::unexpected<Error>(held.error());
    if (!removed)
        co_return tl::unexpected<Error>(removed.error());
    const QByteArray stat = QByteArray::fromBase64(held->headers.value("x-docker-container-path-stat"));
    const json parsed = json::parse(stat.begin(), stat.end(), nullptr, false);
    co_return parsed.is_object() && parsed.value("size", qint64(0)) == QFile(m_options.workerProgram).size();
}

QCoro::Task<Result<void>> DockerProvider::ensureSessionVolume(QString sessionId)
{
    const QString name = sessionVolumeName(sessionId);
    const QByteArray body = volumeBody(name, {{containerlabel::install, m_options.installId},
                                              {containerlabel::session, sessionId},
                                              {containerlabel::purpose, QStringLiteral("session")}});
    const Result<DockerReply> made = co_await ask("POST", QStringLiteral("/volumes/create"), {}, body);
    if (!made)
        co_return tl::unexpected<Error>(made.error());
    if (made->status != 201 && made->status != 200)
        co_return makeFailure(Failure::Refused,
                              QStringLiteral("The volume %1 was not made: %2").arg(name, made->message()));
    // One that was there before keeps its labels: somebody else's volume is not to be written to.
    const json parsed = json::parse(made->body.begin(), made->body.end(), nullptr, false);
    const json::json_pointer owner(std::string("/Labels/") + containerlabel::install.data());
    if (!parsed.is_object() || !parsed.contains(owner) || parsed.at(owner) != m_options.installId.toStdString())
        co_return makeFailure(Failure::Refused,
                              QStringLiteral("The name %1 is taken by a volume that does not belong to this Signalbox. "
                                             "Rename or remove it, then try again; it was not touched.")
                                  .arg(name));
    co_return Result<void>{};
}

QCoro::Task<Result<Computer>> DockerProvider::create(ContainerPlan plan)
{
    const Result<DockerImage> from = co_await image(plan.image);
    if (!from)
        // "Absent" is kept for computers alone.
        co_return makeFailure(from.error().failure == Failure::Absent ? Failure::Refused : from.error().failure,
                              from.error().message, from.error().detail);
    const Result<void> volume = co_await ensureSessionVolume(plan.sessionId);
    if (!volume)
        co_return tl::unexpected<Error>(volume.error());
    QUrlQuery query;
    query.addQueryItem(QStringLiteral("name"), plan.name);
    const Result<DockerReply> created = co_await ask("POST", QStringLiteral("/containers/create"), query, createBody(plan));
    if (!created)
        co_return tl::unexpected<Error>(created.error());
    if (created->status != 201)
        co_return makeFailure(created->status == 409 ? Failure::Busy : Failure::Refused,
                              QStringLiteral("Container %1 was not made: %2").arg(plan.name, created->message()));
    const QString id = idOf(*created);
    const Result<std::optional<Inspected>> made = co_await inspect(id);
    if (!made || !*made) {
        co_await removeContainer(id);
        co_return made ? makeFailure(Failure::Unreachable, QStringLiteral("Container %1 vanished while it was made.").arg(plan.name))
                       : tl::unexpected<Error>(made.error());
    }
    const QList<HardeningItem> items = compareWithInspect(plan, (*made)->body);
    if (!isHard(items)) {
        co_await removeContainer(id);
        co_return makeFailure(Failure::Refused,
                              QStringLiteral("The engine made container %1 less closed off than it was asked to, so it "
                                             "was removed again. Its protections are not what this agent needs: use "
                                             "another engine.")
                                  .arg(plan.name),
                              failedItems(items));
    }
    if (!from->hasLayout) {
        const Result<void> laid = co_await layFolders(id);
        if (!laid) {
            co_await removeContainer(id);
            co_return tl::unexpected<Error>(laid.error());
        }
    }
    const Result<void> started = co_await start(id, plan);
    if (!started) {
        co_await removeContainer(id);
        co_return tl::unexpected<Error>(started.error());
    }
    Computer computer = (*made)->computer;
    computer.state = ComputerState::Running;
    computer.startedAt = QDateTime::currentDateTimeUtc();
    computer.why.clear();
    co_return computer;
}

// An image that is not ours has no folders which the agent owns where the volume is mounted.
QCoro::Task<Result<void>> DockerProvider::layFolders(QString containerId)
{
    QBuffer tar;
    tar.open(QIODevice::ReadWrite);
    TarWriter writer(tar);
    writer.addFolder(QStringLiteral("workspace"), 0755, agentUser);
    writer.addFolder(QStringLiteral("home"), 0700, agentUser);
    writer.addFolder(QStringLiteral("journal"), 0700, agentUser);
    if (!writer.finish())
        co_return makeFailure(Failure::Refused, QStringLiteral("The session's folders were not made: ") + writer.error());
    DockerRequest put;
    put.method = "PUT";
    put.path = QStringLiteral("/containers/%1/archive").arg(containerId);
    put.query.addQueryItem(QStringLiteral("path"), containerpath::session);
    put.contentType = "application/x-tar";
    put.body = tar.data();
    const Result<DockerReply> reply = co_await m_client->request(put);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status != 200)
        co_return makeFailure(Failure::Refused,
                              QStringLiteral("The session's folders were not made in its volume: %1").arg(reply->message()));
    co_return Result<void>{};
}

QCoro::Task<Result<void>> DockerProvider::unpack(Computer computer, QString folder, QIODevice *tar)
{
    const Result<DockerEngine> answered = co_await engine();
    if (!answered)
        co_return tl::unexpected<Error>(answered.error());
    DockerRequest put;
    put.method = "PUT";
    put.path = QStringLiteral("/containers/%1/archive").arg(computer.id);
    put.query.addQueryItem(QStringLiteral("path"), folder);
    put.contentType = "application/x-tar";
    put.upload = tar;
    put.limit = std::chrono::minutes(5);
    const Result<DockerReply> reply = co_await m_client->request(put);
    if (!reply)
        co_return tl::unexpected<Error>(asUnavailable(reply.error()));
    if (reply->status != 200)
        co_return makeFailure(Failure::Refused, QStringLiteral("The files were not put into %1 of container %2: %3")
                                                    .arg(folder, computer.id.left(12), reply->message()));
    co_return Result<void>{};
}

// The stream is attached before the start, so that the worker's first word is not missed and no program has to be run
// beside it to reach it.
QCoro::Task<Result<void>> DockerProvider::start(QString containerId, ContainerPlan plan)
{
    QUrlQuery streams;
    for (const char *name : {"stream", "stdin", "stdout"})
        streams.addQueryItem(QLatin1String(name), QStringLiteral("1"));
    std::unique_ptr<HijackedStream> link =
        m_client->hijack(QStringLiteral("/containers/%1/attach").arg(containerId), streams, {}, plan.name);
    const QFuture<bool> attached = link->openNow(m_options.answerLimit);
    const bool isAttached = co_await attached;
    const Result<DockerReply> reply = co_await ask("POST", QStringLiteral("/containers/%1/start").arg(containerId));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status != 204 && reply->status != 304)
        co_return makeFailure(Failure::Refused,
                              QStringLiteral("Container %1 was not started: %2").arg(plan.name, reply->message()));
    if (isAttached)
        m_fresh[containerId] = std::move(link);
    co_return Result<void>{};
}

} // namespace sandbox
