#include "models/linediff.h"

#include <QStringList>
#include <vector>

namespace models {
namespace {

constexpr qsizetype tableCells = 4'000'000; // of the common-subsequence table

QStringList linesOf(const QString &text)
{
    return text.isEmpty() ? QStringList() : text.split(u'\n');
}

void appendAll(QList<DiffLine> &lines, DiffLine::Kind kind, const QStringList &from, qsizetype first, qsizetype last)
{
    for (qsizetype i = first; i < last; ++i)
        lines.append({kind, from.at(i)});
}

} // namespace

QList<DiffLine> lineDiff(const QString &before, const QString &after)
{
    const QStringList a = linesOf(before);
    const QStringList b = linesOf(after);
    qsizetype head = 0;
    while (head < a.size() && head < b.size() && a.at(head) == b.at(head))
        ++head;
    qsizetype tail = 0;
    while (tail < a.size() - head && tail < b.size() - head && a.at(a.size() - 1 - tail) == b.at(b.size() - 1 - tail))
        ++tail;
    const qsizetype rows = a.size() - head - tail;
    const qsizetype columns = b.size() - head - tail;
    QList<DiffLine> lines;
    appendAll(lines, DiffLine::Kind::Same, a, 0, head);
    if (rows == 0 || columns == 0 || rows * columns > tableCells) {
        appendAll(lines, DiffLine::Kind::Removed, a, head, head + rows);
        appendAll(lines, DiffLine::Kind::Added, b, head, head + columns);
    } else {
        // common[i][j]: length of the longest common subsequence of what follows i and j.
        std::vector<int> common(size_t((rows + 1) * (columns + 1)), 0);
        const auto at = [&](qsizetype i, qsizetype j) -> int & { return common[size_t(i * (columns + 1) + j)]; };
        for (qsizetype i = rows - 1; i >= 0; --i) {
            for (qsizetype j = columns - 1; j >= 0; --j)
                at(i, j) = a.at(head + i) == b.at(head + j) ? at(i + 1, j + 1) + 1 : qMax(at(i + 1, j), at(i, j + 1));
        }
        qsizetype i = 0;
        qsizetype j = 0;
        while (i < rows || j < columns) {
            if (i < rows && j < columns && a.at(head + i) == b.at(head + j)) {
                lines.append({DiffLine::Kind::Same, a.at(head + i)});
                ++i, ++j;
            } else if (j == columns || (i < rows && at(i + 1, j) >= at(i, j + 1))) {
                lines.append({DiffLine::Kind::Removed, a.at(head + i++)});
            } else {
                lines.append({DiffLine::Kind::Added, b.at(head + j++)});
            }
        }
    }
    appendAll(lines, DiffLine::Kind::Same, a, a.size() - tail, a.size());
    return lines;
}

} // namespace models
