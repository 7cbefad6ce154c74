#pragma once

#include "sandbox/sandbox.h"

#include <QByteArray>
#include <QList>
#include <QString>

namespace sandbox {

// The one place that says how a container is closed off. What it asks for is sent at creation, read back from the
// engine's inspect, and shown as the checklist; unknown fields are silently ignored by engines, so only what was read
// back counts.
struct ContainerPlan
{
    QString name;
    QString image;
    QString installId;  // owner of everything that carries our labels
    QString sessionId;
    int generation = 1;
    QString sessionVolume; // mounted at `sessionFolder`
    QString workerVolume;  // mounted read-only at `workerFolder`
    int gatewayPort = 0;   // of the container's own loopback; 0: none
    quint64 journalBytes = 0;
    ContainerLimits limits;
    QMap<QString, QString> labels; // further ones
    bool isPodman = false; // it refuses some of Docker's options

    // What an existing container was asked to be, by the labels it was given then.
    static ContainerPlan ofInspect(const QByteArray &inspect, bool isPodman);
};

namespace containerpath {
inline constexpr QLatin1String session{"/session"}; // the volume that outlives the container
inline constexpr QLatin1String workspace{"/session/workspace"};
inline constexpr QLatin1String home{"/session/home"};
inline constexpr QLatin1String journal{"/session/journal"};
inline constexpr QLatin1String workerFolder{"/signalbox"};
inline constexpr QLatin1String worker{"/signalbox/signalbox-worker"};
inline constexpr QLatin1String workerSocket{"@signalbox"};
} // namespace containerpath

namespace containerlabel {
inline constexpr QLatin1String install{"io.signalbox.install"};
inline constexpr QLatin1String session{"io.signalbox.session"};
inline constexpr QLatin1String generation{"io.signalbox.generation"};
inline constexpr QLatin1String plan{"io.signalbox.plan"}; // digest of what it was made from
inline constexpr QLatin1String asked{"io.signalbox.asked"}; // the limits and mounts, to be compared later
inline constexpr QLatin1String purpose{"io.signalbox.purpose"};
} // namespace containerlabel

// Body of POST /containers/create.
QByteArray createBody(const ContainerPlan &plan);
// Of everything that makes two containers differ, without names and generation: a warm one with another digest is
// not what was asked for.
QString planDigest(const ContainerPlan &plan);

// Compares what was asked for with a reply of GET /containers/{id}/json, key by key. A reply that cannot be read gives
// one failed item.
QList<HardeningItem> compareWithInspect(const ContainerPlan &plan, const QByteArray &inspect);
// The same as seen from inside: what `signalbox-worker describe` printed.
QList<HardeningItem> compareWithInside(const QByteArray &described);
bool isHard(const QList<HardeningItem> &items);

} // namespace sandbox
