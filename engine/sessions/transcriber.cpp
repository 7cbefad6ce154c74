#include "engine/sessions/transcriber.h"

namespace engine {
namespace {

template <class... Ts> struct overloaded : Ts...
{
    using Ts::operator()...;
};
template <class... Ts> overloaded(Ts...) -> overloaded<Ts...>;

} // namespace

Transcriber::Transcriber(Recorder &recorder, Feed &feed, Stores &stores, const Clock &clock, SessionId session)
    : m_recorder(recorder), m_feed(feed), m_stores(stores), m_clock(clock), m_session(std::move(session))
{
}

void Transcriber::apply(const HarnessEvent &event)
{
    std::visit(overloaded{
                   [this](const TextDelta &delta) { textDelta(delta); },
                   [this](const TextDropped &dropped) { dropLive(dropped.key); },
                   [this](const TextCompleted &text) { textCompleted(text); },
                   [this](const ToolStarted &tool) { toolStarted(tool); },
                   [this](const ToolEnded &tool) { toolEnded(tool); },
                   [this](const RetryAnnounced &announced) { retry(announced); },
                   [this](const NoteSeen &seen) { note(seen.warning ? BlockKind::Warning : BlockKind::Note, seen.text); },
                   [this](const ModelChanged &changed) { m_recorder.event(QStringLiteral("ModelChanged"), changed.model); },
                   [this](const ModeChanged &changed) { m_recorder.event(QStringLiteral("ModeChanged"), changed.mode); },
                   [this](const UnknownLine &unknown) {
                       Block block;
                       block.kind = BlockKind::Unknown;
                       block.toolName = unknown.summary;
                       block.text = QString::fromUtf8(unknown.line);
                       m_recorder.add(block);
                       m_recorder.event(QStringLiteral("UnknownLine"), unknown.summary);
                   },
                   [](const auto &) {},
               },
               event);
}

void Transcriber::rebuild(const HarnessEvent &event, const QDateTime &at)
{
    std::visit(overloaded{
                   [this](const TextDelta &delta) {
                       LiveText &live = m_live[delta.key];
                       live.sessionId = m_session;
                       live.runId = m_recorder.run();
                       live.key = delta.key;
                       live.kind = delta.kind;
                       live.text += delta.text;
                   },
                   [this](const TextDropped &dropped) { m_live.remove(dropped.key); },
                   [this](const TextCompleted &text) { m_live.remove(text.key); },
                   [this, at](const ToolStarted &tool) {
                       const auto block = m_stores.events.blockByKey(m_session, tool.toolUseId);
                       if (block && *block) {
                           Block open = **block;
                           open.at = at;
                           m_tools.insert(tool.toolUseId, open);
                       }
                   },
                   [this](const ToolEnded &tool) { m_tools.remove(tool.toolUseId); },
                   [](const auto &) {},
               },
               event);
}

void Transcriber::publishLive()
{
    for (const LiveText &live : std::as_const(m_live))
        m_feed.noteLive(live);
}

void Transcriber::closeOpen(const QString &reason)
{
    const QStringList live = m_live.keys();
    for (const QString &key : live) {
        // What was shown stays: it is all that is left of the unfinished answer.
        LiveText text = m_live.value(key);
        if (!text.text.trimmed().isEmpty())
            textCompleted({key, text.kind, text.text, {}});
        else
            dropLive(key);
    }
    const QList<Block> tools = m_tools.values();
    for (const Block &tool : tools)
        toolEnded({tool.key, ToolState::Failed, reason});
    m_retryNote = {};
}

void Transcriber::textDelta(const TextDelta &delta)
{
    LiveText &live = m_live[delta.key];
    if (live.key.isEmpty()) {
        live.sessionId = m_session;
        live.runId = m_recorder.run();
        live.key = delta.key;
        live.kind = delta.kind;
    }
    LiveText chunk = live;
    chunk.offset = live.text.size();
    chunk.text = delta.text;
    live.text += delta.text;
    m_retryNote = {};
    m_feed.noteLive(chunk);
}

void Transcriber::dropLive(const QString &key)
{
    if (!m_live.contains(key))
        return;
    LiveText live = m_live.take(key);
    live.text.clear();
    live.offset = 0;
    live.dropped = true;
    m_feed.noteLive(live);
}

void Transcriber::textCompleted(const TextCompleted &text)
{
    m_live.remove(text.key);
    m_retryNote = {};
    Block block;
    block.kind = text.kind;
    block.key = text.key;
    block.text = text.text;
    m_recorder.add(block);
}

void Transcriber::toolStarted(const ToolStarted &tool)
{
    Block block;
    block.sessionId = m_session;
    block.runId = m_recorder.run();
    block.kind = BlockKind::Tool;
    block.key = tool.toolUseId;
    block.toolName = tool.name;
    block.input = QString::fromUtf8(tool.input);
    block.tool = ToolState::Running;
    block.at = m_clock.now();
    m_tools.insert(tool.toolUseId, block);
    m_recorder.add(block);
    m_recorder.event(QStringLiteral("ToolCallStarted"), tool.name);
}

void Transcriber::toolEnded(const ToolEnded &tool)
{
    const auto found = m_tools.find(tool.toolUseId);
    if (found == m_tools.end()) {
        m_recorder.event(QStringLiteral("ToolCallCompleted"), tool.toolUseId);
        return;
    }
    Block block = found.value();
    m_tools.erase(found);
    block.tool = tool.state;
    block.output = tool.output;
    block.durationMs = block.at.msecsTo(m_clock.now());
    m_recorder.change(block);
    m_recorder.event(tool.state == ToolState::Done ? QStringLiteral("ToolCallCompleted")
                                                   : QStringLiteral("ToolCallError"),
                     block.toolName);
}

void Transcriber::retry(const RetryAnnounced &announced)
{
    const QString status = announced.status > 0 ? QStringLiteral(" (HTTP %1)").arg(announced.status) : QString();
    const QString text = QStringLiteral("The model's API did not answer%1: %2. Retry %3 of %4 in %5 s.")
                             .arg(status, announced.text.isEmpty() ? QStringLiteral("no reason given") : announced.text)
                             .arg(announced.attempt)
                             .arg(announced.maxAttempts)
                             .arg(announced.delayMs / 1000.0, 0, 'f', 1);
    m_recorder.event(QStringLiteral("ModelRetry"), text);
    if (m_retryNote.key.isEmpty()) {
        m_retryNote.sessionId = m_session;
        m_retryNote.runId = m_recorder.run();
        m_retryNote.kind = BlockKind::Warning;
        m_retryNote.key = QStringLiteral("retry:") + newIdValue("n");
        m_retryNote.at = m_clock.now();
        m_retryNote.text = text;
        m_recorder.add(m_retryNote);
        return;
    }
    m_retryNote.text = text;
    m_recorder.change(m_retryNote);
}

void Transcriber::note(BlockKind kind, const QString &text, const QString &key)
{
    Block block;
    block.kind = kind;
    block.key = key;
    block.text = text;
    m_recorder.add(block);
}

} // namespace engine
