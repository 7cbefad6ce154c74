#include "models/visibletext.h"

#include <QCoreApplication>
#include <QStringView>
#include <array>
#include <optional>

namespace models {
namespace {

struct CodeRange
{
    char32_t first;
    char32_t last;
    Mark::Kind kind;
};

// Default-ignorable and direction-changing characters, by Unicode 15's DerivedCoreProperties and UAX #9.
constexpr std::array<CodeRange, 27> hiddenRanges{{
    {0x00AD, 0x00AD, Mark::Kind::Invisible},       {0x034F, 0x034F, Mark::Kind::Invisible},
    {0x061C, 0x061C, Mark::Kind::Bidirectional},   {0x115F, 0x1160, Mark::Kind::Invisible},
    {0x17B4, 0x17B5, Mark::Kind::Invisible},       {0x180B, 0x180F, Mark::Kind::Invisible},
    {0x200B, 0x200D, Mark::Kind::Invisible},       {0x200E, 0x200F, Mark::Kind::Bidirectional},
    {0x2028, 0x2029, Mark::Kind::Control},         {0x202A, 0x202E, Mark::Kind::Bidirectional},
    {0x2060, 0x2065, Mark::Kind::Invisible},       {0x2066, 0x2069, Mark::Kind::Bidirectional},
    {0x206A, 0x206F, Mark::Kind::Invisible},       {0x2800, 0x2800, Mark::Kind::Invisible},
    {0x3164, 0x3164, Mark::Kind::Invisible},       {0xFE00, 0xFE0F, Mark::Kind::Invisible},
    {0xFEFF, 0xFEFF, Mark::Kind::Invisible},       {0xFFA0, 0xFFA0, Mark::Kind::Invisible},
    {0xFFF0, 0xFFFB, Mark::Kind::Invisible},       {0xFFFC, 0xFFFD, Mark::Kind::Broken},
    {0x1BCA0, 0x1BCA3, Mark::Kind::Invisible},     {0x1D159, 0x1D159, Mark::Kind::Invisible},
    {0x1D173, 0x1D17A, Mark::Kind::Invisible},     {0xE0000, 0xE0FFF, Mark::Kind::Invisible},
    {0xE000, 0xF8FF, Mark::Kind::Invisible},       {0xF0000, 0xFFFFD, Mark::Kind::Invisible},
    {0x100000, 0x10FFFD, Mark::Kind::Invisible},
}};

bool isNarrowLookAlike(char32_t code)
{
    // Letters and signs that a reader takes for ASCII: other alphabets' twins, full-width forms, odd quotes, dashes,
    // slashes and mathematical letters.
    switch (code) {
    case 0x0131: case 0x0237: case 0x01C0: case 0x01C3: case 0x02B9: case 0x02BC: case 0x02C8: case 0x02D0:
    case 0x037E: case 0x0589: case 0x05C3: case 0x066A: case 0x2010: case 0x2011: case 0x2012: case 0x2212:
    case 0x2024: case 0x2044: case 0x2215: case 0x2216: case 0x2223: case 0x2236: case 0x2217: case 0x223C:
    case 0x29F8: case 0x29F9: case 0x2571: case 0x2572: case 0x3003: case 0xA789: case 0x2018: case 0x2019:
    case 0x201A: case 0x201B: case 0x2032: case 0x2035: case 0x00B4: case 0x055D: case 0x2039: case 0x203A:
    case 0x276E: case 0x276F: case 0x02C2: case 0x02C3: case 0x212A: case 0x2E29:
        return true;
    default:
        break;
    }
    if (code >= 0x0370 && code <= 0x03FF)
        return QStringView(u"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαινορυχϲϳϹϺ").contains(QChar(char16_t(code)));
    if (code >= 0x0400 && code <= 0x052F)
        return QStringView(u"АВЕЅІЈКМНОРСТУХЬаеѕіјорсухһԁԛԜԝҮүҺӀӏ").contains(QChar(char16_t(code)));
    if (code >= 0x0531 && code <= 0x0587)
        return QStringView(u"ՍՕօոսցզհ").contains(QChar(char16_t(code)));
    return (code >= 0xFF01 && code <= 0xFF5E) || (code >= 0x1D400 && code <= 0x1D7FF) ||
           (code >= 0x2160 && code <= 0x217F) || (code >= 0x13A0 && code <= 0x13F5);
}

bool isUnusualSpace(char32_t code)
{
    return code == 0x00A0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x202F || code == 0x205F ||
           code == 0x3000;
}

std::optional<Mark::Kind> hiddenKind(char32_t code)
{
    if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code <= 0x9F))
        return Mark::Kind::Control;
    if (code >= 0xD800 && code <= 0xDFFF)
        return Mark::Kind::Broken;
    if (isUnusualSpace(code))
        return Mark::Kind::Invisible;
    for (const CodeRange &range : hiddenRanges) {
        if (code >= range.first && code <= range.last)
            return range.kind;
    }
    if ((code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF) || code > 0x10FFFF)
        return Mark::Kind::Broken;
    if (code >= 0x80 && isNarrowLookAlike(code))
        return Mark::Kind::LookAlike;
    // Characters that this Qt does not know have no glyph either.
    if (code >= 0x80 && QChar::category(code) == QChar::Other_NotAssigned)
        return Mark::Kind::Invisible;
    return std::nullopt;
}

QString token(char32_t code)
{
    return u'⟦' + QStringLiteral("U+") + QString::number(uint(code), 16).toUpper().rightJustified(4, u'0') + u'⟧';
}

bool mayStackOn(QChar::Category category)
{
    return category == QChar::Mark_NonSpacing || category == QChar::Mark_Enclosing;
}

} // namespace

VisibleText visibleText(const QString &raw)
{
    constexpr int stackedMarksShown = 2; // more combining marks than a language needs hide what is below
    VisibleText shown;
    shown.text.reserve(raw.size());
    int stacked = 0;
    for (qsizetype i = 0; i < raw.size(); ++i) {
        char32_t code = raw.at(i).unicode();
        if (QChar::isHighSurrogate(code) && i + 1 < raw.size() && raw.at(i + 1).isLowSurrogate()) {
            code = QChar::surrogateToUcs4(raw.at(i), raw.at(i + 1));
            ++i;
        }
        std::optional<Mark::Kind> kind = hiddenKind(code);
        stacked = code >= 0x300 && mayStackOn(QChar::category(code)) ? stacked + 1 : 0;
        // A mark after ASCII re-draws a letter of a command: a̲ or a̸ are not what runs as a.
        const bool onAscii = stacked == 1 && (i == 0 || raw.at(i - 1).unicode() < 0x80);
        if (!kind && (stacked > stackedMarksShown || onAscii))
            kind = Mark::Kind::LookAlike;
        // Two line breaks in one look: a lone carriage return lets later text overwrite earlier text in a terminal.
        if (code == '\n' || code == '\t')
            kind = std::nullopt;
        if (!kind && (code == U'⟦' || code == U'⟧'))
            kind = Mark::Kind::LookAlike; // a forged token
        if (!kind) {
            shown.text += QStringView(QChar::fromUcs4(code));
            continue;
        }
        const QString drawn = code < 0x80 || *kind != Mark::Kind::LookAlike || code == U'⟦' || code == U'⟧' || stacked > 0
                                  ? token(code)
                                  : QString::fromUcs4(&code, 1) + token(code);
        shown.marks.append({*kind, shown.text.size(), drawn.size()});
        shown.text += drawn;
    }
    return shown;
}

QString visibleLine(const QString &raw)
{
    QString line = visibleText(raw).text;
    line.replace(u'\n', QStringLiteral("⏎ "));
    line.replace(u'\t', u'⇥');
    return line;
}

QString markSummary(const QList<Mark> &marks)
{
    if (marks.isEmpty())
        return {};
    return QCoreApplication::translate("models::VisibleText",
                                       "%1 hidden or misleading character(s) are shown as ⟦U+…⟧ tokens. Look closely.")
        .arg(marks.size());
}

} // namespace models
