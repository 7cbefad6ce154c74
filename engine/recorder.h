#pragma once

#include "engine/feed.h"
#include "engine/stores.h"
#include "engine/types/redactor.h"
#include "sandbox/channel.h"

#include <QObject>
#include <QTimer>
#include <functional>

namespace engine {

// Stores what passes between engine and one session's harness: raw lines, events, transcript blocks and the stream
// offsets they bring us to, always together, so that a crash neither loses nor doubles a line. Group commit: 100 rows
// or 20 ms. While the store refuses, everything is kept in memory, nothing is acknowledged to the worker, and it is
// tried again. Engine thread.
class Recorder final : public QObject
{
    Q_OBJECT

public:
    Recorder(Stores &stores, Feed &feed, const Clock &clock, SessionId session);

    // The process whose streams are recorded from now on.
    void setChannel(const ChannelState &state) { m_channel = state; }
    const ChannelState &channel() const { return m_channel; }
    // The run that lines and blocks belong to; an empty id: none.
    void setRun(const RunId &run, int attempt);
    // Values that must never reach the store.
    void addSecret(const QString &secret) { m_redactor.add(secret); }
    const Redactor &redactor() const { return m_redactor; }
    const RunId &run() const { return m_run; }
    int attempt() const { return m_attempt; }

    void received(RawLine::Direction direction, const QByteArray &line);
    void setOffsets(sandbox::Offsets offsets);
    void event(const QString &kind, const QString &text = {});
    void add(Block block);           // appended; identified later by its key
    void change(const Block &changed); // by session and key
    bool hasPending() const;
    // The session is deleted: nothing of it is recorded any more.
    void close();

    // Everything pending in one transaction, with `more` in the same one; on failure nothing of both is stored and
    // what was pending stays pending.
    Result<void> flush(const std::function<Result<void>()> &more = {});

signals:
    // These bytes are safe: the worker may forget them.
    void stored(sandbox::Offsets offsets);
    void storageFailed(const engine::Error &error);

private:
    void schedule();
    Block cleaned(Block block) const;
    void flushLater();
    Result<void> store(const std::function<Result<void>()> &more);

    Stores &m_stores;
    Feed &m_feed;
    const Clock &m_clock;
    SessionId m_session;
    RunId m_run;
    int m_attempt = 0;
    Redactor m_redactor;
    ChannelState m_channel;
    EventBatch m_batch;
    bool m_offsetsMoved = false;
    bool m_failing = false;
    bool m_closed = false;
    QTimer m_timer;
};

} // namespace engine
