#include "engine/gateway/usagemeter.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

constexpr qsizetype maxHeldBytes = 16 * 1024 * 1024;

using Json = nlohmann::json;

Json parseQuietly(QByteArrayView text)
{
    return Json::parse(text.begin(), text.end(), nullptr, false);
}

void readCount(const Json &from, const char *name, qint64 &to)
{
    const auto at = from.find(name);
    if (at != from.end() && at->is_number_integer())
        to = std::max<qint64>(at->get<qint64>(), 0);
}

void readUsage(const Json &usage, ModelRequest &to)
{
    if (!usage.is_object())
        return;
    to.metered = true;
    readCount(usage, "input_tokens", to.inputTokens);
    readCount(usage, "output_tokens", to.outputTokens);
    readCount(usage, "prompt_tokens", to.inputTokens);
    readCount(usage, "completion_tokens", to.outputTokens);
    readCount(usage, "cache_read_input_tokens", to.cacheRead);
    readCount(usage, "cache_creation_input_tokens", to.cacheWrite);
    for (const char *details : {"input_tokens_details", "prompt_tokens_details"}) {
        const auto at = usage.find(details);
        if (at != usage.end() && at->is_object())
            readCount(*at, "cached_tokens", to.cacheRead);
    }
}

void readObject(const Json &object, ModelRequest &to)
{
    if (const auto model = object.find("model"); model != object.end() && model->is_string())
        to.model = QString::fromStdString(model->get<std::string>());
    if (const auto usage = object.find("usage"); usage != object.end())
        readUsage(*usage, to);
}

} // namespace

void UsageMeter::begin(const QByteArray &contentType)
{
    m_events = contentType.toLower().startsWith("text/event-stream");
}

void UsageMeter::feed(const QByteArray &bytes)
{
    qsizetype from = 0;
    while (m_events && from < bytes.size()) {
        const qsizetype end = bytes.indexOf('\n', from);
        const QByteArrayView part = QByteArrayView(bytes).sliced(from, (end < 0 ? bytes.size() : end) - from);
        if (m_buffer.size() + part.size() > maxHeldBytes)
            m_skipping = true;
        if (!m_skipping)
            m_buffer.append(part);
        if (end < 0)
            return;
        if (!m_skipping)
            readLine(m_buffer);
        m_buffer.clear();
        m_skipping = false;
        from = end + 1;
    }
    if (m_events)
        return;
    m_skipping = m_skipping || m_buffer.size() + bytes.size() > maxHeldBytes;
    if (m_skipping)
        m_buffer.clear();
    else
        m_buffer.append(bytes);
}

void UsageMeter::readLine(QByteArrayView line)
{
    // Most events are pieces of text: only what may hold a count is parsed.
    if (line.startsWith("data:") && line.indexOf(QByteArrayView("\"usage\"")) >= 0)
        readJson(line.sliced(5));
}

void UsageMeter::readJson(QByteArrayView text)
{
    const Json json = parseQuietly(text);
    if (!json.is_object())
        return;
    readObject(json, m_found);
    for (const char *inner : {"message", "response"}) {
        const auto at = json.find(inner);
        if (at != json.end() && at->is_object())
            readObject(*at, m_found);
    }
}

void UsageMeter::finish(ModelRequest &to)
{
    if (m_events && !m_skipping)
        readLine(m_buffer);
    else if (!m_events && !m_skipping)
        readJson(m_buffer);
    m_buffer.clear();
    to.metered = m_found.metered;
    to.inputTokens = m_found.inputTokens;
    to.outputTokens = m_found.outputTokens;
    to.cacheRead = m_found.cacheRead;
    to.cacheWrite = m_found.cacheWrite;
    if (!m_found.model.isEmpty())
        to.model = m_found.model;
}

QString modelOf(const QByteArray &requestBody)
{
    const Json json = parseQuietly(requestBody);
    if (!json.is_object())
        return {};
    const auto at = json.find("model");
    return at != json.end() && at->is_string() ? QString::fromStdString(at->get<std::string>()) : QString();
}

} // namespace engine
