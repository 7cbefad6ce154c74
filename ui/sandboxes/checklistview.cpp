#include "ui/sandboxes/checklistview.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

namespace ui {

ChecklistView::ChecklistView(QWidget *parent) : QWidget(parent)
{
    auto *heading = new QLabel(tr("Protections"), this);
    heading->setFont(sizedFont(0, true));
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("checklistSummary"));
    m_summary->setForegroundRole(QPalette::PlaceholderText);
    m_summary->setWordWrap(true);
    m_check = new QPushButton(tr("Check again"), this);
    m_check->setObjectName(QStringLiteral("checkAgain"));
    connect(m_check, &QPushButton::clicked, this, &ChecklistView::checkAsked);
    auto *words = new QVBoxLayout;
    words->setSpacing(0);
    words->addWidget(heading);
    words->addWidget(m_summary);
    auto *top = new QHBoxLayout;
    top->addLayout(words, 1);
    top->addWidget(m_check, 0, Qt::AlignTop);
    m_rows = new QVBoxLayout;
    m_rows->setSpacing(2 * grid);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2 * grid);
    layout->addLayout(top);
    layout->addLayout(m_rows);
    setAccessibleName(tr("Protections"));
    m_tick.setInterval(1000);
    connect(&m_tick, &QTimer::timeout, this, &ChecklistView::showSummary);
    m_tick.start();
}

void ChecklistView::showProtections(const QList<engine::Protection> &protections, const QDateTime &provedAt)
{
    const bool isSame = m_sentence.isEmpty() && m_protections == protections && m_rows->count() > 0;
    m_protections = protections;
    m_provedAt = provedAt;
    m_sentence.clear();
    if (!isSame)
        rebuild();
    showSummary();
}

void ChecklistView::showSentence(const QString &icon, models::Tone tone, const QString &text)
{
    m_protections.clear();
    m_provedAt = {};
    m_icon = icon;
    m_tone = tone;
    m_sentence = text;
    rebuild();
    showSummary();
}

void ChecklistView::setChecking(bool isChecking)
{
    m_isChecking = isChecking;
    showSummary();
}

void ChecklistView::setCheckProblem(const QString &why)
{
    m_problem = why;
    showSummary();
}

void ChecklistView::showSummary()
{
    const auto holding = std::count_if(m_protections.begin(), m_protections.end(), [](const auto &one) { return one.holds; });
    QStringList words;
    if (!m_protections.isEmpty())
        words.append(tr("%1 of %2 hold").arg(holding).arg(m_protections.size()));
    if (m_isChecking)
        words.append(tr("checking…"));
    else if (m_provedAt.isValid())
        words.append(tr("proved %1").arg(models::relativeTime(m_provedAt, QDateTime::currentDateTimeUtc())));
    m_summary->setText(words.join(QStringLiteral(" · ")));
    m_summary->setToolTip(models::exactUtc(m_provedAt));
    m_check->setEnabled(!m_isChecking && m_problem.isEmpty());
    m_check->setToolTip(m_isChecking ? tr("It is being checked.")
                        : m_problem.isEmpty() ? tr("Reads every protection back from the container engine and from inside, now.")
                                              : m_problem);
}

QWidget *ChecklistView::rowOf(const engine::Protection &protection)
{
    auto *row = new QWidget(this);
    row->setObjectName(QStringLiteral("protection"));
    row->setToolTip(protection.key);
    row->setAccessibleName(protection.holds ? tr("holds: %1").arg(protection.title) : tr("does not hold: %1").arg(protection.title));
    const models::Tone tone = protection.holds ? models::Tone::Good : models::Tone::Danger;
    auto *mark = new QLabel(row);
    mark->setPixmap(iconPixmap(protection.holds ? QStringLiteral("done") : QStringLiteral("failed"), toneColour(tone, palette()),
                               4 * grid, devicePixelRatioF()));
    auto *title = new QLabel(protection.title, row);
    title->setWordWrap(true);
    title->setTextFormat(Qt::PlainText);
    auto *facts = new QLabel(protection.wanted == protection.found ? tr("asked and found: %1").arg(protection.found)
                                                                  : tr("asked: %1\nfound: %2").arg(protection.wanted, protection.found),
                             row);
    facts->setWordWrap(true);
    facts->setTextFormat(Qt::PlainText);
    facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, protection.holds ? mutedColour(colours) : toneColour(tone, colours));
    facts->setPalette(colours);
    auto *words = new QVBoxLayout;
    words->setSpacing(0);
    words->addWidget(title);
    words->addWidget(facts);
    auto *layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2 * grid);
    layout->addWidget(mark, 0, Qt::AlignTop);
    layout->addLayout(words, 1);
    return row;
}

void ChecklistView::rebuild()
{
    while (QLayoutItem *item = m_rows->takeAt(0)) {
        if (QWidget *row = item->widget()) {
            row->hide();
            row->deleteLater();
        }
        delete item;
    }
    if (!m_sentence.isEmpty()) {
        auto *row = new QWidget(this);
        auto *mark = new QLabel(row);
        mark->setPixmap(iconPixmap(m_icon, toneColour(m_tone, palette()), 5 * grid, devicePixelRatioF()));
        auto *text = new QLabel(m_sentence, row);
        text->setWordWrap(true);
        text->setTextFormat(Qt::PlainText);
        auto *layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(2 * grid);
        layout->addWidget(mark, 0, Qt::AlignTop);
        layout->addWidget(text, 1);
        m_rows->addWidget(row);
    }
    for (const engine::Protection &protection : std::as_const(m_protections))
        m_rows->addWidget(rowOf(protection));
}

void ChecklistView::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        rebuild();
}

} // namespace ui
