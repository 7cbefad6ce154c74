#include "engine/feed.h"

#include "engine/stores.h"

namespace engine {
namespace {

constexpr int frameMs = 16;
constexpr int longestLine = 200;

template <class T, class Same> void replaceOrAppend(QList<T> &list, const T &value, Same same)
{
    for (T &present : list) {
        if (same(present)) {
            present = value;
            return;
        }
    }
    list.append(value);
}

QDateTime startOfLocalDay(const QDateTime &now)
{
    return now.toLocalTime().date().startOfDay().toUTC();
}

} // namespace

Feed::Feed(Stores &stores, const Clock &clock) : m_stores(stores), m_clock(clock)
{
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &Feed::flush);
    m_sinceFlush.start();
}

void Feed::noteSession(const SessionId &id)
{
    m_sessions.insert(id);
    schedule();
}

void Feed::noteRemoved(const SessionId &id)
{
    m_sessions.remove(id);
    m_batch.removedSessions.append(id);
    m_countsStale = true;
    schedule();
}

void Feed::noteRun(const Run &run)
{
    replaceOrAppend(m_batch.runs, run, [&](const Run &present) { return present.id == run.id; });
    m_countsStale = true;
    m_lines.insert(run.sessionId);
    noteSession(run.sessionId);
    emit runNoted(run);
}

void Feed::noteApproval(const Approval &approval)
{
    replaceOrAppend(m_batch.approvals, approval, [&](const Approval &present) { return present.id == approval.id; });
    m_countsStale = true;
    noteSession(approval.sessionId);
}

void Feed::noteBlocks(const QList<Block> &blocks)
{
    m_batch.blocks += blocks;
    schedule();
}

void Feed::noteLive(const LiveText &text)
{
    // Deltas of one frame join into one.
    if (!m_batch.live.isEmpty()) {
        LiveText &last = m_batch.live.last();
        if (last.sessionId == text.sessionId && last.key == text.key && !last.dropped && !text.dropped &&
            text.offset == last.offset + last.text.size()) {
            last.text += text.text;
            return;
        }
    }
    if (text.offset == 0 && !text.dropped) {
        // The first words of an answer are what a person waits for: they wait neither for a frame nor for the queries of a
        // whole batch.
        FeedBatch first;
        first.number = ++m_number;
        first.live = {text};
        first.counts = m_counts;
        emit batchReady(first);
        return;
    }
    m_batch.live.append(text);
    schedule();
}

void Feed::noteAgent(const Agent &agent)
{
    replaceOrAppend(m_batch.agents, agent, [&](const Agent &present) { return present.id == agent.id; });
    schedule();
}

void Feed::noteNotice(const Notice &notice)
{
    m_batch.notices.append(notice);
    schedule();
}

void Feed::noteComputers()
{
    m_batch.computersChanged = true;
    schedule();
}

void Feed::noteImageProgress(const ImageProgress &progress)
{
    m_batch.imageProgress.append(progress);
    schedule();
}

void Feed::noteSettings()
{
    m_batch.settingsChanged = true;
    schedule();
}

void Feed::schedule()
{
    if (m_timer.isActive())
        return;
    m_timer.start(int(qMax<qint64>(0, frameMs - m_sinceFlush.elapsed())));
}

void Feed::noteWaiting(const SessionId &id)
{
    const Result<QList<Run>> runs = m_stores.runs.list(id, longestLine);
    if (!runs)
        return; // the runs themselves were announced; places follow with the next change
    for (const Run &run : *runs) {
        if (run.state == RunState::Pending)
            replaceOrAppend(m_batch.runs, run, [&](const Run &present) { return present.id == run.id; });
    }
}

void Feed::flush()
{
    m_timer.stop();
    m_sinceFlush.restart();
    for (const SessionId &id : std::as_const(m_sessions)) {
        Result<Session> session = m_stores.sessions.get(id);
        if (session) {
            session->warm = isWarm(id);
            m_batch.sessions.append(*session);
        } else if (session.error().code != ErrorCode::NotFound) {
            m_batch.notices.append({Notice::Level::Error, session.error().message, session.error().detail, id});
        }
    }
    for (const SessionId &id : std::as_const(m_lines))
        noteWaiting(id);
    m_sessions.clear();
    m_lines.clear();
    if (m_countsStale) {
        const QDateTime now = m_clock.now();
        if (const Result<Counts> counts = m_stores.runs.counts(now, startOfLocalDay(now))) {
            m_counts = *counts;
            m_countsStale = false;
        }
    }
    FeedBatch batch;
    std::swap(batch, m_batch);
    batch.number = ++m_number;
    batch.counts = m_counts;
    emit batchReady(batch);
}

} // namespace engine
