#pragma once

#include "engine/harness/codex/codexcodec.h"

#include <QHash>
#include <QMap>
#include <QSet>

namespace engine::codex {

// Drives one `codex app-server` process. States and failures: engine/harness/README.md.
class CodexDriver final : public HarnessDriver
{
public:
    explicit CodexDriver(ToolHost &tools) : m_tools(tools) {}

    sandbox::LaunchSpec launchSpec(const LaunchContext &context) const override;
    DriverOutput begin(const LaunchContext &context) override;
    DriverOutput feed(const QByteArray &line) override;
    void replayInput(const QByteArray &line) override;
    // In a turn it steers: the harness has no line of waiting prompts.
    DriverOutput prompt(const QString &uuid, const QString &text) override;
    DriverOutput interrupt() override;
    DriverOutput allow(const QString &inputId, const QString &requestId, const QByteArray &input) override;
    DriverOutput deny(const QString &inputId, const QString &requestId, const QString &message) override;
    // Both go out with the next turn.
    DriverOutput setModel(const QString &model) override;
    DriverOutput setPermissionMode(const QString &mode) override;
    DriverOutput endSession() override;
    DriverOutput processExited(int exitCode, const QByteArray &errorTail) override;
    DriverOutput expired(const QString &deadlineId) override;
    QList<Deadline> openDeadlines() const override;
    bool isRecorded(const InputLine &input) const override;
    DriverPhase phase() const override { return m_phase; }
    QList<PermissionRequested> openRequests() const override;

private:
    struct Sent
    {
        QString method;
        QString threadId;
        QString approvalPolicy; // asked for
        QString sandboxType;
        QByteArray line;
        int attempt = 0; // of an overloaded harness
    };
    struct Open
    {
        ServerRequest request;
        PermissionRequested shown;
        bool answerable = false; // a person can see all of it
    };
    struct Tool
    {
        Item item;
        QString output; // as it streamed
    };
    struct DenialNote
    {
        QString itemId; // told when this item is over; empty: at once
        QString inputId;
        QString text;
    };

    void apply(const Line &line);
    // One per message kind.
    void take(const ServerRequest &request);
    void take(const Reply &reply);
    void take(const ItemStarted &started);
    void take(const ItemCompleted &completed);
    void take(const TextChunk &chunk);
    void take(const OutputChunk &chunk);
    void take(const TerminalInput &typed);
    void take(const TurnBegun &begun);
    void take(const TurnDone &done);
    void take(const TokenUsage &tokens);
    void take(const ApiError &error);
    void take(const Settings &settings);
    void take(const Resolved &resolved);
    void take(const Note &note);
    void take(const Ignored &) {}
    void take(const Unknown &unknown);

    DriverOutput flush() { return std::exchange(m_output, {}); }
    void emitEvent(const HarnessEvent &event) { m_output.events.append(event); }
    void write(const QString &id, const QByteArray &bytes) { m_output.inputs.append({id, bytes}); }
    void request(const QString &id, const QByteArray &line);
    void keepSent(const SentLine &sent, const QByteArray &line);
    void waitFor(const QString &deadline, int ms) { m_output.deadlines.append({deadline, ms}); }

    void openThread();
    void initialized(const Reply &reply);
    void threadOpened(const Reply &reply, const Sent &sent);
    void newestTurnTold(const Reply &reply, const QByteArray &id);
    void turnAnswered(const Reply &reply);
    void ready();
    void startFailed(const QString &message, bool noConversation = false);
    bool tryAgainLater(const Reply &reply, const Sent &sent);
    void sendAgain(const QByteArray &id);
    void requestExpired(const QByteArray &id);
    void watchTurn();

    void turnBegins(const QByteArray &promptId);
    void endTurn(const TurnDone &done);
    void writeInterrupt();
    void steer(const QString &id, const QString &text);
    void tellDenials(const QString &itemId);
    void startTool(const Item &item);
    void endTool(const Item &item);
    void dropTexts();

    bool isForeign(const Line &line) const;
    PermissionRequested shownOf(const ServerRequest &request, bool &answerable) const;
    void answer(const QString &inputId, const Open &open, const QByteArray &decided);
    void refuse(const QString &inputId, const Open &open, const QString &message);
    ToolReply callTool(const QString &name, const QByteArray &arguments);
    void withdrawAll();
    qsizetype openIndex(const QString &requestId) const;
    qsizetype openIndexOf(const QByteArray &id) const;

    ToolHost &m_tools;
    DriverPhase m_phase = DriverPhase::Starting;
    Gate m_gate = Gate::All;
    GatePolicy m_policy;  // sent with every start, resume and turn
    GatePolicy m_inForce; // asked for last, in a reply's words; empty: never said
    ThreadRequest m_wanted;
    QString m_lastTurn; // of the conversation on disk
    QString m_model;
    QString m_version;
    QString m_threadId;
    bool m_mismatchTold = false;
    QByteArray m_line; // the one that is taken now
    QList<Open> m_open;
    QHash<QByteArray, Sent> m_sent;    // our requests without an answer, by id
    QHash<QByteArray, Sent> m_waiting; // to be sent again
    QSet<QByteArray> m_recorded;       // ids of our requests seen in the record
    // Of the turn under way:
    QByteArray m_promptId;
    QString m_turnId;
    bool m_begun = false;
    bool m_stopWanted = false;
    int m_interrupts = 0;
    int m_steers = 0;
    QList<QPair<QString, QString>> m_unsteered; // id and text, until the turn has an id
    QHash<QString, Tool> m_running;
    QStringList m_order;  // of m_running
    QSet<QString> m_over; // items that are complete
    QMap<QString, TextChunk> m_texts;
    QSet<QString> m_denied;
    QList<DenialNote> m_notes;
    QStringList m_typing; // allowed inputs to running programs that were not seen yet
    Usage m_usage;
    int m_responses = 0;
    qint64 m_seenTokens = 0;
    quint64 m_activity = 0; // lines of the harness
    quint64 m_watched = 0;  // the same when the watchdog last looked
    int m_silent = 0;       // looks without a line
    DriverOutput m_output;
};

} // namespace engine::codex
