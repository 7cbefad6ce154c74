// What is there: containers, volumes, images, and how closed off they are.
#include "sandbox/docker/hijackedstream.h"
#include "sandbox/docker/inspected.h"
#include "sandbox/docker/names.h"
#include "sandbox/docker/tarfile.h"

#include <QCoroSignal>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

QString textAt(const json &object, const char *key)
{
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? QString::fromStdString(at->get<std::string>()) : QString();
}

QMap<QString, QString> labelsOf(const json &object)
{
    QMap<QString, QString> labels;
    const auto at = object.find("Labels");
    if (at == object.end() || !at->is_object())
        return labels;
    for (const auto &[key, value] : at->items())
        labels.insert(QString::fromStdString(key), value.is_string() ? QString::fromStdString(value.get<std::string>()) : QString());
    return labels;
}

ComputerState stateOf(const QString &word)
{
    if (word == QLatin1String("running"))
        return ComputerState::Running;
    if (word == QLatin1String("paused"))
        return ComputerState::Paused;
    return ComputerState::Stopped; // created, exited, dead, removing, restarting: no worker to talk to
}

// Why a stopped one stopped. OOMKilled alone may speak of a child, so it is only told together with a kill.
QString endOf(const json &state)
{
    const int code = state.value("ExitCode", 0);
    const QString error = textAt(state, "Error");
    if (!error.isEmpty())
        return error;
    if (state.value("OOMKilled", false) && code == 137)
        return QStringLiteral("it ran out of memory and was killed");
    if (textAt(state, "Status") == QLatin1String("created"))
        return QStringLiteral("it was never started");
    if (code == 137)
        return QStringLiteral("it was killed");
    return QStringLiteral("its worker ended with exit code %1").arg(code);
}

QUrlQuery filtered(const json &filters)
{
    QUrlQuery query;
    query.addQueryItem(QStringLiteral("filters"),
                       QString::fromUtf8(QUrl::toPercentEncoding(QString::fromStdString(filters.dump()))));
    return query;
}

json parseBody(const QByteArray &body)
{
    return json::parse(body.begin(), body.end(), nullptr, false);
}

tl::unexpected<Error> unreadable(const char *what)
{
    return tl::unexpected<Error>(Error{
        Failure::Protocol, QStringLiteral("The engine's description of %1 cannot be read.").arg(QLatin1String(what)), {}});
}

DockerImage toImage(const json &parsed)
{
    DockerImage image;
    image.id = textAt(parsed, "Id");
    for (const json &tag : parsed.value("RepoTags", json::array()))
        image.tags.append(QString::fromStdString(tag.get<std::string>()));
    image.bytes = parsed.value("Size", qint64(0));
    image.createdAt = QDateTime::fromString(textAt(parsed, "Created"), Qt::ISODateWithMs);
    const auto config = parsed.find("Config");
    const QMap<QString, QString> labels = config != parsed.end() && config->is_object() ? labelsOf(*config) : labelsOf(parsed);
    image.claudeVersion = labels.value(QStringLiteral("io.signalbox.claude"));
    image.codexVersion = labels.value(QStringLiteral("io.signalbox.codex"));
    image.hasLayout = labels.value(QStringLiteral("io.signalbox.layout")) == QLatin1String("1");
    return image;
}

double cpuPercentOf(const json &stats)
{
    const auto used = [&stats](const char *when, const char *pointer) {
        const json::json_pointer path(std::string("/") + when + pointer);
        return stats.contains(path) && stats.at(path).is_number() ? stats.at(path).get<double>() : 0.0;
    };
    const double spent = used("cpu_stats", "/cpu_usage/total_usage") - used("precpu_stats", "/cpu_usage/total_usage");
    const double passed = used("cpu_stats", "/system_cpu_usage") - used("precpu_stats", "/system_cpu_usage");
    const double processors = std::max(1.0, used("cpu_stats", "/online_cpus"));
    return passed > 0 && spent >= 0 ? spent / passed * processors * 100 : 0;
}

} // namespace

Result<void> DockerProvider::Inspected::checkOwner(const QString &install, const QString &sessionId, int generation) const
{
    if (installId == install && computer.sessionId == sessionId && computer.generation == generation)
        return {};
    return tl::unexpected<Error>(
        Error{Failure::Refused,
              QStringLiteral("The name %1 is taken by a container that does not belong to this Signalbox (its owner "
                             "label says \"%2\"). Rename or remove that container, then try again; it was not touched.")
                  .arg(containerName(sessionId, generation), installId.isEmpty() ? QStringLiteral("nobody") : installId),
              {}});
}

// Empty only for the engine's own "no such container".
QCoro::Task<Result<std::optional<DockerProvider::Inspected>>> DockerProvider::inspect(QString nameOrId)
{
    using Found = std::optional<Inspected>;
    const Result<DockerReply> reply = co_await ask("GET", QStringLiteral("/containers/%1/json").arg(nameOrId));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status == 404)
        co_return Found{};
    if (reply->status != 200)
        co_return tl::unexpected<Error>(Error{
            Failure::Unreachable,
            QStringLiteral("Container %1 cannot be inspected: %2").arg(nameOrId.left(60), reply->message()), {}});
    const json parsed = parseBody(reply->body);
    if (!parsed.is_object() || !parsed.contains("State") || !parsed.contains("Config"))
        co_return unreadable("a container");
    Inspected found;
    found.body = reply->body;
    const QMap<QString, QString> labels = labelsOf(parsed["Config"]);
    found.installId = labels.value(containerlabel::install);
    found.computer.id = textAt(parsed, "Id");
    found.computer.sessionId = labels.value(containerlabel::session);
    found.computer.generation = labels.value(containerlabel::generation).toInt();
    found.computer.labels = labels;
    found.computer.image = textAt(parsed["Config"], "Image");
    found.computer.state = stateOf(textAt(parsed["State"], "Status"));
    found.computer.startedAt = QDateTime::fromString(textAt(parsed["State"], "StartedAt"), Qt::ISODateWithMs);
    if (found.computer.state == ComputerState::Stopped)
        found.computer.why = endOf(parsed["State"]);
    co_return Found{found};
}

QCoro::Task<Result<std::optional<Computer>>> DockerProvider::find(QString sessionId, int generation)
{
    using Found = std::optional<Computer>;
    const Result<std::optional<Inspected>> found = co_await inspect(containerName(sessionId, generation));
    if (!found)
        co_return tl::unexpected<Error>(found.error());
    if (!*found)
        co_return Found{};
    const Result<void> ours = (*found)->checkOwner(m_options.installId, sessionId, generation);
    if (!ours)
        co_return tl::unexpected<Error>(ours.error());
    co_return Found{(*found)->computer};
}

QCoro::Task<Result<QList<Computer>>> DockerProvider::list()
{
    QUrlQuery query = filtered({{"label",
                                 {QString(QString(containerlabel::install) + u'=' + m_options.installId).toStdString(),
                                  QString(containerlabel::session).toStdString()}}});
    query.addQueryItem(QStringLiteral("all"), QStringLiteral("1"));
    const Result<DockerReply> reply = co_await ask("GET", QStringLiteral("/containers/json"), query);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    const json parsed = parseBody(reply->body);
    if (reply->status != 200 || !parsed.is_array())
        co_return unreadable("its containers");
    QList<Computer> computers;
    for (const json &one : parsed) {
        Computer computer;
        computer.id = textAt(one, "Id");
        computer.labels = labelsOf(one);
        computer.sessionId = computer.labels.value(containerlabel::session);
        computer.generation = computer.labels.value(containerlabel::generation).toInt();
        computer.image = textAt(one, "Image");
        computer.state = stateOf(textAt(one, "State"));
        computer.startedAt = QDateTime::fromSecsSinceEpoch(one.value("Created", qint64(0)), Qt::UTC);
        if (computer.state == ComputerState::Stopped)
            computer.why = textAt(one, "Status");
        computers.append(computer);
    }
    co_return computers;
}

QCoro::Task<Result<DockerImage>> DockerProvider::image(QString name)
{
    const Result<DockerReply> reply = co_await ask("GET", QStringLiteral("/images/%1/json").arg(name));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status == 404)
        co_return tl::unexpected<Error>(
            Error{Failure::Absent,
                  QStringLiteral("The image %1 is not there. Build it under Sandboxes > Images or with \"signalbox "
                                 "sandboxes build-image\", or name another one in the agent's settings. Signalbox "
                                 "never pulls an image by itself.")
                      .arg(name),
                  {}});
    const json parsed = parseBody(reply->body);
    if (reply->status != 200 || !parsed.is_object())
        co_return unreadable("an image");
    co_return toImage(parsed);
}

QCoro::Task<Result<QList<DockerImage>>> DockerProvider::preparedImages()
{
    const QUrlQuery query = filtered({{"label", {"io.signalbox.layout"}}});
    const Result<DockerReply> reply = co_await ask("GET", QStringLiteral("/images/json"), query);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    const json parsed = parseBody(reply->body);
    if (reply->status != 200 || !parsed.is_array())
        co_return unreadable("its images");
    QList<DockerImage> images;
    for (const json &one : parsed) {
        DockerImage image = toImage(one);
        image.createdAt = QDateTime::fromSecsSinceEpoch(one.value("Created", qint64(0)), Qt::UTC);
        images.append(image);
    }
    co_return images;
}

QCoro::Task<Result<ComputerUsage>> DockerProvider::usage(Computer computer)
{
    QUrlQuery query;
    query.addQueryItem(QStringLiteral("stream"), QStringLiteral("false"));
    const Result<DockerReply> reply = co_await ask("GET", QStringLiteral("/containers/%1/stats").arg(computer.id), query);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    const json stats = parseBody(reply->body);
    if (reply->status != 200 || !stats.is_object())
        co_return unreadable("a container's use");
    const auto number = [&stats](const char *pointer) {
        const json::json_pointer path(pointer);
        return stats.contains(path) && stats.at(path).is_number() ? stats.at(path).get<qint64>() : qint64(0);
    };
    ComputerUsage usage;
    usage.cpuPercent = cpuPercentOf(stats);
    // The page cache can be taken back at any time and is not what a person means.
    usage.memoryBytes = number("/memory_stats/usage") - number("/memory_stats/stats/total_inactive_file") -
                        number("/memory_stats/stats/inactive_file");
    usage.memoryBytes = std::max<qint64>(usage.memoryBytes, 0);
    usage.memoryLimit = number("/memory_stats/limit");
    usage.processes = int(number("/pids_stats/current"));
    co_return usage;
}

QCoro::Task<Result<std::optional<QByteArray>>> DockerProvider::readFile(Computer computer, QString path)
{
    QUrlQuery where;
    where.addQueryItem(QStringLiteral("path"), QString::fromLatin1(QUrl::toPercentEncoding(path, "/")));
    const Result<DockerReply> reply =
        co_await ask("GET", QStringLiteral("/containers/%1/archive").arg(computer.id), where);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    // The engine says "not found" of the container and of the file alike.
    if (reply->status == 404 && !reply->message().contains(QLatin1String("No such container")))
        co_return std::optional<QByteArray>();
    if (reply->status != 200)
        co_return tl::unexpected<Error>(Error{
            Failure::Refused, QStringLiteral("%1 was not read from container %2: %3").arg(path, computer.id.left(12), reply->message()), {}});
    const std::optional<QByteArray> file = firstFileOfTar(reply->body);
    if (!file)
        co_return tl::unexpected<Error>(Error{
            Failure::Protocol, QStringLiteral("%1 came out of container %2 as no file.").arg(path, computer.id.left(12)), {}});
    co_return file;
}

// Asked of the engine and of the inside: an engine that ignored a field would not notice it itself.
QCoro::Task<Result<QList<HardeningItem>>> DockerProvider::checklist(Computer computer)
{
    const Result<std::optional<Inspected>> found = co_await inspect(computer.id);
    if (!found)
        co_return tl::unexpected<Error>(found.error());
    if (!*found)
        co_return tl::unexpected<Error>(Error{
            Failure::Absent, QStringLiteral("Container %1 is gone.").arg(computer.id.left(12)), {}});
    const ContainerPlan plan = ContainerPlan::ofInspect((*found)->body, m_engine && m_engine->name == QLatin1String("Podman"));
    QList<HardeningItem> items = compareWithInspect(plan, (*found)->body);
    if ((*found)->computer.state == ComputerState::Running) {
        const Result<QByteArray> inside = co_await describeInside(computer.id);
        if (!inside)
            co_return tl::unexpected<Error>(inside.error());
        items += compareWithInside(*inside);
    }
    co_return items;
}

QCoro::Task<Result<QByteArray>> DockerProvider::describeInside(QString containerId)
{
    const QByteArray command = QByteArray::fromStdString(json{{"AttachStdin", false},
                                                              {"AttachStdout", true},
                                                              {"AttachStderr", true},
                                                              {"User", "1000:1000"},
                                                              {"Cmd", {containerpath::worker.data(), "describe"}}}
                                                             .dump());
    const Result<DockerReply> made = co_await ask("POST", QStringLiteral("/containers/%1/exec").arg(containerId), {}, command);
    if (!made)
        co_return tl::unexpected<Error>(made.error());
    const json exec = parseBody(made->body);
    if (made->status != 201 || !exec.is_object())
        co_return tl::unexpected<Error>(Error{
            Failure::Busy, QStringLiteral("The inside of the container cannot be looked at: %1").arg(made->message()), {}});
    const std::unique_ptr<HijackedStream> stream = m_client->hijack(
        QStringLiteral("/exec/%1/start").arg(textAt(exec, "Id")), {}, R"({"Detach":false,"Tty":false})", containerId.left(12));
    HijackedStream *raw = stream.get();
    stream->open();
    co_await qCoro(raw, &ByteLink::ended, std::chrono::milliseconds(m_options.answerLimit));
    QByteArray text(raw->bytesAvailable(), Qt::Uninitialized);
    text.resize(raw->read(text.data(), text.size()));
    co_return text;
}

QCoro::Task<Result<QList<Leftover>>> DockerProvider::leftovers()
{
    const std::string label = QString(QString(containerlabel::install) + u'=' + m_options.installId).toStdString();
    QList<Leftover> found;
    const Result<QList<Computer>> computers = co_await list();
    if (!computers)
        co_return tl::unexpected<Error>(computers.error());
    for (const Computer &computer : *computers) {
        Leftover one;
        one.id = computer.id;
        one.name = containerName(computer.sessionId, computer.generation);
        one.sessionId = computer.sessionId;
        one.generation = computer.generation;
        one.state = computer.state == ComputerState::Running  ? QStringLiteral("running")
                    : computer.state == ComputerState::Paused ? QStringLiteral("paused")
                                                              : computer.why;
        one.madeAt = computer.startedAt;
        found.append(one);
    }
    const Result<DockerReply> reply = co_await ask("GET", QStringLiteral("/system/df"));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    const json usage = parseBody(reply->body);
    if (reply->status != 200 || !usage.is_object())
        co_return unreadable("its volumes");
    const auto volumes = usage.find("Volumes");
    for (const json &volume : volumes != usage.end() && volumes->is_array() ? *volumes : json::array()) {
        const QMap<QString, QString> labels = labelsOf(volume);
        if (labels.value(containerlabel::install) != m_options.installId)
            continue;
        Leftover one;
        one.kind = Leftover::Kind::Volume;
        one.id = one.name = textAt(volume, "Name");
        one.sessionId = labels.value(containerlabel::session);
        one.madeAt = QDateTime::fromString(textAt(volume, "CreatedAt"), Qt::ISODate).toUTC();
        const json::json_pointer size("/UsageData/Size");
        one.bytes = volume.contains(size) && volume.at(size).is_number() ? volume.at(size).get<qint64>() : -1;
        found.append(one);
    }
    co_return found;
}

QCoro::Task<Result<void>> DockerProvider::remove(Leftover leftover)
{
    if (leftover.kind == Leftover::Kind::Container) {
        const Result<void> removed = co_await removeContainer(leftover.id);
        co_return removed;
    }
    const Result<DockerReply> reply = co_await ask("DELETE", QStringLiteral("/volumes/%1").arg(leftover.name));
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status == 204 || reply->status == 404)
        co_return Result<void>{};
    co_return tl::unexpected<Error>(Error{
        Failure::Busy, QStringLiteral("Volume %1 was not removed: %2").arg(leftover.name, reply->message()), {}});
}

} // namespace sandbox
