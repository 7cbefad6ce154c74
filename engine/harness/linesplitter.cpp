#include "engine/harness/linesplitter.h"

#include <cstring>

namespace engine {

void LineSplitter::reset(quint64 offset)
{
    m_buffer.clear();
    m_offset = offset;
    m_oversize = false;
}

void LineSplitter::keep(const char *bytes, qsizetype size)
{
    if (m_oversize)
        return;
    m_buffer.append(bytes, size);
    if (m_buffer.size() > m_cap) {
        m_oversize = true;
        m_buffer = m_buffer.left(keptOfOversize);
    }
}

QList<SplitLine> LineSplitter::feed(const QByteArray &bytes)
{
    QList<SplitLine> lines;
    const char *at = bytes.constData();
    const char *const end = at + bytes.size();
    while (at < end) {
        const void *found = std::memchr(at, '\n', size_t(end - at));
        const char *const stop = found ? static_cast<const char *>(found) : end;
        keep(at, stop - at);
        m_offset += quint64(stop - at);
        at = stop;
        if (!found)
            break;
        ++m_offset;
        ++at;
        if (!m_oversize && m_buffer.endsWith('\r'))
            m_buffer.chop(1);
        lines.append({std::exchange(m_buffer, {}), m_offset, std::exchange(m_oversize, false)});
    }
    return lines;
}

} // namespace engine
