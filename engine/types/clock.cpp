#include "engine/types/clock.h"

#include <QTimer>
#include <limits>

namespace engine {

QDateTime SystemClock::now() const
{
    return QDateTime::currentDateTimeUtc();
}

void SystemClock::callAt(const QDateTime &when, QObject *context, std::function<void()> callback)
{
    // QTimer takes an int of milliseconds: a far date is reached in hops, which also absorbs suspend and clock jumps.
    constexpr qint64 longestHop = 60 * 1000;
    const qint64 wait = qMax<qint64>(0, now().msecsTo(when));
    if (wait > longestHop) {
        QTimer::singleShot(longestHop, context,
                           [this, when, context, callback = std::move(callback)] { callAt(when, context, callback); });
        return;
    }
    QTimer::singleShot(int(wait), Qt::PreciseTimer, context, std::move(callback));
}

} // namespace engine
