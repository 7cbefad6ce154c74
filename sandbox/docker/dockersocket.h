#pragma once

#include "sandbox/sandbox.h"

#include <QProcessEnvironment>

namespace sandbox {

struct DockerSocket
{
    QString path;
    QString origin; // where it was found, for a person: "DOCKER_HOST", "the setting", ...
};

// In this order: the setting, DOCKER_HOST, the current context of Docker's own command line, /var/run/docker.sock, a
// rootless Docker, Podman (rootless, then the system's). Only Unix sockets; a DOCKER_HOST of another kind is refused by
// name, never passed over. The error tells every place that was looked at.
Result<DockerSocket> findDockerSocket(const QString &setting, const QProcessEnvironment &environment);

} // namespace sandbox
