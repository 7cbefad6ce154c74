#include "ui/widgets/icons.h"

#include <QGuiApplication>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPalette>
#include <QPixmap>

namespace ui {
namespace {

// QPainterPath's own operator + unites areas, which closes open strokes; this one only puts paths together.
struct Shape : QPainterPath
{
    using QPainterPath::QPainterPath;
};

Shape operator+(Shape first, const Shape &second)
{
    first.addPath(second);
    return first;
}

// Shapes stand on a 16 x 16 grid: `stroke` is drawn with a 1.5 wide pen, `fill` is filled.
struct Glyph
{
    Shape stroke;
    Shape fill;
};

Shape polyline(std::initializer_list<QPointF> points)
{
    Shape path;
    path.moveTo(*points.begin());
    for (const QPointF &point : points)
        path.lineTo(point);
    return path;
}

Shape circle(double x, double y, double radius)
{
    Shape path;
    path.addEllipse(QPointF(x, y), radius, radius);
    return path;
}

Shape box(double x, double y, double width, double height, double radius = 1.5)
{
    Shape path;
    path.addRoundedRect(QRectF(x, y, width, height), radius, radius);
    return path;
}

Shape arc(double x, double y, double radius, double start, double length)
{
    const QRectF area(x - radius, y - radius, 2 * radius, 2 * radius);
    Shape path;
    path.arcMoveTo(area, start);
    path.arcTo(area, start, length);
    return path;
}

Shape triangle()
{
    Shape path = polyline({{8, 2}, {14.5, 13.5}, {1.5, 13.5}});
    path.closeSubpath();
    return path;
}

QHash<QString, Glyph> stateGlyphs()
{
    const Shape tick = polyline({{2.8, 8.6}, {6.4, 12.2}, {13.2, 4.2}});
    const Shape cross = polyline({{3.6, 3.6}, {12.4, 12.4}}) + polyline({{12.4, 3.6}, {3.6, 12.4}});
    return {{QStringLiteral("queued"), {circle(8, 8, 4.6), {}}},
            {QStringLiteral("idle"), {{}, circle(8, 8, 2)}},
            {QStringLiteral("running"), {arc(8, 8, 5.2, 60, 270), circle(8, 8, 1.8)}},
            {QStringLiteral("paused"), {polyline({{8, 10.6}, {8, 15}}) + polyline({{5, 15}, {11, 15}}), circle(8, 6, 5)}},
            {QStringLiteral("done"), {tick, {}}},
            {QStringLiteral("failed"), {cross, {}}},
            {QStringLiteral("cancelled"), {polyline({{3, 8}, {13, 8}}), {}}},
            {QStringLiteral("denied"), {circle(8, 8, 5.6) + polyline({{4.2, 11.8}, {11.8, 4.2}}), {}}},
            {QStringLiteral("expired"), {circle(8, 8, 5.8) + polyline({{8, 4.6}, {8, 8}, {10.6, 9.8}}), {}}},
            {QStringLiteral("warning"), {triangle() + polyline({{8, 6.4}, {8, 9.6}}), circle(8, 11.7, 0.9)}},
            {QStringLiteral("info"), {circle(8, 8, 6) + polyline({{8, 7.4}, {8, 11.2}}), circle(8, 4.9, 0.9)}},
            {QStringLiteral("dot"), {{}, circle(8, 8, 3)}}};
}

QHash<QString, Glyph> pageGlyphs()
{
    Shape bubble = polyline({{2, 3}, {14, 3}, {14, 11}, {7.5, 11}, {4.5, 14}, {4.5, 11}, {2, 11}});
    bubble.closeSubpath();
    const Shape signal = circle(8, 5, 3.4) + polyline({{8, 8.6}, {8, 14}}) + polyline({{4.6, 14}, {11.4, 14}});
    const Shape tracks =
        polyline({{1.5, 4}, {14.5, 4}}) + polyline({{1.5, 8}, {14.5, 8}}) + polyline({{1.5, 12}, {14.5, 12}});
    const Shape stations = circle(11, 4, 1.9) + circle(6, 8, 1.9) + circle(9, 12, 1.9);
    Shape teeth;
    for (int i = 0; i < 8; ++i) {
        QTransform turn;
        turn.translate(8, 8).rotate(45 * i);
        teeth.addPath(turn.map(polyline({{0, -4.6}, {0, -6.6}})));
    }
    Shape cube = polyline({{8, 1.6}, {14, 4.8}, {14, 11.2}, {8, 14.4}, {2, 11.2}, {2, 4.8}});
    cube.closeSubpath();
    const Shape edges = polyline({{2, 4.8}, {8, 8}, {14, 4.8}}) + polyline({{8, 8}, {8, 14.4}});
    return {{QStringLiteral("sandboxes"), {cube + edges, {}}},
            {QStringLiteral("sessions"), {bubble + polyline({{4.8, 6}, {11.2, 6}}) + polyline({{4.8, 8.4}, {9, 8.4}}), {}}},
            {QStringLiteral("queue"), {tracks, stations}},
            {QStringLiteral("approvals"), {signal, circle(8, 5, 1.5)}},
            {QStringLiteral("agents"),
             {box(3, 5, 10, 8.5) + polyline({{8, 5}, {8, 2}}) + polyline({{6.2, 11}, {9.8, 11}}),
              circle(6, 8.3, 1) + circle(10, 8.3, 1) + circle(8, 1.8, 1)}},
            {QStringLiteral("settings"), {circle(8, 8, 4.4) + teeth, circle(8, 8, 1.6)}}};
}

QHash<QString, Glyph> actionGlyphs()
{
    Shape pencil = polyline({{3, 13}, {3.6, 10.2}, {10.8, 3}, {13, 5.2}, {5.8, 12.4}});
    pencil.closeSubpath();
    Shape play = polyline({{4.5, 3}, {13, 8}, {4.5, 13}});
    play.closeSubpath();
    Shape page = polyline({{4, 2}, {9.5, 2}, {12.5, 5}, {12.5, 14}, {4, 14}});
    page.closeSubpath();
    Shape flame;
    flame.moveTo(8, 1.8);
    flame.cubicTo({12.8, 6.6}, {13.2, 14.2}, {8, 14.2});
    flame.cubicTo({2.8, 14.2}, {3.6, 8.6}, {6.2, 7});
    flame.cubicTo({6.8, 8.2}, {7.4, 8.4}, {7.8, 8});
    flame.cubicTo({8.6, 6.4}, {7.6, 4}, {8, 1.8});
    Shape layer = polyline({{8, 2}, {14.2, 5.2}, {8, 8.4}, {1.8, 5.2}});
    layer.closeSubpath();
    const Shape below = polyline({{1.8, 8}, {8, 11.2}, {14.2, 8}}) + polyline({{1.8, 10.8}, {8, 14}, {14.2, 10.8}});
    Shape drum;
    drum.addEllipse(QPointF(8, 4), 5.4, 2.2);
    const Shape sides = polyline({{2.6, 4}, {2.6, 12}}) + polyline({{13.4, 4}, {13.4, 12}});
    Shape bottom;
    bottom.arcMoveTo(QRectF(2.6, 9.8, 10.8, 4.4), 180);
    bottom.arcTo(QRectF(2.6, 9.8, 10.8, 4.4), 180, 180);
    return {{QStringLiteral("pause"), {{}, box(3.6, 3, 3, 10, 0.8) + box(9.4, 3, 3, 10, 0.8)}},
            {QStringLiteral("image"), {layer + below, {}}},
            {QStringLiteral("volume"), {drum + sides + bottom, {}}},
            {QStringLiteral("search"), {circle(7, 7, 4.4) + polyline({{10.3, 10.3}, {14, 14}}), {}}},
            {QStringLiteral("plus"), {polyline({{8, 3}, {8, 13}}) + polyline({{3, 8}, {13, 8}}), {}}},
            {QStringLiteral("close"), {polyline({{4, 4}, {12, 12}}) + polyline({{12, 4}, {4, 12}}), {}}},
            {QStringLiteral("copy"), {box(5.5, 5.5, 8, 8.5) + polyline({{3, 10.5}, {2.4, 10.5}, {2.4, 2.4}, {10.4, 2.4}, {10.4, 3}}), {}}},
            {QStringLiteral("edit"), {pencil, {}}},
            {QStringLiteral("play"), {{}, play}},
            {QStringLiteral("stop"), {{}, box(4, 4, 8, 8)}},
            {QStringLiteral("send"), {polyline({{8, 13.5}, {8, 3}}) + polyline({{3.6, 7.2}, {8, 2.8}, {12.4, 7.2}}), {}}},
            {QStringLiteral("requeue"), {arc(8, 8, 5, 40, 280) + polyline({{8.9, 5.4}, {12.2, 4.8}, {12.6, 1.6}}), {}}},
            {QStringLiteral("clock"), {circle(8, 8, 5.8) + polyline({{8, 4.6}, {8, 8}, {10.6, 9.8}}), {}}},
            {QStringLiteral("chevron-down"), {polyline({{3.6, 6}, {8, 10.4}, {12.4, 6}}), {}}},
            {QStringLiteral("chevron-right"), {polyline({{6, 3.6}, {10.4, 8}, {6, 12.4}}), {}}},
            {QStringLiteral("question"), {arc(8, 5.8, 3.2, 180, -230) + polyline({{8, 8.6}, {8, 10}}), circle(8, 12.9, 1)}},
            {QStringLiteral("plan"), {box(3, 2.5, 10, 11.5) + polyline({{5.6, 6}, {10.4, 6}}) + polyline({{5.6, 8.6}, {10.4, 8.6}}) +
                                          polyline({{5.6, 11.2}, {8.4, 11.2}}),
                                      {}}},
            {QStringLiteral("tool"), {polyline({{3, 4}, {7, 8}, {3, 12}}) + polyline({{8.5, 12}, {13.5, 12}}), {}}},
            {QStringLiteral("file"), {page + polyline({{9.4, 2}, {9.4, 5.2}, {12.5, 5.2}}), {}}},
            {QStringLiteral("warm"), {{}, flame}},
            {QStringLiteral("archive"), {box(2, 3, 12, 3.4, 0.8) + polyline({{3.2, 6.4}, {3.2, 13.2}, {12.8, 13.2}, {12.8, 6.4}}) +
                                             polyline({{6.4, 9}, {9.6, 9}}),
                                         {}}},
            {QStringLiteral("menu"), {{}, circle(3.4, 8, 1.3) + circle(8, 8, 1.3) + circle(12.6, 8, 1.3)}},
            {QStringLiteral("session-link"), {box(2.5, 4.5, 9, 9) + polyline({{8, 2.4}, {13.6, 2.4}, {13.6, 8}}) +
                                                  polyline({{7, 9}, {13, 3}}),
                                              {}}}};
}

const QHash<QString, Glyph> &glyphs()
{
    static const QHash<QString, Glyph> all = [] {
        QHash<QString, Glyph> glyphs = stateGlyphs();
        glyphs.insert(pageGlyphs());
        glyphs.insert(actionGlyphs());
        return glyphs;
    }();
    return all;
}

class GlyphEngine final : public QIconEngine
{
public:
    GlyphEngine(QString name, const QColor &colour) : m_name(std::move(name)), m_colour(colour) {}

    void paint(QPainter *painter, const QRect &area, QIcon::Mode mode, QIcon::State) override
    {
        QColor colour = m_colour;
        if (mode == QIcon::Selected) // on the highlight of a chosen row
            colour = QGuiApplication::palette().color(QPalette::HighlightedText);
        if (mode == QIcon::Disabled)
            colour.setAlphaF(colour.alphaF() * 0.4f);
        paintIcon(*painter, area, m_name, colour);
    }
    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return pixmap;
    }
    QIconEngine *clone() const override { return new GlyphEngine(m_name, m_colour); }

private:
    QString m_name;
    QColor m_colour;
};

} // namespace

QStringList iconNames()
{
    QStringList names = glyphs().keys();
    names.sort();
    return names;
}

void paintIcon(QPainter &painter, const QRectF &area, const QString &name, const QColor &colour, double turn)
{
    const Glyph glyph = glyphs().value(name, Glyph{{}, circle(8, 8, 3)});
    const double side = qMin(area.width(), area.height());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(area.center());
    painter.rotate(turn);
    painter.scale(side / 16, side / 16);
    painter.translate(-8, -8);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(glyph.stroke);
    painter.fillPath(glyph.fill, colour);
    painter.restore();
}

QIcon icon(const QString &name, const QColor &colour)
{
    return QIcon(new GlyphEngine(name, colour));
}

QPixmap iconPixmap(const QString &name, const QColor &colour, int size, double ratio)
{
    QPixmap pixmap(QSize(size, size) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintIcon(painter, QRectF(0, 0, size, size), name, colour);
    return pixmap;
}

} // namespace ui
