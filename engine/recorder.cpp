#include "engine/recorder.h"

namespace engine {
namespace {

constexpr int groupRows = 100;
constexpr int groupMs = 20;
constexpr int retryMs = 250;

} // namespace

Recorder::Recorder(Stores &stores, Feed &feed, const Clock &clock, SessionId session)
    : m_stores(stores), m_feed(feed), m_clock(clock), m_session(std::move(session))
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &Recorder::flushLater);
}

void Recorder::setRun(const RunId &run, int attempt)
{
    m_run = run;
    m_attempt = attempt;
}

void Recorder::received(RawLine::Direction direction, const QByteArray &line)
{
    RawLine raw;
    raw.sessionId = m_session;
    raw.runId = m_run;
    raw.attempt = m_attempt;
    raw.generation = m_channel.generation;
    raw.at = m_clock.now();
    raw.direction = direction;
    raw.bytes = m_redactor.redacted(line);
    m_batch.raw.append(raw);
    schedule();
}

void Recorder::setOffsets(sandbox::Offsets offsets)
{
    m_channel.outputOffset = offsets.output;
    m_channel.errorOffset = offsets.errorOutput;
    m_offsetsMoved = true;
    schedule();
}

void Recorder::event(const QString &kind, const QString &text)
{
    if (m_run.isEmpty())
        return; // a process made ready in advance belongs to no run yet
    RunEvent event;
    event.sessionId = m_session;
    event.runId = m_run;
    event.attempt = m_attempt;
    event.at = m_clock.now();
    event.kind = kind;
    event.text = m_redactor.redacted(text);
    m_batch.events.append(event);
    schedule();
}

void Recorder::add(Block block)
{
    block.sessionId = m_session;
    if (block.runId.isEmpty())
        block.runId = m_run;
    if (!block.at.isValid())
        block.at = m_clock.now();
    m_batch.newBlocks.append(cleaned(block));
    schedule();
}

Block Recorder::cleaned(Block block) const
{
    block.text = m_redactor.redacted(block.text);
    block.input = m_redactor.redacted(block.input);
    block.output = m_redactor.redacted(block.output);
    return block;
}

void Recorder::change(const Block &changed)
{
    const Block block = cleaned(changed);
    // A block that is not stored yet is changed where it waits.
    for (Block &waiting : m_batch.newBlocks) {
        if (waiting.key == block.key) {
            waiting = block;
            return;
        }
    }
    for (Block &waiting : m_batch.changedBlocks) {
        if (waiting.key == block.key) {
            waiting = block;
            return;
        }
    }
    m_batch.changedBlocks.append(block);
    schedule();
}

void Recorder::close()
{
    m_closed = true;
    m_batch = {};
    m_offsetsMoved = false;
    m_timer.stop();
}

bool Recorder::hasPending() const
{
    return m_offsetsMoved || !m_batch.raw.isEmpty() || !m_batch.events.isEmpty() || !m_batch.newBlocks.isEmpty() ||
           !m_batch.changedBlocks.isEmpty();
}

void Recorder::schedule()
{
    if (m_closed) {
        m_batch = {};
        m_offsetsMoved = false;
        return;
    }
    if (m_failing)
        return;
    if (m_batch.raw.size() + m_batch.events.size() + m_batch.newBlocks.size() >= groupRows) {
        m_timer.start(0);
        return;
    }
    if (!m_timer.isActive())
        m_timer.start(groupMs);
}

Result<void> Recorder::flush(const std::function<Result<void>()> &more)
{
    const Result<void> stored = store(more);
    if (!stored && hasPending() && !m_timer.isActive())
        m_timer.start(retryMs);
    return stored;
}

Result<void> Recorder::store(const std::function<Result<void>()> &more)
{
    Result<Transaction> transaction = Transaction::begin(m_stores.database);
    if (!transaction)
        return tl::unexpected<Error>(transaction.error());
    AppendedEvents appended;
    if (hasPending()) {
        EventBatch batch = m_batch;
        batch.sessionId = m_session;
        batch.launch = m_channel.launch;
        if (m_offsetsMoved)
            batch.channel = m_channel;
        Result<AppendedEvents> done = m_stores.events.append(batch);
        if (!done)
            return tl::unexpected<Error>(done.error());
        appended = *done;
    }
    if (more) {
        if (Result<void> done = more(); !done)
            return done;
    }
    if (Result<void> committed = transaction->commit(); !committed)
        return committed;

    m_timer.stop();
    m_batch = {};
    m_failing = false;
    if (!appended.newBlocks.isEmpty() || !appended.changedBlocks.isEmpty()) {
        m_feed.noteBlocks(appended.newBlocks + appended.changedBlocks);
        m_feed.noteSession(m_session);
    }
    if (std::exchange(m_offsetsMoved, false))
        emit stored({m_channel.outputOffset, m_channel.errorOffset});
    return {};
}

void Recorder::flushLater()
{
    const Result<void> flushed = flush();
    if (flushed)
        return;
    if (!m_failing) {
        m_failing = true;
        emit storageFailed(flushed.error());
    }
    m_timer.start(retryMs);
}

} // namespace engine
