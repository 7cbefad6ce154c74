#include "ui/widgets/commandpalette.h"

#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>

namespace ui {
namespace {

constexpr int mostShown = 100;

// Every word of the search stands somewhere in the title.
bool matchesWords(const QString &title, const QString &search)
{
    const QStringList words = search.split(u' ', Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(), [&](const QString &word) { return title.contains(word, Qt::CaseInsensitive); });
}

} // namespace

CommandPalette::CommandPalette(QWidget *parent) : QFrame(parent, Qt::Popup)
{
    setFrameShape(QFrame::StyledPanel);
    setAccessibleName(tr("Commands"));
    m_text = new QLineEdit(this);
    m_text->setPlaceholderText(tr("Type a command, a session or an agent"));
    m_text->setAccessibleName(tr("Command"));
    m_text->setClearButtonEnabled(true);
    m_list = new QListWidget(this);
    m_list->setUniformItemSizes(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * grid, 2 * grid, 2 * grid, 2 * grid);
    layout->addWidget(m_text);
    layout->addWidget(m_list);
    m_text->installEventFilter(this);
    connect(m_text, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_text, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
}

void CommandPalette::open(QList<Entry> entries)
{
    m_entries = std::move(entries);
    m_text->clear();
    filter();
    const QWidget *window = parentWidget();
    resize(qMin(560, window->width() - 8 * grid), qMin(420, window->height() - 16 * grid));
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 12 * grid)));
    show();
    m_text->setFocus();
}

void CommandPalette::filter()
{
    m_list->clear();
    m_shown.clear();
    for (int i = 0; i < m_entries.size() && m_shown.size() < mostShown; ++i) {
        const Entry &entry = m_entries.at(i);
        if (!matchesWords(entry.title + u' ' + entry.hint, m_text->text()))
            continue;
        m_shown.append(i);
        m_list->addItem(entry.hint.isEmpty() ? entry.title : QStringLiteral("%1   —   %2").arg(entry.title, entry.hint));
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::runCurrent()
{
    const int index = m_shown.value(m_list->currentRow(), -1);
    hide();
    if (index >= 0)
        m_entries.at(index).run();
}

bool CommandPalette::eventFilter(QObject *object, QEvent *event)
{
    if (object == m_text && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        const int by = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (by != 0 && m_list->count() > 0) {
            m_list->setCurrentRow(qBound(0, m_list->currentRow() + by, m_list->count() - 1));
            return true;
        }
    }
    return QFrame::eventFilter(object, event);
}

} // namespace ui
