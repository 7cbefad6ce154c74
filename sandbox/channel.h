#pragma once

#include <QByteArray>
#include <QMap>
#include <QObject>
#include <QStringList>
#include <tl/expected.hpp>

namespace sandbox {

enum class Failure {
    NotSupported,
    Absent,
    Unreachable, // the worker is gone or does not answer
    Unavailable, // the provider itself cannot be asked now; that says nothing of its computers
    Refused,
    Stale,
    Protocol,
    LaunchFailed,
    Busy
};

struct Error
{
    Failure failure = Failure::Unreachable;
    QString message; // what was tried, on what, why, what to do
    QString detail;
};
template<class T> using Result = tl::expected<T, Error>;

enum class Stream { Output, ErrorOutput };

// Bytes of each stream that the engine has safely stored; the worker sends what follows and may forget the rest.
struct Offsets
{
    quint64 output = 0;
    quint64 errorOutput = 0;
};

struct LaunchSpec
{
    QStringList argv;                   // argv[0] is the program's absolute path
    QMap<QString, QString> environment; // complete; nothing is inherited
    QString workingFolder;
    QString lockFile; // held exclusively (flock) by the worker while the harness lives; empty: none
};

// What the worker says of its child when a channel opens.
struct Welcome
{
    QStringList capabilities; // "approvals", "journal", "exec", ...
    int generation = 0;
    bool launched = false; // a harness was started under this worker (it may have ended since)
    bool exited = false;
    int exitCode = 0; // of an exited one; 128 + n for signal n
    qint64 pid = 0;
    quint64 launchCount = 0; // how many times a harness was launched by this worker
    QString lastInputId;     // newest input that was written to the child's stdin
    Offsets available;       // end of what the journal holds
    int gatewayPort = 0;     // of the model gateway's entrance on the computer's 127.0.0.1; 0: it has none
    Offsets oldest;          // first byte that it still holds: everything before was acknowledged
};

class FileAccess;

// The engine's end of one worker channel. Engine thread. Signals arrive in the order of the worker's frames.
// After `closed` nothing more is emitted; the harness goes on and a new channel may be opened.
class Channel : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    virtual const Welcome &welcome() const = 0;
    // Starts the harness; refused while one lives. Stream offsets begin at 0 again with each launch.
    // Answered by launched() or launchFailed().
    virtual void launch(const LaunchSpec &spec) = 0;
    // `id` is applied at most once per launch however often it is sent; answered by inputWritten(id) - also when it
    // had been written before.
    virtual void send(const QString &id, const QByteArray &bytes) = 0;
    virtual void closeInput() = 0;
    virtual void acknowledge(Offsets stored) = 0;
    // To the harness process alone.
    virtual void signalHarness(int signal) = 0;
    // Ends the harness and all its descendants (also those that left its process group); exited() follows.
    virtual void killHarness() = 0;

    // Files below the computer's roots (sandbox/files.h); null where that is not supported. Lives as long as the
    // channel. Its requests need somebody connected to the channel, like everything that is received.
    virtual FileAccess *files() { return nullptr; }

    // Connections to the model gateway's entrance. What the worker's credit does not cover waits here; gatewayWritable
    // tells when all of it went. Bytes received are paid back with gatewayCredit once they were used. Frames for a
    // stream that has ended are dropped.
    virtual void gatewaySend(quint32, const QByteArray &) {}
    virtual void gatewayEnd(quint32) {}
    virtual void gatewayReset(quint32) {}
    virtual void gatewayCredit(quint32, quint32) {}
    // Somebody serves the streams; else they are reset as they come.
    bool hasGateway() const;
    virtual qint64 gatewayPending(quint32) const { return 0; }

signals:
    void launched(qint64 pid);
    void launchFailed(const QString &message);
    void received(sandbox::Stream stream, quint64 offset, const QByteArray &bytes);
    void inputWritten(const QString &id);
    void inputRefused(const QString &id, const QString &reason);
    void exited(int exitCode);
    void gatewayOpened(quint32 stream);
    void gatewayData(quint32 stream, const QByteArray &bytes);
    void gatewayEnded(quint32 stream); // the client sends nothing more
    void gatewayWasReset(quint32 stream);
    void gatewayWritable(quint32 stream);
    void closed(const sandbox::Error &error);
};

inline bool Channel::hasGateway() const
{
    return receivers(SIGNAL(gatewayOpened(quint32))) > 0;
}

} // namespace sandbox
