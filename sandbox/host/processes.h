#pragma once

#include <QCoroTask>
#include <QList>
#include <QString>
#include <chrono>

namespace sandbox {

// True once the process is gone (at once when there is none), false after the limit.
QCoro::Task<bool> untilGone(qint64 pid, std::chrono::milliseconds limit);
// Living processes that carry this worker's variable in their environment, with everything below them.
QList<qint64> processesOfWorker(const QString &socketPath);
// Kills those until none is left. False when some could not be ended.
QCoro::Task<bool> endProcessesOfWorker(QString socketPath);

} // namespace sandbox
