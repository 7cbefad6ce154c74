#pragma once

#include "engine/types/agent.h"
#include "engine/types/approval.h"
#include "engine/types/block.h"
#include "engine/types/computer.h"
#include "engine/types/error.h"
#include "engine/types/run.h"
#include "engine/types/session.h"

#include <QMetaType>

namespace engine {

struct Counts
{
    int running = 0;
    int paused = 0;
    int queued = 0;
    int pendingApprovals = 0;
    qint64 costTodayMicros = 0; // runs that ended since midnight of the person's zone

    bool operator==(const Counts &) const = default;
};

// News for the one banner place. Errors carry what was tried, why it failed and what to do.
struct Notice
{
    enum class Level { Info, Warning, Error };
    Level level = Level::Info;
    QString title;
    QString detail;
    SessionId sessionId;

    bool operator==(const Notice &) const = default;
};

// What changed since the last batch, at most 60 batches a second. Values only; the last state of each object wins.
struct FeedBatch
{
    quint64 number = 0;
    QList<Session> sessions;
    QList<SessionId> removedSessions;
    QList<Run> runs;
    QList<Approval> approvals;
    QList<Block> blocks; // new ones and changed ones, by position
    QList<LiveText> live;
    QList<Agent> agents;
    QList<Notice> notices;
    bool settingsChanged = false;
    bool computersChanged = false; // ask again
    QList<ImageProgress> imageProgress;
    Counts counts;
};

// State of the parts the status bar and Settings show.
struct EngineStatus
{
    QString storePath;
    QString storeKind; // "SQLite 3.40.1"
    int schemaVersion = 0;
    QString instance; // this replica's name
    int maxConcurrency = 0;
    bool readOnly = false;
    QString dataFolder;
    QString runtimeFolder;

    bool operator==(const EngineStatus &) const = default;
};

// One finding of `signalbox doctor`.
struct Finding
{
    enum class Level { Ok, Warning, Error };
    Level level = Level::Ok;
    QString subject; // "Store", "Claude Code", "Key", ...
    QString text;
    QString remedy; // what to do; empty when fine

    bool operator==(const Finding &) const = default;
};

} // namespace engine

Q_DECLARE_METATYPE(engine::FeedBatch)
