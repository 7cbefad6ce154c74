#pragma once

#include "sandbox/docker/dockerprovider.h"

namespace sandbox {

// What the engine says of one container.
struct DockerProvider::Inspected
{
    Computer computer;
    QString installId;
    QByteArray body; // the whole reply

    // Error for a container that is not the asked one of this installation.
    Result<void> checkOwner(const QString &install, const QString &sessionId, int generation) const;
};

} // namespace sandbox
