#pragma once

#include <QSortFilterProxyModel>
#include <QTreeView>

class QSettings;

namespace ui {

// Icons and colours for the models of Sandboxes, their sorting and the filter over every column. Sorted when a heading
// is pressed, not while the values move.
class SandboxProxy final : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit SandboxProxy(QAbstractItemModel &source, QObject *parent = nullptr);

    QVariant data(const QModelIndex &index, int role) const override;
    void setFilter(const QString &text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    QString m_filter;
};

// One table of Sandboxes: whole rows, sortable, its columns remembered under a key.
class SandboxTable final : public QTreeView
{
    Q_OBJECT

public:
    SandboxTable(QAbstractItemModel &source, const QString &name, QWidget *parent = nullptr);

    void restore(const QSettings &settings, const QString &key, const QList<int> &widths);
    void save(QSettings &settings, const QString &key) const;
    void setFilter(const QString &text) { m_proxy->setFilter(text); }
    // Rows of the source model, in the order of the table.
    QList<int> selectedRows() const;
    int currentRow() const;
    void select(int sourceRow);

signals:
    void selectionMoved();
    void deletePressed();

protected:
    void selectionChanged(const QItemSelection &selected, const QItemSelection &deselected) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    SandboxProxy *m_proxy;
};

} // namespace ui
