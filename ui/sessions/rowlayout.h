#pragma once

#include "engine/types/approval.h"
#include "models/displaytext.h"
#include "models/transcriptmodel.h"
#include "ui/sessions/blockdocument.h"

#include <QRect>

class QPainter;

namespace ui {

enum class RowShape {
    Text,   // a document, nothing around it
    Prompt, // a band with a name
    Card,   // a framed header line, opens to a document
    Folded, // a dim header line, opens to a document
    Line    // an icon and a document
};

// One transcript row, set for one width. All rectangles are relative to the row's top left corner.
struct RowLayout
{
    RowShape shape = RowShape::Text;
    int height = 0;
    QRect frame;
    QRect header;
    QRect more; // "Show all"
    std::unique_ptr<QTextDocument> document;
    QPoint documentAt;
    QString icon;
    models::Tone tone = models::Tone::Neutral;
    QString title;
    QString detail;
    bool detailMonospace = false;
    models::Look state; // empty word: none
    QString stateDetail;
    QString moreText;
    QString time; // exact, for the tooltip
    bool expandable = false;
    bool expanded = false;
    engine::ApprovalId approval;

    QString plainText() const;
};

struct RowContext
{
    QPalette palette;
    QFont font;
    int width = 600;
    bool expanded = false;
    bool whole = false;
    QString author;                              // Prompt: who asked; empty: not known
    const engine::Approval *approval = nullptr; // Approval: as it is now; null: not known
};

std::unique_ptr<RowLayout> layoutBlock(const engine::Block &block, const RowContext &context);
std::unique_ptr<RowLayout> layoutLive(const models::LiveRow &row, const RowContext &context);

// The painter's origin is the row's top left corner. `selection` may be null: first and last position selected.
void paintRow(QPainter &painter, const RowLayout &row, const RowContext &context, const QPair<int, int> *selection);

constexpr int rowMargin = 4 * 4; // left and right
constexpr int rowWidthLimit = 960;

} // namespace ui
