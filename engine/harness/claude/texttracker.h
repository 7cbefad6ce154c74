#pragma once

#include "engine/harness/claude/claudemessages.h"
#include "engine/harness/events.h"

#include <QHash>
#include <QMap>

namespace engine::claude {

// Follows which text streams under which key and what replaces or voids it. Assistant lines carry one content block
// each and no index: it is found by the order within the message.
class TextTracker
{
public:
    QList<HarnessEvent> apply(const StreamEvent &event);
    QList<HarnessEvent> apply(const AssistantLine &line);
    // Everything that only streamed is void.
    QList<HarnessEvent> dropPartial();
    void clear();

private:
    struct Open
    {
        QString messageId;
        QMap<int, QString> started; // index -> block type, in this message
        QMap<int, QString> live;    // index -> key with deltas and no final text
    };

    QList<HarnessEvent> drop(Open &open, int from = 0);
    int indexOf(Open &open, const AssistantLine &line, const QString &type);

    QMap<QString, Open> m_streams; // by parent tool use id; the main conversation under ""
    QHash<QString, int> m_next;    // message id -> index behind its newest final block
};

} // namespace engine::claude
