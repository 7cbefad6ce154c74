#include "ui/widgets/codeview.h"

#include "models/visibletext.h"
#include "ui/widgets/readwatch.h"
#include "ui/widgets/theme.h"

#include <QEvent>
#include <QScrollBar>
#include <QTextBlock>

namespace ui {
namespace {

QTextCharFormat markFormat(models::Mark::Kind kind, const QPalette &palette)
{
    QTextCharFormat format;
    const bool isLookAlike = kind == models::Mark::Kind::LookAlike;
    const models::Tone tone = isLookAlike ? models::Tone::Attention : models::Tone::Danger;
    format.setForeground(toneColour(tone, palette));
    format.setBackground(toneFill(tone, palette));
    format.setFontWeight(QFont::Bold);
    return format;
}

void insertVisible(QTextCursor &cursor, const models::VisibleText &shown, const QTextCharFormat &plain,
                   const QPalette &palette)
{
    qsizetype done = 0;
    for (const models::Mark &mark : shown.marks) {
        cursor.insertText(shown.text.mid(done, mark.start - done), plain);
        cursor.insertText(shown.text.mid(mark.start, mark.length), markFormat(mark.kind, palette));
        done = mark.start + mark.length;
    }
    cursor.insertText(shown.text.mid(done), plain);
}

} // namespace

CodeView::CodeView(int maxLines, QWidget *parent)
    : QPlainTextEdit(parent), m_maxLines(maxLines), m_watch(new ReadWatch(this))
{
    setReadOnly(true);
    setTabChangesFocus(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setWordWrapMode(QTextOption::WrapAnywhere);
    setLineWrapMode(QPlainTextEdit::WidgetWidth);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setUndoRedoEnabled(false);
    document()->setDocumentMargin(grid * 2);
    connect(m_watch, &ReadWatch::readToEnd, this, &CodeView::readToEnd);
    rebuild();
}

void CodeView::setCode(const QString &raw)
{
    m_raw = raw;
    m_diff.clear();
    rebuild();
}

void CodeView::setDiff(const QList<models::DiffLine> &lines)
{
    m_raw.clear();
    m_diff = lines;
    rebuild();
}

bool CodeView::isRead() const
{
    return m_watch->isRead();
}

void CodeView::rebuild()
{
    setFont(monospaceFont());
    QPalette colours = palette();
    const QColor ground = isDark(colours) ? QColor(0x17, 0x1a, 0x1e) : QColor(0xf6, 0xf7, 0xf9);
    QPalette own = colours;
    own.setColor(QPalette::Base, ground);
    if (viewport()->palette().color(QPalette::Base) != ground)
        viewport()->setPalette(own);
    clear();
    m_marks = 0;
    QTextCursor cursor(document());
    const QTextCharFormat plain;
    if (m_diff.isEmpty()) {
        const models::VisibleText shown = models::visibleText(m_raw);
        m_marks = int(shown.marks.size());
        insertVisible(cursor, shown, plain, colours);
    }
    for (qsizetype i = 0; i < m_diff.size(); ++i) {
        const models::DiffLine &line = m_diff.at(i);
        if (i > 0)
            cursor.insertBlock();
        QTextBlockFormat block;
        QTextCharFormat text;
        QString sign = QStringLiteral("  ");
        if (line.kind == models::DiffLine::Kind::Added) {
            block.setBackground(addedFill(colours));
            sign = QStringLiteral("+ ");
        } else if (line.kind == models::DiffLine::Kind::Removed) {
            block.setBackground(removedFill(colours));
            sign = QStringLiteral("- ");
        }
        cursor.setBlockFormat(block);
        cursor.insertText(sign, text);
        const models::VisibleText shown = models::visibleText(line.text);
        m_marks += int(shown.marks.size());
        insertVisible(cursor, shown, text, colours);
    }
    moveCursor(QTextCursor::Start);
    fitHeight();
    m_watch->reset();
}

void CodeView::fitHeight()
{
    // QPlainTextDocumentLayout measures in lines.
    const int lines = qMax(1, int(document()->size().height()));
    const int shown = qMin(lines, m_maxLines);
    const int margin = int(document()->documentMargin());
    const int height = fontMetrics().lineSpacing() * shown + 2 * margin + 2;
    if (minimumHeight() != height || maximumHeight() != height)
        setFixedHeight(height);
    setVerticalScrollBarPolicy(lines > m_maxLines ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
}

void CodeView::resizeEvent(QResizeEvent *event)
{
    QPlainTextEdit::resizeEvent(event);
    fitHeight();
}

void CodeView::showEvent(QShowEvent *event)
{
    QPlainTextEdit::showEvent(event);
    fitHeight();
}

void CodeView::changeEvent(QEvent *event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::ApplicationFontChange || event->type() == QEvent::PaletteChange)
        rebuild();
}

} // namespace ui
