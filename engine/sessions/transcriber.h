#pragma once

#include "engine/harness/events.h"
#include "engine/recorder.h"

#include <QHash>

namespace engine {

// Turns a harness's events into transcript blocks, timeline events and live text. Engine thread.
class Transcriber final
{
public:
    Transcriber(Recorder &recorder, Feed &feed, Stores &stores, const Clock &clock, SessionId session);

    void apply(const HarnessEvent &event);
    // Only follows what streams and which tools are open, from lines that are stored already.
    void rebuild(const HarnessEvent &event, const QDateTime &at);
    // Shows again what was streaming when the engine before this one ended.
    void publishLive();
    // The process or the turn is gone: nothing streams any more and no tool runs.
    void closeOpen(const QString &reason);

private:
    void textDelta(const TextDelta &delta);
    void dropLive(const QString &key);
    void textCompleted(const TextCompleted &text);
    void toolStarted(const ToolStarted &tool);
    void toolEnded(const ToolEnded &tool);
    void retry(const RetryAnnounced &retry);
    void note(BlockKind kind, const QString &text, const QString &key = {});

    Recorder &m_recorder;
    Feed &m_feed;
    Stores &m_stores;
    const Clock &m_clock;
    SessionId m_session;
    QHash<QString, LiveText> m_live; // whole text so far, by key
    QHash<QString, Block> m_tools;   // running, by tool use id
    Block m_retryNote;               // one block tells of all retries of a request
};

} // namespace engine
