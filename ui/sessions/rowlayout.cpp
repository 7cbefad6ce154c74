#include "ui/sessions/rowlayout.h"
#include "models/toolsummary.h"
#include "models/visibletext.h"
#include "ui/widgets/theme.h"

#include <QCoreApplication>
#include <QFontMetrics>

namespace ui {
namespace {

constexpr int rowGap = 2 * grid; // above and below a row's content
constexpr qsizetype liveCap = 48 * 1024;
constexpr qsizetype titleCap = 400;

QString rowText(const char *text)
{
    return QCoreApplication::translate("ui::TranscriptView", text);
}

int contentWidth(const RowContext &context)
{
    return qMax(120, qMin(context.width - 2 * rowMargin, rowWidthLimit));
}

int lineHeight(const RowContext &context)
{
    return QFontMetrics(context.font).height();
}

DocumentStyle documentStyle(const RowContext &context, int width)
{
    return {context.palette, context.font, qMax(80, width), context.whole};
}

// Puts the document below `top`, indented by `inset` on both sides, and the "Show all" line below it.
int placeDocument(RowLayout &row, BlockDocument made, const RowContext &context, int left, int top)
{
    row.document = std::move(made.document);
    row.documentAt = {left, top};
    int bottom = top + qRound(row.document->size().height() + 0.49);
    if (made.hidden > 0) {
        row.moreText = rowText("Show all (%1 more)").arg(models::byteSize(made.hidden));
        row.more = QRect(left, bottom + grid, QFontMetrics(context.font).horizontalAdvance(row.moreText) + 2 * grid,
                         lineHeight(context) + grid);
        bottom = row.more.bottom() + 1;
    }
    return bottom;
}

void setText(RowLayout &row, BlockDocument made, const RowContext &context)
{
    row.height = placeDocument(row, std::move(made), context, rowMargin, rowGap) + rowGap;
}

void setPrompt(RowLayout &row, const engine::Block &block, const RowContext &context)
{
    row.shape = RowShape::Prompt;
    row.icon = QStringLiteral("send");
    row.title = context.author.isEmpty() ? rowText("Prompt") : context.author;
    row.detail = block.at.toLocalTime().toString(QStringLiteral("HH:mm"));
    const int width = contentWidth(context);
    const int header = lineHeight(context);
    row.header = QRect(rowMargin + 3 * grid, rowGap + 2 * grid, width - 6 * grid, header);
    const int bottom = placeDocument(row, plainDocument(block.text, documentStyle(context, width - 6 * grid), false),
                                     context, rowMargin + 3 * grid, row.header.bottom() + 1 + grid);
    row.frame = QRect(rowMargin, rowGap, width, bottom + 2 * grid - rowGap);
    row.height = row.frame.bottom() + 1 + rowGap;
}

void setLine(RowLayout &row, const QString &text, const RowContext &context, const QColor &colour)
{
    row.shape = RowShape::Line;
    const int indent = lineHeight(context) + 2 * grid;
    const int bottom = placeDocument(row, plainDocument(text, documentStyle(context, contentWidth(context) - indent), false, colour),
                                     context, rowMargin + indent, grid);
    row.header = QRect(rowMargin, grid, lineHeight(context), lineHeight(context));
    row.height = bottom + grid;
}

void setFolded(RowLayout &row, const QString &text, const RowContext &context, bool streaming)
{
    row.shape = RowShape::Folded;
    row.title = streaming ? rowText("Thinking…") : rowText("Thought");
    const QString line = streaming ? text.right(titleCap) : text.left(titleCap);
    row.detail = line.simplified();
    row.expandable = true;
    row.expanded = context.expanded;
    row.header = QRect(rowMargin, grid, contentWidth(context), lineHeight(context) + grid);
    int bottom = row.header.bottom() + 1;
    if (row.expanded) {
        const int indent = lineHeight(context) + 2 * grid;
        DocumentStyle style = documentStyle(context, contentWidth(context) - indent);
        style.palette.setColor(QPalette::Text, mutedColour(context.palette));
        bottom = placeDocument(row, markdownDocument(text, style), context, rowMargin + indent, bottom + grid);
    }
    row.height = bottom + grid;
}

// The header of a card; the document, if open, stands below it inside the same frame.
void setCard(RowLayout &row, const RowContext &context, const std::function<BlockDocument(const DocumentStyle &)> &open)
{
    row.shape = RowShape::Card;
    const int width = contentWidth(context);
    const int headerHeight = lineHeight(context) + 3 * grid;
    row.header = QRect(rowMargin, grid, width, headerHeight);
    int bottom = row.header.bottom() + 1;
    if (row.expanded && open) {
        const int inset = 3 * grid;
        bottom = placeDocument(row, open(documentStyle(context, width - 2 * inset)), context, rowMargin + inset,
                               bottom + 2 * grid) + 2 * grid;
    }
    row.frame = QRect(rowMargin, grid, width, bottom - grid);
    row.height = bottom + grid;
}

QString toolIcon(const QString &tool)
{
    if (tool == u"Bash" || tool.startsWith(u"Bash"))
        return QStringLiteral("tool");
    if (tool == u"Edit" || tool == u"Write" || tool == u"MultiEdit" || tool == u"NotebookEdit")
        return QStringLiteral("edit");
    if (tool == u"Read" || tool == u"LS" || tool == u"Glob")
        return QStringLiteral("file");
    if (tool == u"Grep" || tool.contains(u"Search"))
        return QStringLiteral("search");
    return QStringLiteral("tool");
}

void setTool(RowLayout &row, const engine::Block &block, const RowContext &context)
{
    const models::ToolSummary summary = models::toolSummary(block.toolName, block.input);
    row.icon = toolIcon(block.toolName);
    row.title = block.toolName.left(titleCap);
    row.detail = models::visibleLine(summary.line.left(titleCap).simplified());
    row.detailMonospace = true;
    row.state = models::look(block.tool);
    if (block.durationMs >= 0)
        row.stateDetail = models::duration(block.durationMs);
    row.expandable = true;
    row.expanded = context.expanded;
    setCard(row, context, [&block](const DocumentStyle &style) { return toolDocument(block, style); });
}

void setApproval(RowLayout &row, const engine::Block &block, const RowContext &context)
{
    row.approval = block.approvalId;
    row.icon = QStringLiteral("approvals");
    row.title = rowText("Approval");
    const engine::Approval *approval = context.approval;
    row.detail = models::visibleLine((approval ? approval->title : block.text).left(titleCap).simplified());
    if (approval) {
        row.state = models::look(*approval);
        row.tone = row.state.tone;
        if (!approval->decidedBy.isEmpty())
            row.stateDetail = rowText("by %1").arg(approval->decidedBy);
    }
    setCard(row, context, {});
}

void setUnknown(RowLayout &row, const engine::Block &block, const RowContext &context)
{
    row.icon = QStringLiteral("question");
    row.title = rowText("Unknown line");
    row.detail = (block.toolName.isEmpty() ? block.text : block.toolName).left(titleCap).simplified();
    row.expandable = true;
    row.expanded = context.expanded;
    setCard(row, context, [&block](const DocumentStyle &style) {
        return plainDocument(models::prettyJson(block.text), style, true);
    });
}

} // namespace

QString RowLayout::plainText() const
{
    QStringList parts;
    if (!title.isEmpty())
        parts.append(title);
    if (!detail.isEmpty())
        parts.append(detail);
    if (!state.word.isEmpty())
        parts.append(state.word);
    if (!stateDetail.isEmpty())
        parts.append(stateDetail);
    QString text = parts.join(u", ");
    if (document)
        text += (text.isEmpty() ? QString() : QStringLiteral("\n")) + document->toPlainText();
    return text;
}

std::unique_ptr<RowLayout> layoutBlock(const engine::Block &block, const RowContext &context)
{
    auto row = std::make_unique<RowLayout>();
    row->time = models::exactUtc(block.at);
    switch (block.kind) {
    case engine::BlockKind::Prompt:
        setPrompt(*row, block, context);
        break;
    case engine::BlockKind::Answer:
        setText(*row, markdownDocument(block.text, documentStyle(context, contentWidth(context))), context);
        break;
    case engine::BlockKind::Thinking:
        setFolded(*row, block.text, context, false);
        break;
    case engine::BlockKind::Tool:
        setTool(*row, block, context);
        break;
    case engine::BlockKind::Approval:
        setApproval(*row, block, context);
        break;
    case engine::BlockKind::Note:
        row->icon = QStringLiteral("info");
        row->tone = models::Tone::Muted;
        setLine(*row, block.text, context, mutedColour(context.palette));
        break;
    case engine::BlockKind::Warning:
        row->icon = QStringLiteral("warning");
        row->tone = models::Tone::Attention;
        setLine(*row, rowText("Warning: ") + block.text, context, toneColour(models::Tone::Attention, context.palette));
        break;
    case engine::BlockKind::Failure:
        row->icon = QStringLiteral("failed");
        row->tone = models::Tone::Danger;
        setLine(*row, rowText("Failed: ") + block.text, context, toneColour(models::Tone::Danger, context.palette));
        break;
    case engine::BlockKind::Unknown:
        setUnknown(*row, block, context);
        break;
    }
    return row;
}

std::unique_ptr<RowLayout> layoutLive(const models::LiveRow &live, const RowContext &context)
{
    auto row = std::make_unique<RowLayout>();
    QString text = live.text;
    bool cut = live.base > 0;
    if (text.size() > liveCap) {
        // The end is what moves; the whole text comes with the final block.
        const qsizetype line = text.indexOf(u'\n', text.size() - liveCap);
        text = text.mid(line < 0 ? text.size() - liveCap : line + 1);
        cut = true;
    }
    if (cut)
        text.prepend(QStringLiteral("…\n\n"));
    if (live.kind == engine::BlockKind::Thinking)
        setFolded(*row, text, context, true);
    else
        setText(*row, markdownDocument(text, documentStyle(context, contentWidth(context))), context);
    return row;
}

} // namespace ui
