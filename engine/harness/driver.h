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

struct DriverOutput
{
    QList<HarnessEvent> events;
    QList<InputLine> inputs;
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
    virtual DriverPhase phase() const = 0;
    // Requests not answered yet, in the order they came.
    virtual QList<PermissionRequested> openRequests() const = 0;
};

std::unique_ptr<HarnessDriver> makeClaudeDriver(ToolHost &tools);

} // namespace engine
