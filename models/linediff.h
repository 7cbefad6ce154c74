#pragma once

#include <QList>
#include <QString>

namespace models {

struct DiffLine
{
    enum class Kind { Same, Added, Removed };

    Kind kind = Kind::Same;
    QString text;

    bool operator==(const DiffLine &) const = default;
};

// Every line of both texts, in order; nothing is left out. Very long texts that differ throughout are given as all
// old lines followed by all new ones.
QList<DiffLine> lineDiff(const QString &before, const QString &after);

} // namespace models
