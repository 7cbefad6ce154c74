#pragma once

#include <QList>
#include <QString>

namespace ui {

struct DiffLine
{
    enum class Kind { Same, Removed, Added };
    Kind kind = Kind::Same;
    QString text;

    bool operator==(const DiffLine &) const = default;
};
// Line by line; texts too long for an exact answer are shown as all removed, then all added.
QList<DiffLine> lineDiff(const QString &before, const QString &after);

} // namespace ui
