#include "ui/sessions/linediff.h"

#include <QStringList>
#include <vector>

namespace ui {
namespace {

constexpr qsizetype exactDiffCells = 400'000;

void diffMiddle(const QStringList &a, const QStringList &b, QList<DiffLine> &out)
{
    const qsizetype n = a.size(), m = b.size();
    if (n * m > exactDiffCells || n == 0 || m == 0) {
        for (const QString &line : a)
            out.append({DiffLine::Kind::Removed, line});
        for (const QString &line : b)
            out.append({DiffLine::Kind::Added, line});
        return;
    }
    std::vector<int> common(size_t((n + 1) * (m + 1)), 0);
    const auto cell = [&](qsizetype i, qsizetype j) -> int & { return common[size_t(i * (m + 1) + j)]; };
    for (qsizetype i = n - 1; i >= 0; --i) {
        for (qsizetype j = m - 1; j >= 0; --j)
            cell(i, j) = a.at(i) == b.at(j) ? cell(i + 1, j + 1) + 1 : qMax(cell(i + 1, j), cell(i, j + 1));
    }
    qsizetype i = 0, j = 0;
    while (i < n || j < m) {
        if (i < n && j < m && a.at(i) == b.at(j)) {
            out.append({DiffLine::Kind::Same, a.at(i)});
            ++i, ++j;
        } else if (i < n && (j == m || cell(i + 1, j) >= cell(i, j + 1))) {
            out.append({DiffLine::Kind::Removed, a.at(i++)});
        } else {
            out.append({DiffLine::Kind::Added, b.at(j++)});
        }
    }
}

} // namespace

QList<DiffLine> lineDiff(const QString &before, const QString &after)
{
    QStringList a = before.isEmpty() ? QStringList() : before.split(u'\n');
    QStringList b = after.isEmpty() ? QStringList() : after.split(u'\n');
    QList<DiffLine> out, tail;
    while (!a.isEmpty() && !b.isEmpty() && a.first() == b.first()) {
        out.append({DiffLine::Kind::Same, a.takeFirst()});
        b.removeFirst();
    }
    while (!a.isEmpty() && !b.isEmpty() && a.last() == b.last()) {
        tail.prepend({DiffLine::Kind::Same, a.takeLast()});
        b.removeLast();
    }
    diffMiddle(a, b, out);
    return out + tail;
}

} // namespace ui
