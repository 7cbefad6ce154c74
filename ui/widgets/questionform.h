#pragma once

#include "models/approvalinput.h"

#include <QWidget>

class QAbstractButton;
class QLineEdit;

namespace ui {

// The questions of a model with their options as radio buttons or check boxes, and a line for words of one's own.
class QuestionForm final : public QWidget
{
    Q_OBJECT

public:
    explicit QuestionForm(const QList<models::Question> &questions, QWidget *parent = nullptr);

    // Every question has an answer.
    bool isComplete() const;
    QMap<QString, QString> answers() const;

signals:
    void changed();

private:
    struct Entry
    {
        QString question;
        QList<QAbstractButton *> buttons; // with the option's exact label as property "label"
        QLineEdit *own = nullptr;
    };
    QString answerOf(const Entry &entry) const;

    QList<Entry> m_entries;
};

} // namespace ui
