#include "ui/widgets/questionform.h"

#include "models/visibletext.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QButtonGroup>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QRadioButton>

namespace ui {
namespace {

QLabel *plainLabel(const QString &text, QWidget *parent)
{
    auto *label = new QLabel(models::visibleText(text).text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

} // namespace

QuestionForm::QuestionForm(const QList<models::Question> &questions, QWidget *parent) : QWidget(parent)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid);
    for (const models::Question &question : questions) {
        Entry entry;
        entry.question = question.text;
        QLabel *title = plainLabel(question.text, this);
        title->setFont(sizedFont(0, true));
        layout->addWidget(title);
        if (question.isMultiple)
            layout->addWidget(plainLabel(tr("Several answers are possible."), this));
        auto *group = new QButtonGroup(this);
        group->setExclusive(!question.isMultiple);
        for (const models::QuestionOption &option : question.options) {
            QAbstractButton *button = question.isMultiple ? static_cast<QAbstractButton *>(new QCheckBox(this))
                                                          : static_cast<QAbstractButton *>(new QRadioButton(this));
            button->setText(models::visibleLine(option.label).replace(u'&', QStringLiteral("&&")));
            button->setProperty("label", option.label);
            button->setAccessibleDescription(option.description);
            group->addButton(button);
            entry.buttons.append(button);
            layout->addWidget(button);
            if (!option.description.isEmpty()) {
                QLabel *description = plainLabel(option.description, this);
                description->setIndent(grid * 6);
                description->setForegroundRole(QPalette::PlaceholderText);
                layout->addWidget(description);
            }
            connect(button, &QAbstractButton::toggled, this, &QuestionForm::changed);
        }
        entry.own = new QLineEdit(this);
        entry.own->setPlaceholderText(question.options.isEmpty() ? tr("Your answer") : tr("Or in your own words"));
        entry.own->setAccessibleName(tr("Own answer to: %1").arg(question.text));
        connect(entry.own, &QLineEdit::textChanged, this, &QuestionForm::changed);
        layout->addWidget(entry.own);
        layout->addSpacing(grid * 2);
        m_entries.append(entry);
    }
}

QString QuestionForm::answerOf(const Entry &entry) const
{
    QStringList chosen;
    for (const QAbstractButton *button : entry.buttons) {
        if (button->isChecked())
            chosen.append(button->property("label").toString());
    }
    const QString own = entry.own->text().trimmed();
    const bool isExclusive = !entry.buttons.isEmpty() && qobject_cast<const QRadioButton *>(entry.buttons.first());
    if (!own.isEmpty()) {
        if (isExclusive)
            return own;
        chosen.append(own);
    }
    return chosen.join(QStringLiteral(", "));
}

bool QuestionForm::isComplete() const
{
    for (const Entry &entry : m_entries) {
        if (answerOf(entry).isEmpty())
            return false;
    }
    return !m_entries.isEmpty();
}

QMap<QString, QString> QuestionForm::answers() const
{
    QMap<QString, QString> answers;
    for (const Entry &entry : m_entries)
        answers.insert(entry.question, answerOf(entry));
    return answers;
}

} // namespace ui
