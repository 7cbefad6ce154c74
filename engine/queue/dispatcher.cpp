#include "engine/queue/dispatcher.h"

namespace engine {

Dispatcher::Dispatcher(Stores &stores, Feed &feed, Clock &clock, QString owner, int pollMs)
    : m_stores(stores), m_feed(feed), m_clock(clock), m_owner(std::move(owner))
{
    m_poll.setInterval(pollMs);
    connect(&m_poll, &QTimer::timeout, this, &Dispatcher::claimAll);
}

void Dispatcher::start()
{
    m_running = true;
    m_poll.start();
    wake();
}

void Dispatcher::stop()
{
    m_running = false;
    m_poll.stop();
}

void Dispatcher::wake()
{
    if (std::exchange(m_woken, true))
        return;
    QMetaObject::invokeMethod(this, &Dispatcher::claimAll, Qt::QueuedConnection);
}

void Dispatcher::claimAll()
{
    m_woken = false;
    while (m_running) {
        const Result<std::optional<Run>> run = m_stores.runs.claimNext(m_owner, m_clock.now(), m_maxConcurrency);
        if (!run) {
            // Told once, not at every poll.
            if (!std::exchange(m_failing, true))
                m_feed.noteNotice({Notice::Level::Error, tr("The queue can't be read; waiting runs stay where they are."),
                                   run.error().message, {}});
            return;
        }
        m_failing = false;
        if (!*run) {
            if (const auto next = m_stores.runs.nextAvailable(m_clock.now()); next && *next)
                m_clock.callAt(**next, this, [this] { wake(); });
            return;
        }
        m_feed.noteRun(**run);
        emit claimed(**run);
    }
}

} // namespace engine
