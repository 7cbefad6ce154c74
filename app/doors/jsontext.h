#pragma once

#include "engine/types/agent.h"
#include "engine/types/approval.h"
#include "engine/types/block.h"
#include "engine/types/error.h"
#include "engine/types/feed.h"
#include "engine/types/run.h"
#include "engine/types/session.h"

namespace app {

// The documents of --json: one object or array each, times as ISO 8601 UTC, absent times as null.
QString jsonText(const engine::Error &error);
QString jsonText(const engine::Session &session, const QList<engine::Run> &runs, const QList<engine::Block> &blocks);
QString jsonText(const engine::Run &run, const QString &answer, const QList<engine::Approval> &pending);
QString jsonText(const engine::Approval &approval);
QString jsonText(const engine::Resolved &resolved);
QString jsonText(const engine::Continued &continued);
QString jsonText(const QList<engine::Session> &sessions);
QString jsonText(const QList<engine::Approval> &approvals);
QString jsonText(const QList<engine::Agent> &agents);
QString jsonText(const QList<engine::Finding> &findings);
QString jsonText(const QList<engine::Computer> &computers);
QString jsonText(const QList<engine::Leftover> &leftovers);
QString jsonText(const QList<engine::AgentImage> &images);
QString jsonText(const engine::ImageProgress &end);

} // namespace app
