#pragma once

#include <QDateTime>
#include <QObject>
#include <functional>

namespace engine {

// Time as the engine sees it; tests move a FakeClock instead of sleeping. Lives in the engine thread.
class Clock
{
public:
    virtual ~Clock() = default;
    // UTC, millisecond precision.
    virtual QDateTime now() const = 0;
    // Calls back once in the engine thread at or soon after `when`; dropped silently when `context` dies first.
    virtual void callAt(const QDateTime &when, QObject *context, std::function<void()> callback) = 0;
};

class SystemClock final : public Clock
{
public:
    QDateTime now() const override;
    void callAt(const QDateTime &when, QObject *context, std::function<void()> callback) override;
};

} // namespace engine
