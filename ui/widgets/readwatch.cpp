#include "ui/widgets/readwatch.h"

#include <QAbstractScrollArea>
#include <QEvent>
#include <QRegion>
#include <QScrollBar>

namespace ui {

ReadWatch::ReadWatch(QAbstractScrollArea *area) : QObject(area), m_area(area)
{
    area->viewport()->installEventFilter(this);
}

void ReadWatch::reset()
{
    m_read = false;
    m_area->viewport()->update();
}

bool ReadWatch::eventFilter(QObject *watched, QEvent *event)
{
    // After the paint: what is judged must have been drawn.
    if (event->type() == QEvent::Paint && !m_read)
        QMetaObject::invokeMethod(this, &ReadWatch::check, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

void ReadWatch::check()
{
    const QWidget *viewport = m_area->viewport();
    const QScrollBar *bar = m_area->verticalScrollBar();
    if (m_read || !viewport->isVisible() || bar->value() < bar->maximum())
        return;
    const QPoint lastLine(viewport->width() / 2, viewport->height() - 2);
    if (!viewport->visibleRegion().contains(lastLine))
        return;
    m_read = true;
    emit readToEnd();
}

} // namespace ui
