#include "ui/sessions/codehighlight.h"
#include "ui/widgets/theme.h"

#include <QSet>
#include <QTextBlock>
#include <QTextLayout>

namespace ui {
namespace {

struct CodeColours
{
    QColor keyword, string, comment, number;
};

struct CodeSyntax
{
    QString lineComment;
    bool blockComments = false; // the C way
    const QSet<QString> *keywords = nullptr;
};

const QSet<QString> &cKeywords()
{
    static const QSet<QString> words = [] {
        const QString text = QStringLiteral(
            "alignas auto bool break case catch char class const constexpr continue co_await co_return default delete do "
            "double else enum explicit extern false float for friend goto if inline int let long namespace new noexcept "
            "nullptr null operator override private protected public return short signed sizeof static struct switch "
            "template this throw true try typedef typename union unsigned using virtual void volatile while function var "
            "async await export import from of in instanceof typeof undefined interface type implements extends package "
            "func fn mut pub impl trait match mod use where self crate loop range map chan go defer select final abstract");
        const QStringList list = text.split(u' ');
        return QSet<QString>(list.cbegin(), list.cend());
    }();
    return words;
}

const QSet<QString> &scriptKeywords()
{
    static const QSet<QString> words = [] {
        const QString text = QStringLiteral(
            "and as assert async await break class continue def del elif else except finally for from global if import in "
            "is lambda None nonlocal not or pass raise return True False try while with yield self then fi do done case "
            "esac function local export set unset echo cd exit true false end begin module require unless until when");
        const QStringList list = text.split(u' ');
        return QSet<QString>(list.cbegin(), list.cend());
    }();
    return words;
}

const QSet<QString> &sqlKeywords()
{
    static const QSet<QString> words = [] {
        const QString text = QStringLiteral(
            "select from where insert into values update set delete create table index view drop alter add primary key "
            "foreign references not null default unique join left right inner outer on group by order having limit offset "
            "as and or in is like between union all distinct case when then else end with begin commit rollback returning");
        const QStringList list = text.split(u' ');
        QSet<QString> both(list.cbegin(), list.cend());
        for (const QString &word : list)
            both.insert(word.toUpper());
        return both;
    }();
    return words;
}

CodeSyntax syntaxOf(const QString &language)
{
    static const QStringList script = {QStringLiteral("python"), QStringLiteral("py"),   QStringLiteral("bash"),
                                       QStringLiteral("sh"),     QStringLiteral("shell"), QStringLiteral("zsh"),
                                       QStringLiteral("ruby"),   QStringLiteral("rb"),   QStringLiteral("yaml"),
                                       QStringLiteral("yml"),    QStringLiteral("toml"), QStringLiteral("cmake"),
                                       QStringLiteral("console")};
    const QString name = language.toLower();
    if (script.contains(name))
        return {QStringLiteral("#"), false, &scriptKeywords()};
    if (name == u"sql")
        return {QStringLiteral("--"), true, &sqlKeywords()};
    if (name == u"text" || name == u"diff" || name == u"markdown" || name == u"md")
        return {};
    return {QStringLiteral("//"), true, &cKeywords()};
}

QTextLayout::FormatRange coloured(qsizetype start, qsizetype length, const QColor &colour)
{
    QTextLayout::FormatRange range;
    range.start = int(start);
    range.length = int(length);
    range.format.setForeground(colour);
    return range;
}

qsizetype endOfString(const QString &line, qsizetype start)
{
    for (qsizetype i = start + 1; i < line.size(); ++i) {
        if (line.at(i) == u'\\')
            ++i;
        else if (line.at(i) == line.at(start))
            return i + 1;
    }
    return line.size();
}

// `inComment` goes from line to line.
QList<QTextLayout::FormatRange> highlightLine(const QString &line, const CodeSyntax &syntax, const CodeColours &colours,
                                              bool &inComment)
{
    QList<QTextLayout::FormatRange> ranges;
    qsizetype i = 0;
    while (i < line.size()) {
        if (inComment || (syntax.blockComments && QStringView(line).mid(i).startsWith(u"/*"))) {
            const qsizetype end = line.indexOf(u"*/", inComment ? i : i + 2);
            const qsizetype stop = end < 0 ? line.size() : end + 2;
            inComment = end < 0;
            ranges.append(coloured(i, stop - i, colours.comment));
            i = stop;
        } else if (!syntax.lineComment.isEmpty() && QStringView(line).mid(i).startsWith(syntax.lineComment)) {
            ranges.append(coloured(i, line.size() - i, colours.comment));
            break;
        } else if (line.at(i) == u'"' || line.at(i) == u'\'' || line.at(i) == u'`') {
            const qsizetype end = endOfString(line, i);
            ranges.append(coloured(i, end - i, colours.string));
            i = end;
        } else if (line.at(i).isLetterOrNumber() || line.at(i) == u'_') {
            qsizetype end = i;
            while (end < line.size() && (line.at(end).isLetterOrNumber() || line.at(end) == u'_'))
                ++end;
            if (line.at(i).isDigit())
                ranges.append(coloured(i, end - i, colours.number));
            else if (syntax.keywords->contains(line.mid(i, end - i)))
                ranges.append(coloured(i, end - i, colours.keyword));
            i = end;
        } else {
            ++i;
        }
    }
    return ranges;
}

} // namespace

void highlightCode(QTextDocument &document, const QPalette &palette)
{
    const bool dark = isDark(palette);
    const CodeColours colours = {dark ? QColor(0x7a, 0xb7, 0xff) : QColor(0x0b, 0x57, 0xb0),
                                 dark ? QColor(0x9a, 0xd0, 0x8a) : QColor(0x1b, 0x6e, 0x2e), mutedColour(palette),
                                 dark ? QColor(0xe5, 0xb5, 0x6a) : QColor(0x8f, 0x4a, 0x00)};
    bool inComment = false;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (!block.blockFormat().hasProperty(QTextFormat::BlockCodeFence)) {
            inComment = false;
            continue;
        }
        const CodeSyntax syntax = syntaxOf(block.blockFormat().stringProperty(QTextFormat::BlockCodeLanguage));
        if (!syntax.keywords)
            continue;
        block.layout()->setFormats(highlightLine(block.text(), syntax, colours, inComment));
        document.markContentsDirty(block.position(), block.length());
    }
}

} // namespace ui
