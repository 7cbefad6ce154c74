#pragma once

#include <QAbstractTableModel>
#include <QHash>

namespace models {

// Roles that the tables of Sandboxes share beside Qt's own.
enum TableRole { KeyRole = Qt::UserRole, SortRole, IconRole, ToneRole };

// Rows with a key each. A new list is merged: what stays keeps its place, what is new comes last, so that nothing moves
// under the pointer and selections stay.
template <class Row> class MergingTable : public QAbstractTableModel
{
public:
    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_rows.size()); }
    const Row *at(int row) const { return row >= 0 && row < m_rows.size() ? &m_rows.at(row) : nullptr; }
    const QList<Row> &rows() const { return m_rows; }
    int rowOf(const QString &key) const
    {
        for (int row = 0; row < m_rows.size(); ++row) {
            if (keyOf(m_rows.at(row)) == key)
                return row;
        }
        return -1;
    }

protected:
    virtual QString keyOf(const Row &row) const = 0;

    void merge(const QList<Row> &fresh)
    {
        QHash<QString, qsizetype> places;
        for (qsizetype i = 0; i < fresh.size(); ++i)
            places.insert(keyOf(fresh.at(i)), i);
        for (int row = int(m_rows.size()) - 1; row >= 0; --row) {
            if (places.contains(keyOf(m_rows.at(row))))
                continue;
            beginRemoveRows({}, row, row);
            m_rows.removeAt(row);
            endRemoveRows();
        }
        for (int row = 0; row < m_rows.size(); ++row) {
            const Row &now = fresh.at(places.take(keyOf(m_rows.at(row))));
            if (m_rows.at(row) == now)
                continue;
            m_rows[row] = now;
            emit dataChanged(index(row, 0), index(row, columnCount() - 1));
        }
        for (const Row &row : fresh) {
            if (!places.remove(keyOf(row)))
                continue;
            beginInsertRows({}, int(m_rows.size()), int(m_rows.size()));
            m_rows.append(row);
            endInsertRows();
        }
    }
    // Texts that depend on the time of day.
    void touch(int column)
    {
        if (!m_rows.isEmpty())
            emit dataChanged(index(0, column), index(int(m_rows.size()) - 1, column), {Qt::DisplayRole});
    }

    QList<Row> m_rows;
};

} // namespace models
