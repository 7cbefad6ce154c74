#pragma once

#include "models/queuemodel.h"

#include <QAbstractScrollArea>

namespace ui {

// One line per session: the block at the signal, then the waiting ones, left to right. Arrow keys move between
// blocks and tracks, Enter opens the session, Delete asks to cancel.
class TrackView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit TrackView(models::QueueModel &model, QWidget *parent = nullptr);

    engine::RunId current() const { return m_current; }
    void setCurrent(const engine::RunId &id);
    // Where a run's block stands in the viewport; empty when it is not laid out.
    QRect blockRect(const engine::RunId &id) const;
    int trackCount() const { return int(m_tracks.size()); }

signals:
    void currentChanged(const engine::RunId &id);
    void opened(const engine::SessionId &id);
    void cancelAsked(const engine::RunId &id);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Track
    {
        engine::SessionId session;
        QList<int> rows; // of the model
    };
    void rebuild();
    void layOut();
    QRect cell(int track, int place) const;
    engine::RunId runAt(const QPoint &point) const;
    std::pair<int, int> placeOf(const engine::RunId &id) const;
    void move(int byTrack, int byPlace);
    void reveal(const engine::RunId &id);
    void drawTrack(QPainter &painter, int track) const;
    void drawBlock(QPainter &painter, const QRect &area, const engine::Run &run) const;
    int rowHeight() const;

    models::QueueModel &m_model;
    QList<Track> m_tracks;
    engine::RunId m_current;
};

} // namespace ui
