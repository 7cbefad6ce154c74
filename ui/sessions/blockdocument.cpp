#include "ui/sessions/blockdocument.h"
#include "models/toolsummary.h"
#include "models/visibletext.h"
#include "ui/sessions/codehighlight.h"
#include "ui/sessions/linediff.h"
#include "ui/widgets/theme.h"

#include <QCoreApplication>
#include <QTextBlock>
#include <QTextCursor>

namespace ui {
namespace {

constexpr qsizetype markdownCap = 256 * 1024; // longer answers are set as plain text: Markdown takes 2 ms per kB
constexpr int outputLines = 24;

class UntrustedDocument final : public QTextDocument
{
public:
    QVariant loadResource(int, const QUrl &) override { return QVariant(QByteArray()); }
};

std::unique_ptr<QTextDocument> emptyDocument(const DocumentStyle &style)
{
    auto document = std::make_unique<UntrustedDocument>();
    document->setUndoRedoEnabled(false);
    document->setDocumentMargin(0);
    document->setDefaultFont(style.font);
    QTextOption option = document->defaultTextOption();
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    document->setDefaultTextOption(option);
    return document;
}

QString capped(const QString &text, qsizetype cap, qint64 &hidden)
{
    if (text.size() <= cap)
        return text;
    qsizetype end = text.lastIndexOf(u'\n', cap);
    if (end < cap / 2)
        end = cap;
    if (text.at(end - 1).isHighSurrogate())
        --end;
    hidden += text.size() - end;
    return text.left(end);
}

QString cappedLines(const QString &text, int lines, qint64 &hidden)
{
    qsizetype at = -1;
    for (int line = 0; line < lines; ++line) {
        at = text.indexOf(u'\n', at + 1);
        if (at < 0 || at > layoutCap / 4)
            return capped(text, layoutCap / 4, hidden);
    }
    if (at + 1 < text.size())
        hidden += text.size() - at - 1;
    return text.left(at);
}

void styleMarkdown(QTextDocument &document, const DocumentStyle &style)
{
    QTextCharFormat mono;
    mono.setFont(monospaceFont(), QTextCharFormat::FontPropertiesSpecifiedOnly);
    mono.setFontFamilies({monospaceFont().family()});
    const auto isCode = [](const QTextBlock &block) {
        return block.isValid() && block.blockFormat().hasProperty(QTextFormat::BlockCodeFence);
    };
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        QTextCursor cursor(block);
        if (isCode(block)) {
            format.setBackground(cardColour(style.palette));
            format.setNonBreakableLines(false);
            format.setLeftMargin(0);
            format.setTopMargin(isCode(block.previous()) ? 0 : 2 * grid);
            format.setBottomMargin(isCode(block.next()) ? 0 : 2 * grid);
            cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
            cursor.mergeCharFormat(mono);
        } else if (format.headingLevel() > 0) {
            format.setTopMargin(block == document.begin() ? 0 : 3 * grid);
            format.setBottomMargin(grid);
        } else if (!block.textList()) {
            format.setTopMargin(0);
            format.setBottomMargin(block.next().isValid() ? 2 * grid : 0);
        }
        format.setLineHeight(112, QTextBlockFormat::ProportionalHeight);
        cursor.setBlockFormat(format);
    }
}

class DocumentWriter
{
public:
    DocumentWriter(QTextDocument &document, const DocumentStyle &style) : m_cursor(&document), m_style(style)
    {
        m_mono.setFont(monospaceFont());
        m_mono.setForeground(style.palette.text());
        m_label.setForeground(mutedColour(style.palette));
        m_label.setFontWeight(QFont::DemiBold);
    }
    void label(const QString &text)
    {
        QTextBlockFormat format;
        format.setTopMargin(m_started ? 2 * grid : 0);
        begin(format);
        m_cursor.insertText(text, m_label);
    }
    void body(const QString &text, const QColor &fill = {})
    {
        QTextBlockFormat format;
        if (fill.isValid())
            format.setBackground(fill);
        begin(format);
        m_cursor.insertText(text, m_mono);
    }

private:
    void begin(const QTextBlockFormat &format)
    {
        if (m_started)
            m_cursor.insertBlock(format);
        else
            m_cursor.setBlockFormat(format);
        m_started = true;
    }
    QTextCursor m_cursor;
    const DocumentStyle &m_style;
    QTextCharFormat m_mono, m_label;
    bool m_started = false;
};

QString docText(const char *text)
{
    return QCoreApplication::translate("ui::TranscriptView", text);
}

void writeDiff(DocumentWriter &writer, const models::ToolSummary &summary, const DocumentStyle &style, qint64 &hidden)
{
    const QList<DiffLine> lines = lineDiff(models::visibleText(summary.oldText).text, models::visibleText(summary.newText).text);
    const qsizetype shown = style.whole ? lines.size() : qMin<qsizetype>(lines.size(), 3 * outputLines);
    for (qsizetype i = 0; i < shown; ++i) {
        const DiffLine &line = lines.at(i);
        switch (line.kind) {
        case DiffLine::Kind::Same:
            writer.body(u"  " + line.text);
            break;
        case DiffLine::Kind::Removed:
            writer.body(u"− " + line.text, removedFill(style.palette));
            break;
        case DiffLine::Kind::Added:
            writer.body(u"+ " + line.text, addedFill(style.palette));
            break;
        }
    }
    for (qsizetype i = shown; i < lines.size(); ++i)
        hidden += lines.at(i).text.size() + 1;
}

} // namespace

BlockDocument markdownDocument(const QString &text, const DocumentStyle &style)
{
    if (style.whole && text.size() > markdownCap)
        return plainDocument(text, style, false);
    BlockDocument made{emptyDocument(style), 0};
    const QString shown = style.whole ? text : capped(text, layoutCap, made.hidden);
    made.document->setMarkdown(shown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                                          QTextDocument::MarkdownNoHTML);
    styleMarkdown(*made.document, style);
    highlightCode(*made.document, style.palette);
    made.document->setTextWidth(style.width);
    return made;
}

BlockDocument plainDocument(const QString &text, const DocumentStyle &style, bool monospace, const QColor &colour)
{
    BlockDocument made{emptyDocument(style), 0};
    if (monospace)
        made.document->setDefaultFont(monospaceFont());
    const QString shown = style.whole ? text : capped(text, layoutCap, made.hidden);
    QTextCharFormat format;
    format.setForeground(colour.isValid() ? colour : style.palette.color(QPalette::Text));
    QTextCursor(made.document.get()).insertText(shown, format);
    made.document->setTextWidth(style.width);
    return made;
}

BlockDocument toolDocument(const engine::Block &block, const DocumentStyle &style)
{
    BlockDocument made{emptyDocument(style), 0};
    DocumentWriter writer(*made.document, style);
    const models::ToolSummary summary = models::toolSummary(block.toolName, block.input);
    if (summary.edit) {
        writer.label(models::visibleLine(summary.path));
        writeDiff(writer, summary, style, made.hidden);
    } else {
        writer.label(docText("Input"));
        QString input = block.toolName == u"Bash" && !summary.line.isEmpty() ? summary.line : models::prettyJson(block.input);
        input = models::visibleText(input).text;
        writer.body(style.whole ? input : cappedLines(input, outputLines, made.hidden));
    }
    if (!block.output.isEmpty() || block.tool != engine::ToolState::Running) {
        writer.label(docText("Output"));
        const QString output = block.output.isEmpty() ? docText("No output.") : block.output;
        writer.body(style.whole ? output : cappedLines(output, outputLines, made.hidden));
    }
    made.document->setTextWidth(style.width);
    return made;
}

} // namespace ui
