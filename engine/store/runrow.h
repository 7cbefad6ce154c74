#pragma once

#include "engine/store/row.h"
#include "engine/types/run.h"

namespace engine {

// A row of `run.select`, with position and waitingFor filled in.
Run runOf(const Row &row);
// Steps as the comma-separated JSON objects that the statements put into a run's list; empty for none.
QString stepsText(const QList<RunStep> &steps);

} // namespace engine
