#include "models/transcriptmodel.h"

#include "models/reply.h"
#include <algorithm>

namespace models {

TranscriptModel::TranscriptModel(engine::EngineClient &client, QObject *parent) : QObject(parent), m_client(client)
{
    connect(&m_client, &engine::EngineClient::fed, this, &TranscriptModel::apply);
}

void TranscriptModel::open(const engine::SessionId &id, qint64 expected)
{
    ++m_epoch;
    m_session = id;
    m_loaded = false;
    m_total = 0;
    m_pages.clear();
    m_wanted.clear();
    m_inFlight.clear();
    m_failed.clear();
    m_newer.clear();
    m_live.clear();
    emit wasReset();
    if (!id.isEmpty())
        want(std::max<qint64>(0, expected - 1) / pageSize);
}

const engine::Block *TranscriptModel::cached(qint64 position) const
{
    if (position < 0 || position >= m_total)
        return nullptr;
    const auto page = m_pages.constFind(position / pageSize);
    const qint64 index = position % pageSize;
    return page != m_pages.cend() && index < page->blocks.size() ? &page->blocks.at(index) : nullptr;
}

const engine::Block *TranscriptModel::blockAt(qint64 position)
{
    if (position < 0 || position >= m_total)
        return nullptr;
    const auto page = m_pages.find(position / pageSize);
    if (page != m_pages.end() && position % pageSize < page->blocks.size()) {
        page->used = ++m_uses;
        return &std::as_const(page->blocks).at(position % pageSize);
    }
    want(position / pageSize);
    return nullptr;
}

void TranscriptModel::retry()
{
    const QSet<qint64> pages = std::exchange(m_failed, {});
    for (qint64 page : pages)
        want(page);
}

void TranscriptModel::want(qint64 page)
{
    if (m_inFlight.contains(page) || m_failed.contains(page))
        return;
    m_wanted.removeOne(page);
    m_wanted.prepend(page);
    // A fast scroll passes pages nobody looks at any more.
    if (m_wanted.size() > 2 * maxFetches)
        m_wanted.resize(2 * maxFetches);
    fetchNext();
}

void TranscriptModel::fetchNext()
{
    while (!m_wanted.isEmpty() && m_inFlight.size() < maxFetches) {
        const qint64 page = m_wanted.takeFirst();
        m_inFlight.insert(page);
        const int epoch = m_epoch;
        models::onReply(m_client.blocks(m_session, page * pageSize, pageSize), this, [this, page, epoch](const engine::Result<engine::BlockPage> &result) {
                if (epoch == m_epoch)
                    receive(page, result);
            });
    }
}

void TranscriptModel::receive(qint64 page, const engine::Result<engine::BlockPage> &result)
{
    m_inFlight.remove(page);
    if (!result) {
        m_failed.insert(page);
        emit failed(result.error());
        fetchNext();
        return;
    }
    const qint64 first = page * pageSize;
    m_pages.insert(page, Page{result->blocks, ++m_uses});
    const bool firstAnswer = !m_loaded;
    m_loaded = true;
    const qint64 before = m_total;
    m_total = std::max(m_total, result->total);
    const QMap<qint64, engine::Block> newer = std::exchange(m_newer, {});
    for (const engine::Block &block : newer) {
        if (block.position / pageSize != page && m_inFlight.contains(block.position / pageSize))
            m_newer.insert(block.position, block);
        applyBlock(block);
    }
    for (const engine::Block &block : result->blocks)
        removeLive(block.key);
    evict();
    if (firstAnswer) {
        emit wasReset();
    } else {
        if (m_total > before)
            emit appended(before, m_total - before);
        emit changed(first, m_pages.value(page).blocks.size());
    }
    // The guess of the length may have been wrong: what is looked at first is the end.
    if (firstAnswer && m_total > 0)
        blockAt(m_total - 1);
    fetchNext();
}

void TranscriptModel::evict()
{
    while (m_pages.size() > maxPages) {
        auto oldest = m_pages.begin();
        for (auto page = m_pages.begin(); page != m_pages.end(); ++page) {
            if (page->used < oldest->used)
                oldest = page;
        }
        m_pages.erase(oldest);
    }
}

void TranscriptModel::apply(const engine::FeedBatch &batch)
{
    if (m_session.isEmpty())
        return;
    bool liveTouched = false;
    for (const engine::LiveText &text : batch.live) {
        if (text.sessionId == m_session)
            liveTouched |= applyLive(text);
    }
    const qint64 before = m_total;
    QList<qint64> changedRows;
    for (const engine::Block &block : batch.blocks) {
        if (block.sessionId != m_session || block.position < 0)
            continue;
        liveTouched |= removeLive(block.key);
        if (!m_loaded || m_inFlight.contains(block.position / pageSize))
            m_newer.insert(block.position, block);
        if (!m_loaded)
            continue;
        if (block.position < before)
            changedRows.append(block.position);
        applyBlock(block);
    }
    for (const engine::Run &run : batch.runs) {
        if (run.sessionId == m_session && engine::isTerminal(run.state))
            liveTouched |= m_live.removeIf([&run](const LiveRow &row) { return row.runId == run.id; }) > 0;
    }
    evict();
    if (m_total > before)
        emit appended(before, m_total - before);
    for (qint64 row : std::as_const(changedRows))
        emit changed(row, 1);
    if (liveTouched)
        emit liveChanged();
}

void TranscriptModel::applyBlock(const engine::Block &block)
{
    const qint64 page = block.position / pageSize;
    const qint64 index = block.position % pageSize;
    m_total = std::max(m_total, block.position + 1);
    if (index == 0 && !m_pages.contains(page))
        m_pages.insert(page, Page{{}, ++m_uses});
    const auto found = m_pages.find(page);
    if (found == m_pages.end())
        return;
    if (index < found->blocks.size())
        found->blocks[index] = block;
    else if (index == found->blocks.size())
        found->blocks.append(block);
    // A gap: the rows between are asked for when they are looked at.
}

bool TranscriptModel::applyLive(const engine::LiveText &text)
{
    if (text.dropped)
        return removeLive(text.key);
    auto row = std::find_if(m_live.begin(), m_live.end(), [&](const LiveRow &r) { return r.key == text.key; });
    if (row == m_live.end()) {
        m_live.append(LiveRow{text.key, text.runId, text.kind, text.offset, {}});
        row = m_live.end() - 1;
    }
    row->kind = text.kind;
    const qsizetype at = text.offset - row->base;
    if (at < 0 || at > row->text.size()) {
        row->base = text.offset;
        row->text = text.text;
    } else {
        row->text.truncate(at);
        row->text += text.text;
    }
    return true;
}

bool TranscriptModel::removeLive(const QString &key)
{
    return !key.isEmpty() && m_live.removeIf([&key](const LiveRow &row) { return row.key == key; }) > 0;
}

} // namespace models
