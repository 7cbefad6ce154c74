#include "ui/sessions/rowlayout.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QAbstractTextDocumentLayout>
#include <QPainter>
#include <QTextCursor>

namespace ui {
namespace {

constexpr double cornerRadius = 6;

QColor rowColour(const RowLayout &row, const QPalette &palette)
{
    return row.tone == models::Tone::Neutral ? mutedColour(palette) : toneColour(row.tone, palette);
}

QRect squareIn(const QRect &line, int left, int size)
{
    return {left, line.center().y() - size / 2, size, size};
}

void paintDocument(QPainter &painter, const RowLayout &row, const RowContext &context, const QPair<int, int> *selection)
{
    if (!row.document)
        return;
    QAbstractTextDocumentLayout::PaintContext paint;
    paint.palette = context.palette;
    if (row.shape == RowShape::Folded)
        paint.palette.setColor(QPalette::Text, mutedColour(context.palette));
    if (selection) {
        QAbstractTextDocumentLayout::Selection chosen;
        chosen.cursor = QTextCursor(row.document.get());
        const int end = row.document->characterCount() - 1;
        chosen.cursor.setPosition(qBound(0, selection->first, end));
        chosen.cursor.setPosition(qBound(0, selection->second, end), QTextCursor::KeepAnchor);
        chosen.format.setBackground(context.palette.highlight());
        chosen.format.setForeground(context.palette.highlightedText());
        paint.selections.append(chosen);
    }
    painter.save();
    painter.translate(row.documentAt);
    row.document->documentLayout()->draw(&painter, paint);
    painter.restore();
}

// Right to left: duration, state word, state icon. Answers where they begin.
int paintState(QPainter &painter, const RowLayout &row, const RowContext &context, const QFontMetrics &metrics)
{
    int right = row.header.right() - 2 * grid;
    const auto text = [&](const QString &words, const QColor &colour) {
        const int width = metrics.horizontalAdvance(words);
        painter.setPen(colour);
        painter.drawText(QRect(right - width, row.header.top(), width, row.header.height()), Qt::AlignVCenter, words);
        right -= width + 2 * grid;
    };
    if (!row.stateDetail.isEmpty())
        text(row.stateDetail, mutedColour(context.palette));
    if (!row.state.word.isEmpty()) {
        const QColor colour = toneColour(row.state.tone, context.palette);
        text(row.state.word, colour);
        const int size = metrics.ascent();
        right += grid;
        paintIcon(painter, squareIn(row.header, right - size, size), row.state.icon, colour);
        right -= size + 2 * grid;
    }
    return right;
}

void paintHeader(QPainter &painter, const RowLayout &row, const RowContext &context)
{
    const QFontMetrics metrics(context.font);
    const int size = metrics.ascent() + 2;
    int left = row.header.left() + (row.shape == RowShape::Card ? 2 * grid : 0);
    if (row.expandable) {
        paintIcon(painter, squareIn(row.header, left, size),
                  row.expanded ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"), mutedColour(context.palette));
        left += size + grid;
    }
    const bool folded = row.shape == RowShape::Folded;
    if (!folded) {
        paintIcon(painter, squareIn(row.header, left, size), row.icon, rowColour(row, context.palette));
        left += size + 2 * grid;
    }
    const int right = paintState(painter, row, context, metrics);
    QFont bold = context.font;
    bold.setWeight(folded ? QFont::Normal : QFont::DemiBold);
    bold.setItalic(folded);
    painter.setFont(bold);
    painter.setPen(folded ? mutedColour(context.palette) : context.palette.color(QPalette::Text));
    const QString title = QFontMetrics(bold).elidedText(row.title, Qt::ElideRight, qMax(0, right - left));
    painter.drawText(QRect(left, row.header.top(), qMax(0, right - left), row.header.height()), Qt::AlignVCenter, title);
    left += QFontMetrics(bold).horizontalAdvance(title) + 2 * grid;
    const QFont detailFont = row.detailMonospace ? monospaceFont() : context.font;
    painter.setFont(detailFont);
    painter.setPen(folded || row.shape == RowShape::Prompt ? mutedColour(context.palette)
                                                           : context.palette.color(QPalette::Text));
    if (right - left > 4 * grid && !(folded && row.expanded)) {
        const QString detail = QFontMetrics(detailFont).elidedText(row.detail, Qt::ElideRight, right - left);
        painter.drawText(QRect(left, row.header.top(), right - left, row.header.height()), Qt::AlignVCenter, detail);
    }
    painter.setFont(context.font);
}

void paintCard(QPainter &painter, const RowLayout &row, const RowContext &context)
{
    const QRectF frame = QRectF(row.frame).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool pending = !row.approval.isEmpty() && row.tone != models::Tone::Neutral;
    painter.setPen(pending ? toneColour(row.tone, context.palette) : lineColour(context.palette));
    painter.setBrush(pending ? toneFill(row.tone, context.palette) : cardColour(context.palette));
    painter.drawRoundedRect(frame, cornerRadius, cornerRadius);
    if (row.document) {
        painter.setPen(lineColour(context.palette));
        painter.drawLine(row.header.left() + 1, row.header.bottom(), row.header.right() - 1, row.header.bottom());
    }
    paintHeader(painter, row, context);
}

void paintPrompt(QPainter &painter, const RowLayout &row, const RowContext &context)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(toneFill(models::Tone::Info, context.palette));
    painter.drawRoundedRect(row.frame, cornerRadius, cornerRadius);
    painter.setBrush(accentColour(context.palette));
    painter.drawRoundedRect(QRect(row.frame.left(), row.frame.top() + grid, 3, row.frame.height() - 2 * grid), 1.5, 1.5);
    paintHeader(painter, row, context);
}

} // namespace

void paintRow(QPainter &painter, const RowLayout &row, const RowContext &context, const QPair<int, int> *selection)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(context.font);
    switch (row.shape) {
    case RowShape::Text:
        break;
    case RowShape::Prompt:
        paintPrompt(painter, row, context);
        break;
    case RowShape::Card:
        paintCard(painter, row, context);
        break;
    case RowShape::Folded:
        paintHeader(painter, row, context);
        break;
    case RowShape::Line: {
        const int size = QFontMetrics(context.font).ascent() + 1;
        paintIcon(painter, squareIn(row.header, row.header.left(), size), row.icon, rowColour(row, context.palette));
        break;
    }
    }
    paintDocument(painter, row, context, selection);
    if (!row.moreText.isEmpty()) {
        painter.setPen(context.palette.color(QPalette::Link));
        painter.drawText(row.more, Qt::AlignVCenter, row.moreText);
    }
    painter.restore();
}

} // namespace ui
