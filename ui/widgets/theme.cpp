#include "ui/widgets/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QSettings>
#include <QStyle>
#include <QStyleFactory>

namespace ui {
namespace {

struct Surface
{
    const char *window;
    const char *base;
    const char *alternate;
    const char *button;
    const char *text;
    const char *muted;
    const char *line;
    const char *accent;
    const char *accentText;
};

constexpr Surface lightSurface{"#f3f4f6", "#ffffff", "#f8f9fa", "#fcfcfd", "#1c2126",
                               "#5a646e", "#d3d8dd", "#2563c9", "#ffffff"};
constexpr Surface darkSurface{"#1b1e22", "#22262b", "#272b31", "#2d3238", "#e3e6ea",
                              "#9aa4af", "#3b424a", "#6ea4ff", "#10151c"};

QPalette paletteOf(const Surface &surface)
{
    const QColor text(QLatin1String(surface.text));
    const QColor muted(QLatin1String(surface.muted));
    QPalette palette;
    palette.setColor(QPalette::Window, QColor(QLatin1String(surface.window)));
    palette.setColor(QPalette::Base, QColor(QLatin1String(surface.base)));
    palette.setColor(QPalette::AlternateBase, QColor(QLatin1String(surface.alternate)));
    palette.setColor(QPalette::Button, QColor(QLatin1String(surface.button)));
    palette.setColor(QPalette::ToolTipBase, QColor(QLatin1String(surface.button)));
    for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
        palette.setColor(role, text);
    palette.setColor(QPalette::BrightText, Qt::white);
    palette.setColor(QPalette::PlaceholderText, muted);
    palette.setColor(QPalette::Highlight, QColor(QLatin1String(surface.accent)));
    palette.setColor(QPalette::HighlightedText, QColor(QLatin1String(surface.accentText)));
    palette.setColor(QPalette::Link, QColor(QLatin1String(surface.accent)));
    palette.setColor(QPalette::LinkVisited, QColor(QLatin1String(surface.accent)));
    const QColor line(QLatin1String(surface.line));
    palette.setColor(QPalette::Mid, line);
    palette.setColor(QPalette::Midlight, line.lighter(106));
    palette.setColor(QPalette::Light, QColor(QLatin1String(surface.base)));
    palette.setColor(QPalette::Dark, line.darker(130));
    palette.setColor(QPalette::Shadow, line.darker(180));
    QColor disabled = muted;
    disabled.setAlpha(150);
    for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, disabled);
    return palette;
}

const Surface &surfaceOf(const QPalette &palette)
{
    return isDark(palette) ? darkSurface : lightSurface;
}

QColor mixed(const QColor &over, const QColor &below, double share)
{
    const auto channel = [share](int a, int b) { return int(a * share + b * (1 - share) + 0.5); };
    return QColor(channel(over.red(), below.red()), channel(over.green(), below.green()), channel(over.blue(), below.blue()));
}

struct SystemLook
{
    QFont font;
    bool dark = false;
};

// What the desktop gave us before our own palette and font covered it.
const SystemLook &systemLook()
{
    static const SystemLook look{QApplication::font(), isDark(QApplication::palette())};
    return look;
}

} // namespace

QString toString(Appearance appearance)
{
    switch (appearance) {
    case Appearance::System:
        return QStringLiteral("system");
    case Appearance::Light:
        return QStringLiteral("light");
    case Appearance::Dark:
        return QStringLiteral("dark");
    }
    return {};
}

Appearance appearanceFromString(const QString &text)
{
    if (text == u"light")
        return Appearance::Light;
    return text == u"dark" ? Appearance::Dark : Appearance::System;
}

void applyTheme(QApplication &application, Appearance appearance, int textPercent)
{
    const SystemLook &system = systemLook();
    const bool dark = appearance == Appearance::Dark || (appearance == Appearance::System && system.dark);
    if (application.style()->objectName() != u"fusion")
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(dark ? darkPalette() : lightPalette());
    QFont font = system.font;
    const int percent = qBound(75, textPercent, 200);
    if (font.pointSizeF() > 0)
        font.setPointSizeF(font.pointSizeF() * percent / 100);
    else
        font.setPixelSize(qMax(6, font.pixelSize() * percent / 100));
    QApplication::setFont(font);
}

void applyTheme(QApplication &application, const QSettings &settings)
{
    applyTheme(application, appearanceFromString(settings.value(QStringLiteral("appearance")).toString()),
               settings.value(QStringLiteral("text_percent"), 100).toInt());
}

QPalette lightPalette()
{
    return paletteOf(lightSurface);
}

QPalette darkPalette()
{
    return paletteOf(darkSurface);
}

bool isDark(const QPalette &palette)
{
    return palette.color(QPalette::Window).lightness() < 128;
}

QColor toneColour(models::Tone tone, const QPalette &palette)
{
    const bool dark = isDark(palette);
    switch (tone) {
    case models::Tone::Neutral:
        return QColor(QLatin1String(dark ? "#a9b4c2" : "#4f5b6b"));
    case models::Tone::Muted:
        return mutedColour(palette);
    case models::Tone::Info:
        return QColor(QLatin1String(dark ? "#6ea4ff" : "#1f5fc4"));
    case models::Tone::Attention:
        return QColor(QLatin1String(dark ? "#f2b13c" : "#8f5a00"));
    case models::Tone::Danger:
        return QColor(QLatin1String(dark ? "#ff8578" : "#b3261e"));
    case models::Tone::Good:
        return QColor(QLatin1String(dark ? "#63c985" : "#1c7340"));
    }
    return {};
}

QColor toneFill(models::Tone tone, const QPalette &palette)
{
    return mixed(toneColour(tone, palette), palette.color(QPalette::Base), isDark(palette) ? 0.18 : 0.11);
}

QColor accentColour(const QPalette &palette)
{
    return QColor(QLatin1String(surfaceOf(palette).accent));
}

QColor lineColour(const QPalette &palette)
{
    return QColor(QLatin1String(surfaceOf(palette).line));
}

QColor mutedColour(const QPalette &palette)
{
    return QColor(QLatin1String(surfaceOf(palette).muted));
}

QColor cardColour(const QPalette &palette)
{
    return palette.color(QPalette::Base);
}

QColor addedFill(const QPalette &palette)
{
    return toneFill(models::Tone::Good, palette);
}

QColor removedFill(const QPalette &palette)
{
    return toneFill(models::Tone::Danger, palette);
}

QFont monospaceFont()
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    const QFont base = QApplication::font();
    if (base.pointSizeF() > 0)
        font.setPointSizeF(base.pointSizeF());
    else
        font.setPixelSize(base.pixelSize());
    return font;
}

QFont sizedFont(int steps, bool bold)
{
    QFont font = QApplication::font();
    if (font.pointSizeF() > 0)
        font.setPointSizeF(qMax(6.0, font.pointSizeF() + steps));
    else
        font.setPixelSize(qMax(8, font.pixelSize() + steps));
    font.setBold(bold);
    return font;
}

} // namespace ui
