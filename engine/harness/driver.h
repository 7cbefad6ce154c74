#pragma once

#include "engine/harness/events.h"
#include "engine/types/agent.h"
#include "engine/types/session.h"
#include "sandbox/channel.h"

#include <memory>

namespace engine {

// One line for the harness's stdin. `id` makes it apply once, however often it is sent.
struct InputLine
{
    QString id;
    QByteArray bytes; // one complete line with its line feed

    bool operator==(const InputLine &) const = default;
};

// Something the driver waits for: the caller hands the id back after that time, see HarnessDriver::expired.
struct Deadline
{
    QString id;
    int ms = 0;

    bool operator==(const Deadline &) const = default;
};

struct DriverOutput
{
    QList<HarnessEvent> events;
    QList<InputLine> inputs;
    QList<Deadline> deadlines;
    bool closeInput = false; // the harness ends when its stdin does
};

struct ToolDefinition
{
    QString name;
    QString description;
    QByteArray inputSchema; // JSON object text
};

struct ToolReply
{
    QString text;
    bool isError = false;
};

// A driver adds this key to the arguments of each call: the native id of the session whose model calls.
inline constexpr char callerSessionKey[] = "signalbox/nativeSessionId";

// Tools the console offers to the model. Engine thread; answers at once.
class ToolHost
{
public:
    virtual ~ToolHost() = default;
    virtual QList<ToolDefinition> tools() const = 0;
    virtual ToolReply call(const QString &name, const QByteArray &arguments) = 0;
};

struct LaunchContext
{
    Agent agent;
    Session session;     // model and permission mode of the session win over the agent's
    QString program;     // resolved path
    QString version;     // probed, "2.1.332"
    QString configFolder;
    QString workspace;
    bool resume = false; // continue the native conversation instead of creating it
    QString lastTurnId;  // of the conversation on disk, when resuming; empty: the harness has no ids of turns
    QString forkOf;      // begin as a copy of this native conversation; empty: none
    QMap<QString, QString> hostEnvironment; // where key and base URL are looked up
};

enum class DriverPhase { Starting, Ready, Turn, Ended };

// Protocol state machine of one harness process: no I/O, no clock, no store. Feeding the recorded lines of both
// directions to a new driver (replayInput, feed) rebuilds its state exactly, so an engine that restarts goes on where
// the old one was; while rebuilding, its outputs are ignored by the caller. Engine thread.
class HarnessDriver
{
public:
    virtual ~HarnessDriver() = default;
    virtual sandbox::LaunchSpec launchSpec(const LaunchContext &context) const = 0;
    // The first lines after the launch.
    virtual DriverOutput begin(const LaunchContext &context) = 0;
    // One line of the harness's stdout without its line feed; never fails, unknown lines become UnknownLine events.
    virtual DriverOutput feed(const QByteArray &line) = 0;
    // A line that was written earlier by this engine or the one before it (rebuilding state).
    virtual void replayInput(const QByteArray &line) = 0;
    virtual DriverOutput prompt(const QString &uuid, const QString &text) = 0;
    virtual DriverOutput interrupt() = 0;
    // Answers an open request; inputs are empty when it is not open any more. `inputId` is the approval's id.
    virtual DriverOutput allow(const QString &inputId, const QString &requestId, const QByteArray &input) = 0;
    virtual DriverOutput deny(const QString &inputId, const QString &requestId, const QString &message) = 0;
    virtual DriverOutput setModel(const QString &model) = 0;
    virtual DriverOutput setPermissionMode(const QString &mode) = 0;
    virtual DriverOutput endSession() = 0;
    // The process is gone: open requests become PermissionWithdrawn, a turn TurnEnded.
    virtual DriverOutput processExited(int exitCode, const QByteArray &errorTail) = 0;
    // A deadline of an earlier output has come; nothing happens when it is not waited for any more.
    virtual DriverOutput expired(const QString &deadlineId)
    {
        Q_UNUSED(deadlineId)
        return {};
    }
    // What is waited for now: armed again after a rebuild.
    virtual QList<Deadline> openDeadlines() const { return {}; }
    // Rebuilding: a line of this id was written before, be it in other words.
    virtual bool isRecorded(const InputLine &input) const
    {
        Q_UNUSED(input)
        return false;
    }
    virtual DriverPhase phase() const = 0;
    // Requests not answered yet, in the order they came.
    virtual QList<PermissionRequested> openRequests() const = 0;
};

std::unique_ptr<HarnessDriver> makeClaudeDriver(ToolHost &tools);
std::unique_ptr<HarnessDriver> makeCodexDriver(ToolHost &tools);
// Recordings are played through Claude's driver: they are in its wire format.
std::unique_ptr<HarnessDriver> makeDriver(HarnessKind kind, ToolHost &tools);

} // namespace engine
