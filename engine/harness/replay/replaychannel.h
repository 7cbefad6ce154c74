#pragma once

#include "engine/harness/replay/recording.h"
#include "sandbox/channel.h"

#include <QSet>
#include <QTimer>

namespace engine {

// Plays a recording as if a harness ran: what it said comes out with the recorded pauses, divided by `speed` (0: without
// pauses). It waits where the host had to answer. Each prompt plays the next recorded turn, beginning anew behind the
// last; ids are fresh each time and the session goes by the id asked for at the launch. Engine thread.
class ReplayChannel final : public sandbox::Channel
{
    Q_OBJECT

public:
    ReplayChannel(QString path, double speed, int generation);

    const sandbox::Welcome &welcome() const override { return m_welcome; }
    void launch(const sandbox::LaunchSpec &spec) override;
    void send(const QString &id, const QByteArray &bytes) override;
    void closeInput() override;
    void acknowledge(sandbox::Offsets) override {}
    void signalHarness(int signal) override;
    void killHarness() override;

private:
    void takeInput(const QByteArray &line);
    void takeRequest(const QString &requestId, const QString &subtype, const QString &value);
    void startTurn();
    void play();
    bool mustWait(const replay::Entry &entry);
    void perform(const replay::Entry &entry);
    void finishTurn();
    void interrupt(const QString &requestId);
    void emitLine(const QByteArray &json);
    void answer(const QString &requestId, const QByteArray &response);
    void end(int code);
    void later(std::function<void()> action);

    QString m_path;
    double m_speed;
    sandbox::Welcome m_welcome;
    replay::Recording m_recording;
    QByteArray m_sessionId;
    QHash<QByteArray, QByteArray> m_names; // recorded id -> the one used now
    bool m_alive = false;
    bool m_inTurn = false;
    qsizetype m_nextTurn = 0;
    int m_waitingPrompts = 0;
    QList<replay::Entry> m_entries; // of what is played now
    qsizetype m_at = 0;
    double m_clock = 0; // seconds of the recording
    QTimer m_timer;
    QString m_initializeId;
    QSet<QString> m_applied;           // input ids
    QSet<QString> m_asked;             // request ids of ours that wait for an answer
    QHash<QString, QString> m_answers; // request id -> "allow", "deny" or empty
    QString m_decision;                // newest one about a tool
    quint64 m_outputOffset = 0;
    quint64 m_errorOffset = 0;
};

} // namespace engine
