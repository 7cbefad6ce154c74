#pragma once

#include "engine/types/ids.h"

#include <QDateTime>
#include <QList>
#include <QString>
#include <QStringList>

namespace engine {

// What Sandboxes shows. Values; the engine fills them from its providers and its store.

enum class ComputerState { Running, Paused, Stopped };

// The computer of one session: a container, or the host itself.
struct Computer
{
    SessionId sessionId;
    QString sessionTitle;
    QString agentName;
    QString provider;  // "docker", "host"
    bool isolated = false;
    bool canPause = false;
    QString name;  // the provider's name of it
    QString id;    // the provider's handle
    QString image; // empty on the host
    int generation = 0;
    ComputerState state = ComputerState::Running;
    QString why;          // of a stopped one, if known: "it ran out of memory and was killed"
    QDateTime startedAt;  // UTC
    bool inTurn = false;  // a run is RUNNING or PAUSED in it
    QDateTime warmUntil;  // UTC; invalid: not counting down
    double cpuPercent = -1; // 100: one processor; -1: not known
    qint64 memoryBytes = -1;
    qint64 memoryLimit = 0;
    int processes = -1;

    bool operator==(const Computer &) const = default;
};

// One line of the checklist: a protection as it was asked for and as it was read back just now.
struct Protection
{
    QString key;   // "HostConfig.ReadonlyRootfs", "inside.capabilities"
    QString title; // one sentence
    QString wanted;
    QString found;
    bool holds = false;

    bool operator==(const Protection &) const = default;
};

// The container engine as the status bar and Settings show it.
struct SandboxEngine
{
    bool available = false;
    QString name; // "Docker 20.10.24", "Podman 4.3.1"
    QString apiVersion;
    QString socket;
    bool liveRestore = false; // containers outlive a restart of the engine
    bool rootless = false;
    QString problem; // of an unavailable one: what was tried, why it failed, what to do

    bool operator==(const SandboxEngine &) const = default;
};

// Something of ours in the container engine or the runtime folder.
struct Leftover
{
    enum class Kind { Container, Volume, Worker };
    Kind kind = Kind::Container;
    QString id;
    QString name;
    SessionId sessionId;
    QString sessionTitle; // empty: the session is gone
    int generation = 0;
    QString state;
    QDateTime madeAt;  // UTC
    qint64 bytes = -1; // -1: not known
    bool inUse = false; // belongs to a session that exists and its present generation

    bool operator==(const Leftover &) const = default;
};

struct AgentImage
{
    QString id;
    QString tag;
    QString claudeVersion; // empty: not in it
    QString codexVersion;
    bool prepared = false; // made for Signalbox; another one works as well, a little slower at its first start
    qint64 bytes = 0;
    QDateTime createdAt; // UTC
    QStringList usedBy;  // agents' names

    bool operator==(const AgentImage &) const = default;
};

struct ImageRequest
{
    QString tag = QStringLiteral("signalbox-agent:latest");
    QString base = QStringLiteral("debian:bookworm-slim");
    QString baseArchive; // a tar of a whole system; needs no registry
    bool withClaude = true;
    bool withCodex = false;
};

// One step of a build under way, or its end.
struct ImageProgress
{
    QString step;   // what is happening now, one line
    QString output; // what was printed since the last one
    bool finished = false;
    bool failed = false;
    QString message; // of an end: the image's id, or what failed and the way out

    bool operator==(const ImageProgress &) const = default;
};

} // namespace engine
