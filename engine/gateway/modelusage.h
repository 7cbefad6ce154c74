#pragma once

#include <QByteArray>
#include <QtGlobal>

namespace engine {

// Tokens of one model request, as the API counts them.
struct ModelUsage
{
    qint64 inputTokens = 0;
    qint64 outputTokens = 0;
    qint64 cacheReadTokens = 0;
    qint64 cacheWriteTokens = 0;

    qint64 total() const { return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens; }
    bool operator==(const ModelUsage &) const = default;
};

// Reads the usage out of a reply as it passes by: a JSON object, or server-sent events. Numbers in later events replace
// those of earlier ones, as both APIs mean them. Compressed or foreign bodies give nothing.
class UsageReader final
{
public:
    void begin(bool isEventStream);
    void feed(const QByteArray &bytes);
    void finish();
    const ModelUsage &usage() const { return m_usage; }

private:
    void readObject(const QByteArray &text);

    bool m_isEventStream = false;
    QByteArray m_rest;
    ModelUsage m_usage;
};

} // namespace engine
