#pragma once

#include <QColor>
#include <QIcon>
#include <QRectF>
#include <QString>
#include <QStringList>

class QPainter;

namespace ui {

// The program's own icons, drawn in code so that they take any colour and size. The names are those of
// models::Look::icon and of the pages; an unknown name draws a plain dot.
QStringList iconNames();
// `turn` is the angle in degrees of icons that move ("running").
void paintIcon(QPainter &painter, const QRectF &area, const QString &name, const QColor &colour, double turn = 0);
QIcon icon(const QString &name, const QColor &colour);
QPixmap iconPixmap(const QString &name, const QColor &colour, int size, double ratio = 1);

} // namespace ui
