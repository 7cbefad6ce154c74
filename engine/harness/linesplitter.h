#pragma once

#include <QByteArray>
#include <QList>

namespace engine {

struct SplitLine
{
    QByteArray bytes;      // without its line feed and a carriage return before it
    quint64 endOffset = 0; // stream offset behind the line feed
    bool oversize = false; // longer than the cap: only the first bytes are kept

    bool operator==(const SplitLine &) const = default;
};

// Framing: stream bytes to lines, in time linear to the bytes however they are cut. Engine thread.
class LineSplitter
{
public:
    static constexpr qsizetype defaultCap = 64 * 1024 * 1024;
    static constexpr qsizetype keptOfOversize = 64 * 1024;

    explicit LineSplitter(qsizetype cap = defaultCap) : m_cap(cap) {}

    // Starts anew at a stream offset that is the beginning of a line.
    void reset(quint64 offset);
    QList<SplitLine> feed(const QByteArray &bytes);
    // What came behind the last line feed; complete only when the stream has ended.
    QByteArray rest() const { return m_buffer; }

private:
    void keep(const char *bytes, qsizetype size);

    qsizetype m_cap;
    QByteArray m_buffer;
    quint64 m_offset = 0;
    bool m_oversize = false;
};

} // namespace engine
