#include "sandbox/docker/dockersocket.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

constexpr QLatin1String unixScheme{"unix://"};

json readJsonFile(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray bytes = file.readAll();
    return json::parse(bytes.begin(), bytes.end(), nullptr, false);
}

// The context that "docker context use" chose. Its folder is named after the SHA-256 of its name.
QString contextHost(const QProcessEnvironment &environment)
{
    const QString folder = environment.value(QStringLiteral("DOCKER_CONFIG"),
                                             environment.value(QStringLiteral("HOME"), QDir::homePath()) + QStringLiteral("/.docker"));
    QString name = environment.value(QStringLiteral("DOCKER_CONTEXT"));
    const json config = readJsonFile(folder + QStringLiteral("/config.json"));
    if (name.isEmpty() && config.is_object() && config.contains("currentContext") && config["currentContext"].is_string())
        name = QString::fromStdString(config["currentContext"].get<std::string>());
    if (name.isEmpty() || name == QLatin1String("default"))
        return {};
    const QByteArray id = QCryptographicHash::hash(name.toUtf8(), QCryptographicHash::Sha256).toHex();
    const json meta = readJsonFile(QStringLiteral("%1/contexts/meta/%2/meta.json").arg(folder, QString::fromLatin1(id)));
    const json::json_pointer host("/Endpoints/docker/Host");
    return meta.is_object() && meta.contains(host) && meta.at(host).is_string()
               ? QString::fromStdString(meta.at(host).get<std::string>())
               : QString();
}

} // namespace

Result<DockerSocket> findDockerSocket(const QString &setting, const QProcessEnvironment &environment)
{
    const auto named = [](const QString &value, const QString &origin) -> Result<DockerSocket> {
        if (value.startsWith(unixScheme))
            return DockerSocket{value.mid(unixScheme.size()), origin};
        if (value.startsWith(u'/'))
            return DockerSocket{value, origin};
        return tl::unexpected<Error>(
            Error{Failure::NotSupported,
                  QStringLiteral("%1 names \"%2\" as the container engine. Signalbox speaks to one over a Unix socket of this "
                                 "machine only: use unix:///path, or unset it.")
                      .arg(origin, value),
                  {}});
    };
    if (!setting.isEmpty())
        return named(setting, QStringLiteral("The setting"));
    if (const QString host = environment.value(QStringLiteral("DOCKER_HOST")); !host.isEmpty())
        return named(host, QStringLiteral("DOCKER_HOST"));
    if (const QString host = contextHost(environment); !host.isEmpty())
        return named(host, QStringLiteral("The chosen Docker context"));
    const QString runtime = environment.value(QStringLiteral("XDG_RUNTIME_DIR"));
    QList<DockerSocket> places{{QStringLiteral("/var/run/docker.sock"), QStringLiteral("Docker")}};
    if (!runtime.isEmpty()) {
        places.append({runtime + QStringLiteral("/docker.sock"), QStringLiteral("rootless Docker")});
        places.append({runtime + QStringLiteral("/podman/podman.sock"), QStringLiteral("rootless Podman")});
    }
    places.append({QStringLiteral("/run/podman/podman.sock"), QStringLiteral("Podman")});
    QStringList tried;
    for (const DockerSocket &place : std::as_const(places)) {
        if (QFileInfo::exists(place.path))
            return place;
        tried.append(place.path);
    }
    return tl::unexpected<Error>(
        Error{Failure::Unreachable,
              QStringLiteral("No container engine was found: none of %1 exists. Install and start Docker (or Podman's service), "
                             "or name its socket in Settings or DOCKER_HOST. Agents that run on this host work without one.")
                  .arg(tried.join(QStringLiteral(", "))),
              {}});
}

} // namespace sandbox
