#include "engine/harness/claude/texttracker.h"

namespace engine::claude {
namespace {

QString textKey(const QString &messageId, int index)
{
    return messageId + u':' + QString::number(index);
}

} // namespace

QList<HarnessEvent> TextTracker::drop(Open &open, int from)
{
    QList<HarnessEvent> events;
    for (auto it = open.live.lowerBound(from); it != open.live.end(); it = open.live.erase(it))
        events.append(TextDropped{it.value()});
    return events;
}

QList<HarnessEvent> TextTracker::apply(const StreamEvent &event)
{
    Open &open = m_streams[event.parent];
    QList<HarnessEvent> events;
    const auto text = [&](BlockKind kind) {
        if (event.text.isEmpty())
            return;
        const QString key = textKey(open.messageId, event.index);
        open.live.insert(event.index, key);
        events.append(TextDelta{key, kind, event.text});
    };
    switch (event.kind) {
    case StreamEvent::Kind::MessageStart:
        events = drop(open);
        open = {event.messageId, {}, {}};
        break;
    case StreamEvent::Kind::BlockStart:
        open.started.insert(event.index, event.blockType);
        text(event.blockType == u"thinking" ? BlockKind::Thinking : BlockKind::Answer);
        break;
    case StreamEvent::Kind::Delta:
        text(event.deltaKind);
        break;
    case StreamEvent::Kind::MessageStop:
        if (event.abandonedFrom >= 0)
            events = drop(open, event.abandonedFrom);
        break;
    case StreamEvent::Kind::Other:
        break;
    }
    return events;
}

int TextTracker::indexOf(Open &open, const AssistantLine &line, const QString &type)
{
    int &next = m_next[line.messageId];
    int index = next;
    if (open.messageId == line.messageId) {
        for (auto it = open.started.lowerBound(next); it != open.started.end(); ++it) {
            if (it.value() == type) {
                index = it.key();
                break;
            }
        }
    }
    next = index + 1;
    return index;
}

QList<HarnessEvent> TextTracker::apply(const AssistantLine &line)
{
    Open &open = m_streams[line.parent];
    QList<HarnessEvent> events;
    // A repeat without streaming: the whole answer comes under another id than what streamed.
    if (open.messageId != line.messageId)
        events = drop(open);
    for (const ContentBlock &block : line.blocks) {
        const int index = indexOf(open, line, block.type);
        const QString live = open.messageId == line.messageId ? open.live.take(index) : QString();
        if (block.type == u"tool_use") {
            events.append(ToolStarted{block.toolUseId, block.toolName, block.input.isEmpty() ? "{}" : block.input, line.parent});
        } else if ((block.type == u"text" || block.type == u"thinking") && !block.text.isEmpty()) {
            events.append(TextCompleted{textKey(line.messageId, index),
                                        block.type == u"text" ? BlockKind::Answer : BlockKind::Thinking, block.text,
                                        line.parent});
        } else if (!live.isEmpty()) {
            events.append(TextDropped{live});
        }
    }
    return events;
}

QList<HarnessEvent> TextTracker::dropPartial()
{
    QList<HarnessEvent> events;
    for (Open &open : m_streams)
        events += drop(open);
    return events;
}

void TextTracker::clear()
{
    m_streams.clear();
    // Keys stay unique within the session also for messages that came without an id.
    m_next.removeIf([](const auto &entry) { return !entry.key().isEmpty(); });
}

} // namespace engine::claude
