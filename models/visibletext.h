#pragma once

#include <QList>
#include <QString>

namespace models {

// Text as a reviewer must see it: what would be invisible, change the direction, move the cursor or pass for another
// character is replaced by a visible token such as ⟦U+202E⟧. Line feeds and tabs stay.
struct Mark
{
    enum class Kind { Invisible, Bidirectional, Control, LookAlike, Broken };

    Kind kind = Kind::Invisible;
    qsizetype start = 0; // in VisibleText::text
    qsizetype length = 0;

    bool operator==(const Mark &) const = default;
};

struct VisibleText
{
    QString text;
    QList<Mark> marks; // ascending, for highlighting

    bool isPlain() const { return marks.isEmpty(); }
};
VisibleText visibleText(const QString &raw);

// For one-line places: as above, line feeds and tabs are tokens too.
QString visibleLine(const QString &raw);

// "3 hidden or misleading characters are shown as tokens"; empty when there is none.
QString markSummary(const QList<Mark> &marks);

} // namespace models
