#pragma once

#include "engine/harness/claude/claudemessages.h"
#include "engine/harness/claude/texttracker.h"
#include "engine/harness/driver.h"

#include <QSet>

namespace engine::claude {

// Drives one Claude Code process over stream-json. States and failures: engine/harness/README.md.
class ClaudeDriver final : public HarnessDriver
{
public:
    explicit ClaudeDriver(ToolHost &tools) : m_tools(tools) {}

    sandbox::LaunchSpec launchSpec(const LaunchContext &context) const override;
    DriverOutput begin(const LaunchContext &context) override;
    DriverOutput feed(const QByteArray &line) override;
    void replayInput(const QByteArray &line) override;
    DriverOutput prompt(const QString &uuid, const QString &text) override;
    DriverOutput interrupt() override;
    DriverOutput allow(const QString &inputId, const QString &requestId, const QByteArray &input) override;
    DriverOutput deny(const QString &inputId, const QString &requestId, const QString &message) override;
    DriverOutput setModel(const QString &model) override;
    DriverOutput setPermissionMode(const QString &mode) override;
    DriverOutput endSession() override;
    DriverOutput processExited(int exitCode, const QByteArray &errorTail) override;
    DriverPhase phase() const override { return m_phase; }
    QList<PermissionRequested> openRequests() const override { return m_open; }

private:
    struct Sent
    {
        QString subtype;
        QString argument;
    };

    void apply(const Line &line);
    void checkIdentity(const QString &sessionId);
    // One per message kind.
    void take(const CanUseTool &tool);
    void take(const HookCallback &hook);
    void take(const McpMessage &mcp);
    void take(const OtherRequest &request);
    void take(const ControlReply &reply);
    void take(const CancelRequest &cancel);
    void take(const SystemInit &init);
    void take(const ModeStatus &status);
    void take(const ApiRetry &retry);
    void take(const RuleDenial &denial);
    void take(const StreamEvent &event);
    void take(const AssistantLine &line);
    void take(const UserLine &line);
    void take(const ResultLine &result);
    void take(const Note &note);
    void take(const Ignored &) {}
    void take(const Unknown &unknown);

    DriverOutput flush() { return std::exchange(m_output, {}); }
    void emitEvent(const HarnessEvent &event) { m_output.events.append(event); }
    void emitEvents(const QList<HarnessEvent> &events) { m_output.events += events; }
    void write(const QString &id, const QByteArray &bytes) { m_output.inputs.append({id, bytes}); }
    QString request(const QString &subtype, const QString &key = {}, const QString &value = {});
    void answerMcp(const McpMessage &mcp);
    void startFailed(const QString &message);
    void withdrawAll();
    qsizetype openIndex(const QString &requestId) const;
    qint64 costOfTurn(const ResultLine &result);
    void changeMode(const QString &mode);

    ToolHost &m_tools;
    DriverPhase m_phase = DriverPhase::Starting;
    Gate m_gate = Gate::All;
    QString m_expectedSession;
    bool m_mismatchTold = false;
    bool m_answered = false; // initialize was
    bool m_turnSeen = false; // a turn began, with or without initialize
    QString m_mode;
    QByteArray m_line; // the one that is taken now
    TextTracker m_text;
    QList<PermissionRequested> m_open;
    QSet<QString> m_undisplayable;     // open requests whose input could not be looked at in full
    QHash<QString, Sent> m_sent;       // our requests without an answer
    QSet<QString> m_deniedTools;       // tool use ids of this turn
    QStringList m_queued;              // uuids of prompts written during a turn
    qint64 m_totalCostMicros = 0;      // newest total the process told
    DriverOutput m_output;
};

} // namespace engine::claude
