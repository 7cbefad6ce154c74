#pragma once

#include "engine/types/clock.h"

#include <QPointer>
#include <algorithm>
#include <mutex>
#include <vector>

// Time for tests. Shared by the test's thread, which moves it, and the engine's, which waits on it: callbacks are
// posted to the thread of their context.
class FakeTime
{
public:
    QDateTime now() const
    {
        const std::lock_guard guard(m_mutex);
        return m_now;
    }
    void callAt(const QDateTime &when, QObject *context, std::function<void()> callback)
    {
        {
            const std::lock_guard guard(m_mutex);
            if (when > m_now) {
                m_calls.push_back({when, context, std::move(callback)});
                return;
            }
        }
        QMetaObject::invokeMethod(context, std::move(callback), Qt::QueuedConnection);
    }
    void advance(qint64 ms)
    {
        std::vector<Call> due;
        {
            const std::lock_guard guard(m_mutex);
            m_now = m_now.addMSecs(ms);
            const auto first = std::stable_partition(m_calls.begin(), m_calls.end(),
                                                     [this](const Call &call) { return call.when > m_now; });
            due.assign(first, m_calls.end());
            m_calls.erase(first, m_calls.end());
        }
        std::stable_sort(due.begin(), due.end(), [](const Call &a, const Call &b) { return a.when < b.when; });
        for (Call &call : due) {
            if (call.context)
                QMetaObject::invokeMethod(call.context, std::move(call.callback), Qt::QueuedConnection);
        }
    }

private:
    struct Call
    {
        QDateTime when;
        QPointer<QObject> context;
        std::function<void()> callback;
    };
    mutable std::mutex m_mutex;
    QDateTime m_now = QDateTime(QDate(2026, 12, 1), QTime(9, 0), Qt::UTC);
    std::vector<Call> m_calls;
};

class FakeClock final : public engine::Clock
{
public:
    explicit FakeClock(std::shared_ptr<FakeTime> time) : m_time(std::move(time)) {}
    QDateTime now() const override { return m_time->now(); }
    void callAt(const QDateTime &when, QObject *context, std::function<void()> callback) override
    {
        m_time->callAt(when, context, std::move(callback));
    }

private:
    std::shared_ptr<FakeTime> m_time;
};
