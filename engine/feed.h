#pragma once

#include "engine/types/clock.h"
#include "engine/types/feed.h"

#include <QElapsedTimer>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <functional>

namespace engine {

struct Stores;

// Gathers what changed and hands it on as batches: the first change after a pause and the first words of a text at once,
// all else at most once each 16 ms. Sessions are noted by id and read once when the batch leaves. Engine thread.
class Feed final : public QObject
{
    Q_OBJECT

public:
    Feed(Stores &stores, const Clock &clock);

    // Tells whether a session's harness process is alive; set by the session host.
    void setWarmth(std::function<bool(const SessionId &)> isWarm) { m_isWarm = std::move(isWarm); }
    bool isWarm(const SessionId &id) const { return m_isWarm && m_isWarm(id); }

    void noteSession(const SessionId &id);
    void noteRemoved(const SessionId &id);
    void noteRun(const Run &run);
    void noteApproval(const Approval &approval);
    void noteBlocks(const QList<Block> &blocks);
    void noteLive(const LiveText &text);
    void noteAgent(const Agent &agent);
    void noteNotice(const Notice &notice);
    void noteSettings();
    void noteComputers();
    void noteImageProgress(const ImageProgress &progress);
    void flush();

signals:
    void batchReady(const engine::FeedBatch &batch);
    // At once, for those inside the engine that wait for a run.
    void runNoted(const engine::Run &run);

private:
    void schedule();
    void noteWaiting(const SessionId &id);

    Stores &m_stores;
    const Clock &m_clock;
    std::function<bool(const SessionId &)> m_isWarm;
    FeedBatch m_batch;
    QSet<SessionId> m_sessions;
    QSet<SessionId> m_lines; // whose runs moved: the waiting ones have new places and reasons
    Counts m_counts;
    bool m_countsStale = true;
    QTimer m_timer;
    QElapsedTimer m_sinceFlush;
    quint64 m_number = 0;
};

} // namespace engine
