#pragma once

#include <QObject>

class QAbstractScrollArea;

namespace ui {

// Knows whether the end of a scrollable text was on the screen: at its last line, and not cut off by whatever it
// stands in. A text that fits is read once it is drawn whole.
class ReadWatch final : public QObject
{
    Q_OBJECT

public:
    explicit ReadWatch(QAbstractScrollArea *area);

    bool isRead() const { return m_read; }
    // New text: not read again.
    void reset();

signals:
    void readToEnd();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void check();

    QAbstractScrollArea *m_area;
    bool m_read = false;
};

} // namespace ui
