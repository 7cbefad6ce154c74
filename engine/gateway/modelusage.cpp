#include "engine/gateway/modelusage.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using nlohmann::json;

constexpr qsizetype keptBytes = 8 * 1024 * 1024; // a longer reply of one object is not read

void readNumber(const json &object, const char *key, qint64 &to)
{
    const auto at = object.find(key);
    if (at != object.end() && at->is_number_integer())
        to = at->get<qint64>();
}

void readUsage(const json &usage, ModelUsage &to)
{
    readNumber(usage, "input_tokens", to.inputTokens);
    readNumber(usage, "output_tokens", to.outputTokens);
    readNumber(usage, "prompt_tokens", to.inputTokens);
    readNumber(usage, "completion_tokens", to.outputTokens);
    readNumber(usage, "cache_read_input_tokens", to.cacheReadTokens);
    readNumber(usage, "cache_creation_input_tokens", to.cacheWriteTokens);
    // OpenAI counts what came from the cache within the input.
    const auto details = usage.find("input_tokens_details");
    if (details != usage.end() && details->is_object()) {
        readNumber(*details, "cached_tokens", to.cacheReadTokens);
        to.inputTokens -= to.cacheReadTokens;
    }
}

} // namespace

void UsageReader::begin(bool isEventStream)
{
    m_isEventStream = isEventStream;
    m_rest.clear();
    m_usage = {};
}

void UsageReader::feed(const QByteArray &bytes)
{
    if (m_rest.size() + bytes.size() > keptBytes)
        m_rest.clear();
    m_rest += bytes;
    if (!m_isEventStream)
        return;
    qsizetype start = 0;
    for (qsizetype end = m_rest.indexOf('\n'); end >= 0; end = m_rest.indexOf('\n', start)) {
        const QByteArray line = m_rest.mid(start, end - start).trimmed();
        start = end + 1;
        // Most events carry text and no numbers.
        if (line.startsWith("data:") && line.contains("\"usage\""))
            readObject(line.mid(5));
    }
    m_rest.remove(0, start);
}

void UsageReader::finish()
{
    if (!m_isEventStream)
        readObject(m_rest);
    m_rest.clear();
}

void UsageReader::readObject(const QByteArray &text)
{
    const json parsed = json::parse(text.begin(), text.end(), nullptr, false);
    if (!parsed.is_object())
        return;
    for (const char *place : {"/usage", "/message/usage", "/response/usage"}) {
        const json::json_pointer pointer(place);
        if (parsed.contains(pointer) && parsed.at(pointer).is_object())
            readUsage(parsed.at(pointer), m_usage);
    }
}

} // namespace engine
