#pragma once

#include "models/linediff.h"

#include <QPlainTextEdit>

namespace ui {

class ReadWatch;

// Read-only text that must be judged: whole, wrapped, monospaced, hidden characters as marked tokens. As tall as its
// text up to `maxLines`.
class CodeView final : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit CodeView(int maxLines, QWidget *parent = nullptr);

    void setCode(const QString &raw);
    void setDiff(const QList<models::DiffLine> &lines);
    bool isRead() const;
    int markCount() const { return m_marks; }

signals:
    void readToEnd();

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void rebuild();
    void fitHeight();

    int m_maxLines;
    QString m_raw;
    QList<models::DiffLine> m_diff;
    int m_marks = 0;
    ReadWatch *m_watch;
};

} // namespace ui
