#pragma once

#include "engine/engineoptions.h"
#include "engine/stores.h"

namespace engine {

class Feed;

// An empty store gets an agent for Claude Code and, in demo mode, the replay agents of the demo product.
Result<void> installAgents(Stores &stores, const Clock &clock, const EngineOptions &options);
// Demo mode on a store without sessions: opens the demo sessions and submits their prompts. They need no key, network
// or container.
void startDemo(Stores &stores, const Clock &clock, Feed &feed);
// JSON for the built-in tool: what a model may know of the session it runs in.
QByteArray describeSession(Stores &stores, const QString &nativeSessionId);

} // namespace engine
