#pragma once

#include "sandbox/channel.h"

#include <QByteArray>
#include <QCoroTask>
#include <QDateTime>
#include <QIODevice>
#include <QList>
#include <QMap>
#include <QStringList>
#include <memory>
#include <optional>

namespace sandbox {

enum class ComputerState { Running, Paused, Stopped, Absent };

// What one computer may use. 0: the provider's own default.
struct ContainerLimits
{
    qint64 memoryBytes = 2ll * 1024 * 1024 * 1024;
    double cpus = 2;
    int processes = 512;
    qint64 temporaryBytes = 512ll * 1024 * 1024; // of /tmp, in memory; counts to memoryBytes

    bool operator==(const ContainerLimits &) const = default;
};

// One line of the checklist: a protection as it was asked for and as the provider reports it now.
struct HardeningItem
{
    QString key;    // the provider's own name of it
    QString title;  // what it protects from, one sentence
    QString wanted;
    QString found;
    bool holds = false;
};

// What is asked of a provider. One computer per session and generation; its name is made from them, so that
// creating it twice yields the same one.
struct ComputerSpec
{
    QString sessionId;
    int generation = 1;
    QString workspace;             // working folder of the harness
    QStringList fileRoots;         // besides the workspace: where the engine may read and write files
    QString image;                 // what the computer is made from; empty where there is nothing to choose
    ContainerLimits limits;
    QMap<QString, QString> labels; // owner, config digest, ...
};

struct Computer
{
    QString id; // the provider's own handle
    QString sessionId;
    int generation = 0;
    ComputerState state = ComputerState::Absent;
    QMap<QString, QString> labels;
    QString image;
    QDateTime startedAt; // UTC
    QString why;         // of a stopped one: what ended it, where the provider knows
};

struct Capabilities
{
    bool isolation = false;
    bool pause = false;
    bool checkpoint = false;
    bool networkPolicy = false;
    bool exec = false;
};

// Creates, finds and ends computers and opens worker channels to them. Engine thread only; the provider outlives
// its channels and tasks. `find` answers an empty optional only for the provider's own "no such computer"; every
// other failure is an error and never a reason to create a second one.
class Provider
{
public:
    virtual ~Provider() = default;
    virtual QString name() const = 0;
    virtual Capabilities capabilities() const = 0;
    virtual QCoro::Task<Result<Computer>> ensure(ComputerSpec spec) = 0;
    virtual QCoro::Task<Result<std::optional<Computer>>> find(QString sessionId, int generation) = 0;
    virtual QCoro::Task<Result<QList<Computer>>> list() = 0;
    // A newer epoch takes the channel over from older ones. Answers after the worker's WELCOME, or fails.
    virtual QCoro::Task<Result<std::unique_ptr<Channel>>> open(Computer computer, quint64 epoch, Offsets received) = 0;
    virtual QCoro::Task<Result<void>> pause(Computer computer) = 0;
    virtual QCoro::Task<Result<void>> resume(Computer computer) = 0;
    // Ends worker, harness and every descendant, and removes what was made for it. Absent is success.
    virtual QCoro::Task<Result<void>> destroy(Computer computer) = 0;
    // Removes what outlives the computers of a session (its volume). Absent is success.
    virtual QCoro::Task<Result<void>> forget(QString sessionId);
    // One file of a computer, running or not; empty: there is none. For files that fit into memory.
    virtual QCoro::Task<Result<std::optional<QByteArray>>> readFile(Computer computer, QString path);
    // Unpacks a tar archive of files into a folder of the computer. `tar` stays open until the answer.
    virtual QCoro::Task<Result<void>> unpack(Computer computer, QString folder, QIODevice *tar);
    // What closes the computer off, read back from the provider; empty where nothing does.
    virtual QCoro::Task<Result<QList<HardeningItem>>> checklist(Computer computer);
};

} // namespace sandbox
