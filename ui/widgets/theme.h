#pragma once

#include "models/displaytext.h"

#include <QColor>
#include <QFont>
#include <QPalette>

class QApplication;
class QSettings;

namespace ui {

enum class Appearance { System, Light, Dark };
QString toString(Appearance appearance);
Appearance appearanceFromString(const QString &text);

// Distances are multiples of this.
constexpr int grid = 4;

// Fusion with our palette; `textPercent` scales the system's font (75 to 200). May be called again at any time.
void applyTheme(QApplication &application, Appearance appearance, int textPercent = 100);
// From the keys "appearance" and "text_percent".
void applyTheme(QApplication &application, const QSettings &settings);

QPalette lightPalette();
QPalette darkPalette();
bool isDark(const QPalette &palette);

// Colours for states: as text or icon on the palette's Base and Window (contrast at least 4.5), and as a quiet fill.
QColor toneColour(models::Tone tone, const QPalette &palette);
QColor toneFill(models::Tone tone, const QPalette &palette);
QColor accentColour(const QPalette &palette);
QColor lineColour(const QPalette &palette);  // borders and separators
QColor mutedColour(const QPalette &palette); // secondary text
QColor cardColour(const QPalette &palette);  // raised surfaces
QColor addedFill(const QPalette &palette);
QColor removedFill(const QPalette &palette);

QFont monospaceFont();
// The application's font made larger or smaller by `steps` of 1 pt.
QFont sizedFont(int steps, bool bold = false);

} // namespace ui
