#include "sandbox/docker/jsonlines.h"

namespace sandbox {

namespace {

constexpr qsizetype longestLine = 16 * 1024 * 1024; // of a sane engine; beyond it the line is dropped

} // namespace

QList<QByteArray> JsonLines::feed(const QByteArray &bytes)
{
    QList<QByteArray> lines;
    qsizetype start = 0;
    for (qsizetype end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
        const QByteArray line = QByteArray(m_rest + bytes.mid(start, end - start)).trimmed();
        m_rest.clear();
        if (!line.isEmpty())
            lines.append(line);
        start = end + 1;
    }
    m_rest += bytes.mid(start);
    if (m_rest.size() > longestLine)
        m_rest.clear();
    return lines;
}

} // namespace sandbox
