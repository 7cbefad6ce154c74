#pragma once

#include "models/displaytext.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

// The protections of a computer as they were read back: a tick or a cross each, what was asked for and what was found.
class ChecklistView final : public QWidget
{
    Q_OBJECT

public:
    explicit ChecklistView(QWidget *parent = nullptr);

    void showProtections(const QList<engine::Protection> &protections, const QDateTime &provedAt);
    // Instead of a list: why there is none.
    void showSentence(const QString &icon, models::Tone tone, const QString &text);
    void setChecking(bool isChecking);
    // Empty: it can be checked.
    void setCheckProblem(const QString &why);

signals:
    void checkAsked();

protected:
    void changeEvent(QEvent *event) override;

private:
    void rebuild();
    QWidget *rowOf(const engine::Protection &protection);
    void showSummary();

    QList<engine::Protection> m_protections;
    QDateTime m_provedAt;
    QString m_icon;
    QString m_sentence;
    models::Tone m_tone = models::Tone::Neutral;
    bool m_isChecking = false;
    QString m_problem;
    QLabel *m_summary = nullptr;
    QPushButton *m_check = nullptr;
    QVBoxLayout *m_rows = nullptr;
    QTimer m_tick;
};

} // namespace ui
