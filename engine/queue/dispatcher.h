#pragma once

#include "engine/feed.h"
#include "engine/stores.h"

#include <QObject>
#include <QTimer>

namespace engine {

// Claims what may run and hands it over. Woken at every commit that can free a line; the poll is only a fallback.
// Engine thread.
class Dispatcher final : public QObject
{
    Q_OBJECT

public:
    Dispatcher(Stores &stores, Feed &feed, Clock &clock, QString owner, int pollMs);

    void start();
    void stop();
    // At most once per event loop turn, in the next one.
    void wake();
    void setMaxConcurrency(int runs) { m_maxConcurrency = runs; }
    int maxConcurrency() const { return m_maxConcurrency; }

signals:
    void claimed(const engine::Run &run);

private:
    void claimAll();

    Stores &m_stores;
    Feed &m_feed;
    Clock &m_clock;
    QString m_owner;
    QTimer m_poll;
    int m_maxConcurrency = 4;
    bool m_running = false;
    bool m_woken = false;
    bool m_failing = false;
};

} // namespace engine
