#pragma once

#include "engine/types/approval.h"
#include "models/transcriptmodel.h"
#include "ui/sessions/heighttree.h"
#include "ui/sessions/rowlayout.h"

#include <QAbstractScrollArea>
#include <QCache>
#include <QElapsedTimer>
#include <QSet>
#include <QTimer>

class QToolButton;

namespace ui {

// Draws a TranscriptModel of any length: estimated heights that become exact when a row is first shown, a cache of
// laid-out documents, and a scroll position that is anchored on a row, so corrections do not move what is read.
// Follows the end until the reader scrolls away.
class TranscriptView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit TranscriptView(models::TranscriptModel &model, QWidget *parent = nullptr);

    void setEmptyText(const QString &title, const QString &hint);
    void setAuthors(const QHash<engine::RunId, QString> &authors);
    void setApprovals(const QHash<engine::ApprovalId, engine::Approval> &approvals);

    bool followsTail() const { return m_follow; }
    void followTail();
    qint64 unseen() const { return m_unseen; }
    qint64 firstVisibleRow() const { return m_visible.isEmpty() ? -1 : m_visible.first().row; }
    qint64 lastVisibleRow() const { return m_visible.isEmpty() ? -1 : m_visible.last().row; }
    // Viewport coordinates; empty when the row is not shown.
    QRect rowRect(qint64 row) const;
    qint64 currentRow() const { return m_current; }
    void setCurrentRow(qint64 row);
    bool isExpanded(qint64 row) const { return m_expanded.contains(row); }
    // Opens or closes a card; an approval is opened by approvalActivated instead.
    void activate(qint64 row);
    // Scrolls to the row and selects the first place of `text` in it.
    void reveal(qint64 row, const QString &text = {});
    QString selectedText() const;
    // The selection, else the current row.
    void copy();
    void copyMarkdown();
    // What is on the screen, as text (also for screen readers).
    QString visibleText();
    int cachedLayouts() const { return int(m_layouts.count()); }

signals:
    void approvalActivated(const engine::ApprovalId &id);
    void followChanged(bool follows);
    void unseenChanged(qint64 count);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent *event) override;
    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    struct Placed
    {
        qint64 row = 0;
        int y = 0;
    };
    // A place in the text of a row.
    struct Spot
    {
        qint64 row = -1;
        int position = 0;
        friend auto operator<=>(const Spot &, const Spot &) = default;
    };

    void connectModel();
    void restart();
    void syncRows();
    void forget(qint64 first, qint64 count);
    void forgetAll();
    void scheduleFrame();
    void frame();

    RowContext context(qint64 row) const;
    RowLayout *layoutOf(qint64 row);
    int measure(qint64 row);
    void arrange();
    void anchorAtTail();
    void normaliseAnchor();
    void place();
    void updateScrollBar();
    void setFollow(bool follow);
    void setUnseen(qint64 count);
    void placeJumpButton();
    void scrollBy(int pixels);

    void paintEmpty(QPainter &painter);
    bool selectionOf(qint64 row, QPair<int, int> &range) const;
    qint64 rowAtPoint(int y) const;
    Spot spotAt(const QPoint &point);
    QString linkAt(const QPoint &point);
    void step(int rows);
    void updateCursor(const QPoint &point);
    void setWhole(qint64 row);
    QString textOf(qint64 row, bool markdown);
    QString selection(bool markdown);

    static constexpr int estimate = 56;
    static constexpr int layoutCacheSize = 300;
    static constexpr int frameMs = 16;
    static constexpr int copyLimit = 5000; // rows

    models::TranscriptModel &m_model;
    HeightTree m_heights;
    qint64 m_stored = 0; // rows of m_heights that are stored blocks; live ones follow
    QCache<qint64, RowLayout> m_layouts;
    QSet<qint64> m_expanded;
    QSet<qint64> m_whole;
    QHash<engine::RunId, QString> m_authors;
    QHash<engine::ApprovalId, engine::Approval> m_approvals;
    QList<Placed> m_visible;
    qint64 m_anchor = 0;
    int m_anchorOffset = 0; // pixels of the anchor row above the viewport
    int m_lastValue = 0;
    int m_width = -1;
    bool m_follow = true;
    bool m_arranging = false;
    bool m_liveStale = false;
    qint64 m_unseen = 0;
    qint64 m_current = -1;
    Spot m_from, m_to;
    bool m_selecting = false;
    QPoint m_pressed;
    QString m_pendingFind; // to be selected once the row is there
    QString m_emptyTitle, m_emptyHint;
    QTimer m_frameTimer;
    QElapsedTimer m_sinceLive;
    qint64 m_liveCostMs = 0;
    QToolButton *m_jump = nullptr;
};

} // namespace ui
