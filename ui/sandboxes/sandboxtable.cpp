#include "ui/sandboxes/sandboxtable.h"

#include "models/mergingtable.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QSettings>
#include <algorithm>

namespace ui {

SandboxProxy::SandboxProxy(QAbstractItemModel &source, QObject *parent) : QSortFilterProxyModel(parent)
{
    setDynamicSortFilter(false);
    setSortRole(models::SortRole);
    setSortLocaleAware(true);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    setSourceModel(&source);
}

QVariant SandboxProxy::data(const QModelIndex &index, int role) const
{
    if (role != Qt::DecorationRole && role != Qt::ForegroundRole)
        return QSortFilterProxyModel::data(index, role);
    const QPalette colours = QApplication::palette();
    const QVariant tone = index.data(models::ToneRole);
    const QColor colour = tone.isValid() ? toneColour(models::Tone(tone.toInt()), colours) : mutedColour(colours);
    if (role == Qt::ForegroundRole)
        return tone.isValid() ? QVariant(colour) : QVariant();
    const QString name = index.data(models::IconRole).toString();
    return name.isEmpty() ? QVariant() : QVariant(icon(name, colour));
}

void SandboxProxy::setFilter(const QString &text)
{
    m_filter = text.trimmed();
    invalidateFilter();
}

bool SandboxProxy::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    if (m_filter.isEmpty())
        return true;
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column) {
        if (sourceModel()->index(row, column, parent).data().toString().contains(m_filter, Qt::CaseInsensitive))
            return true;
    }
    return false;
}

SandboxTable::SandboxTable(QAbstractItemModel &source, const QString &name, QWidget *parent)
    : QTreeView(parent), m_proxy(new SandboxProxy(source, this))
{
    setModel(m_proxy);
    setAccessibleName(name);
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setAllColumnsShowFocus(true);
    setSortingEnabled(true);
    setEditTriggers(NoEditTriggers);
    setFrameShape(NoFrame);
    setTextElideMode(Qt::ElideRight);
    const int side = fontMetrics().ascent() + 2;
    setIconSize({side, side});
    setStyleSheet(QStringLiteral("QTreeView::item { padding: %1px %2px; }"
                                 "QHeaderView::section { padding: %1px 3px; border: 0; border-bottom: 1px solid palette(mid);"
                                 " background: palette(window); color: palette(window-text); }")
                      .arg(grid)
                      .arg(grid + 2));
    header()->setStretchLastSection(true);
    header()->setHighlightSections(false);
}

void SandboxTable::restore(const QSettings &settings, const QString &key, const QList<int> &widths)
{
    const int letter = fontMetrics().averageCharWidth();
    for (int column = 0; column < widths.size(); ++column)
        setColumnWidth(column, widths.at(column) * letter + 4 * grid);
    if (!header()->restoreState(settings.value(key).toByteArray()))
        sortByColumn(0, Qt::AscendingOrder);
}

void SandboxTable::save(QSettings &settings, const QString &key) const
{
    settings.setValue(key, header()->saveState());
}

QList<int> SandboxTable::selectedRows() const
{
    QModelIndexList chosen = selectionModel()->selectedRows();
    std::sort(chosen.begin(), chosen.end(), [](const QModelIndex &a, const QModelIndex &b) { return a.row() < b.row(); });
    QList<int> rows;
    for (const QModelIndex &index : chosen)
        rows.append(m_proxy->mapToSource(index).row());
    return rows;
}

int SandboxTable::currentRow() const
{
    const QList<int> rows = selectedRows();
    return rows.size() == 1 ? rows.first() : -1;
}

void SandboxTable::select(int sourceRow)
{
    setCurrentIndex(m_proxy->mapFromSource(m_proxy->sourceModel()->index(sourceRow, 0)));
}

void SandboxTable::selectionChanged(const QItemSelection &selected, const QItemSelection &deselected)
{
    QTreeView::selectionChanged(selected, deselected);
    emit selectionMoved();
}

void SandboxTable::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Delete))
        emit deletePressed();
    else
        QTreeView::keyPressEvent(event);
}

} // namespace ui
