#include "ui/widgets/rundetails.h"

#include "models/displaytext.h"
#include "models/visibletext.h"
#include "ui/widgets/statelabel.h"
#include "ui/widgets/theme.h"

#include <QFormLayout>
#include <QLabel>

namespace ui {

RunDetails::RunDetails(QWidget *parent) : QWidget(parent)
{
    m_form = new QFormLayout(this);
    m_form->setContentsMargins(grid * 3, grid * 3, grid * 3, grid * 3);
    m_form->setHorizontalSpacing(grid * 3);
    m_form->setVerticalSpacing(grid * 2);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setRowWrapPolicy(QFormLayout::DontWrapRows);
}

void RunDetails::clear()
{
    while (m_form->rowCount() > 0)
        m_form->removeRow(0);
}

void RunDetails::add(const QString &label, const QString &value, const QString &tip)
{
    if (value.isEmpty())
        return;
    auto *caption = new QLabel(label, this);
    caption->setForegroundRole(QPalette::PlaceholderText);
    auto *text = new QLabel(models::visibleText(value).text, this);
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    text->setToolTip(tip);
    text->setAccessibleName(label);
    m_form->addRow(caption, text);
}

void RunDetails::addTime(const QString &label, const QDateTime &at)
{
    if (at.isValid())
        add(label, models::relativeTime(at, QDateTime::currentDateTimeUtc()), models::exactUtc(at));
}

void RunDetails::setRun(const engine::Run &run)
{
    clear();
    auto *state = new StateLabel(this);
    state->setLook(models::look(run.state));
    auto *caption = new QLabel(tr("State"), this);
    caption->setForegroundRole(QPalette::PlaceholderText);
    m_form->addRow(caption, state);
    add(tr("Waits for"), run.waitingFor);
    if (run.position > 0)
        add(tr("Position"), QString::number(run.position));
    add(tr("Why it failed"), run.errorMessage, run.errorCode);
    add(tr("Prompt"), models::oneLine(run.prompt, 400));
    add(tr("Asked by"), run.origin.isEmpty() ? run.requestedBy : tr("%1, %2").arg(run.requestedBy, run.origin));
    addTime(tr("Asked"), run.createdAt);
    addTime(tr("Started"), run.startedAt);
    addTime(tr("Ended"), run.endedAt);
    if (run.startedAt.isValid() && run.endedAt.isValid())
        add(tr("Took"), models::duration(run.startedAt.msecsTo(run.endedAt)));
    QStringList steps;
    for (qsizetype i = 0; i < run.steps.size(); ++i) {
        const QDateTime before = i > 0 ? run.steps.at(i - 1).at : run.createdAt;
        steps.append(tr("%1 +%2").arg(run.steps.at(i).name, models::duration(before.msecsTo(run.steps.at(i).at))));
    }
    add(tr("Steps"), steps.join(u'\n'));
    if (run.attempt > 0)
        add(tr("Attempt"), tr("%1 of %2").arg(run.attempt).arg(qMax(run.attempt, run.maxAttempts)));
    const engine::Usage &usage = run.usage;
    if (usage != engine::Usage()) {
        add(tr("In"), models::tokens(usage.inputTokens));
        add(tr("From cache"), models::tokens(usage.cacheReadTokens));
        add(tr("Into cache"), models::tokens(usage.cacheWriteTokens));
        add(tr("Out"), models::tokens(usage.outputTokens));
        add(tr("Cost"), models::money(usage.costMicros));
    }
    add(tr("Run"), run.id.value);
}

} // namespace ui
