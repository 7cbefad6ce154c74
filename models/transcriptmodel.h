#pragma once

#include "engine/engineclient.h"

#include <QHash>
#include <QMap>
#include <QSet>

namespace models {

// Text that streams behind the stored blocks. `base` counts the characters that were sent before we listened.
struct LiveRow
{
    QString key;
    engine::RunId runId;
    engine::BlockKind kind = engine::BlockKind::Answer;
    qsizetype base = 0;
    QString text;
};

// A window over one session's stored blocks: its length is known, pages come on demand and the least recently used
// ones are dropped, so memory does not follow the length. Live text stands behind the last block. GUI thread.
class TranscriptModel final : public QObject
{
    Q_OBJECT

public:
    static constexpr int pageSize = 200;
    static constexpr int maxPages = 24;
    static constexpr int maxFetches = 3;

    explicit TranscriptModel(engine::EngineClient &client, QObject *parent = nullptr);

    // `expected` is the length if known (Session::blocks): the last page is asked for first.
    void open(const engine::SessionId &id, qint64 expected = 0);
    const engine::SessionId &session() const { return m_session; }
    bool isLoaded() const { return m_loaded; }
    qint64 total() const { return m_total; }
    qint64 rows() const { return m_total + m_live.size(); }
    const QList<LiveRow> &live() const { return m_live; }
    int cachedPages() const { return int(m_pages.size()); }

    // nullptr while it is fetched. Valid until control returns to the event loop.
    const engine::Block *blockAt(qint64 position);
    // As blockAt, but never fetches.
    const engine::Block *cached(qint64 position) const;
    // Pages that could not be read are asked for again.
    void retry();

signals:
    void wasReset();
    void appended(qint64 first, qint64 count);
    void changed(qint64 first, qint64 count);
    void liveChanged();
    void failed(const engine::Error &error);

private:
    struct Page
    {
        QList<engine::Block> blocks;
        quint64 used = 0;
    };

    void apply(const engine::FeedBatch &batch);
    bool applyLive(const engine::LiveText &text);
    void applyBlock(const engine::Block &block);
    bool removeLive(const QString &key);
    void want(qint64 page);
    void fetchNext();
    void receive(qint64 page, const engine::Result<engine::BlockPage> &result);
    void evict();

    engine::EngineClient &m_client;
    engine::SessionId m_session;
    int m_epoch = 0; // answers for an earlier session are dropped
    bool m_loaded = false;
    qint64 m_total = 0;
    QHash<qint64, Page> m_pages;
    QList<qint64> m_wanted; // newest first
    QSet<qint64> m_inFlight;
    QSet<qint64> m_failed;
    QMap<qint64, engine::Block> m_newer; // fed while their page was on its way: they win over it
    QList<LiveRow> m_live;
    quint64 m_uses = 0;
};

} // namespace models
