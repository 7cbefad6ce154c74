#include "ui/sessions/waitingstrip.h"
#include "models/displaytext.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

WaitingStrip::WaitingStrip(QWidget *parent) : QWidget(parent)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(4 * grid, 0, 4 * grid, 0);
    setAccessibleName(tr("Waiting prompts"));
    hide();
}

void WaitingStrip::setRuns(const QList<engine::Run> &waiting)
{
    if (waiting == m_runs)
        return;
    m_runs = waiting;
    delete m_content;
    m_content = new QWidget(this);
    auto *rows = new QGridLayout(m_content);
    rows->setContentsMargins(0, grid, 0, grid);
    rows->setHorizontalSpacing(2 * grid);
    rows->setVerticalSpacing(grid);
    rows->setColumnStretch(1, 1);
    QPalette dim = palette();
    dim.setColor(QPalette::WindowText, mutedColour(palette()));
    const int count = qMin<int>(shown, int(waiting.size()));
    for (int i = 0; i < count; ++i) {
        const engine::Run &run = waiting.at(i);
        auto *place = new QLabel(tr("%1. %2").arg(run.position > 0 ? run.position : i + 1).arg(models::look(run.state).word),
                                 m_content);
        place->setPalette(dim);
        auto *prompt = new QLabel(models::oneLine(run.prompt, 80), m_content);
        prompt->setTextFormat(Qt::PlainText);
        prompt->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        prompt->setToolTip(run.waitingFor);
        auto *reason = new QLabel(models::oneLine(run.waitingFor, 60), m_content);
        reason->setTextFormat(Qt::PlainText);
        reason->setPalette(dim);
        auto *cancel = new QToolButton(m_content);
        cancel->setAutoRaise(true);
        cancel->setIcon(icon(QStringLiteral("close"), mutedColour(palette())));
        cancel->setToolTip(tr("Cancel this waiting prompt"));
        cancel->setAccessibleName(tr("Cancel the waiting prompt %1").arg(models::oneLine(run.prompt, 40)));
        connect(cancel, &QToolButton::clicked, this, [this, cancel, id = run.id] {
            cancel->setEnabled(false);
            emit cancelAsked(id);
        });
        rows->addWidget(place, i, 0);
        rows->addWidget(prompt, i, 1);
        rows->addWidget(reason, i, 2);
        rows->addWidget(cancel, i, 3);
    }
    if (waiting.size() > count) {
        auto *more = new QToolButton(m_content);
        more->setAutoRaise(true);
        more->setText(tr("%n more in line", nullptr, int(waiting.size()) - count));
        connect(more, &QToolButton::clicked, this, &WaitingStrip::allAsked);
        rows->addWidget(more, count, 0, 1, 4, Qt::AlignLeft);
    }
    layout()->addWidget(m_content);
    setVisible(!waiting.isEmpty());
}

} // namespace ui
