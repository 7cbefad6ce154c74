#pragma once

#include "engine/engineoptions.h"
#include "engine/types/feed.h"

#include <QCoroTask>

namespace engine {

struct EngineParts;

// Looks at everything a session needs: store, harness programs, keys, and the worker program. Engine thread;
// `parts` outlives the task.
QCoro::Task<Result<QList<Finding>>> examine(EngineParts &parts, const EngineOptions &options);

} // namespace engine
