#pragma once

#include <QtGlobal>
#include <vector>

namespace ui {

// Heights of rows with prefix sums in a Fenwick tree: top of a row and row at a pixel in O(log n), 12 bytes a row.
class HeightTree
{
public:
    qint64 count() const { return qint64(m_heights.size()); }
    int at(qint64 row) const { return m_heights[size_t(row)]; }
    void reset(qint64 count, int height)
    {
        m_heights.assign(size_t(count), height);
        m_tree.assign(size_t(count) + 1, 0);
        for (size_t i = 1; i <= size_t(count); ++i)
            m_tree[i] = qint64(height) * qint64(i & (~i + 1));
    }
    void push(int height)
    {
        m_heights.push_back(height);
        const size_t node = m_heights.size();
        if (m_tree.empty())
            m_tree.push_back(0);
        qint64 sum = height;
        for (size_t step = 1; step < (node & (~node + 1)); step <<= 1)
            sum += m_tree[node - step];
        m_tree.push_back(sum);
    }
    void pop()
    {
        m_heights.pop_back();
        m_tree.pop_back();
    }
    void set(qint64 row, int height)
    {
        const int change = height - m_heights[size_t(row)];
        m_heights[size_t(row)] = height;
        for (size_t i = size_t(row) + 1; change != 0 && i < m_tree.size(); i += i & (~i + 1))
            m_tree[i] += change;
    }
    // Sum of the heights before `row`.
    qint64 top(qint64 row) const
    {
        qint64 sum = 0;
        for (size_t i = size_t(row); i > 0; i -= i & (~i + 1))
            sum += m_tree[i];
        return sum;
    }
    qint64 total() const { return top(count()); }
    // The row that covers the pixel; the last one for a pixel behind the end.
    qint64 rowAt(qint64 pixel) const
    {
        size_t row = 0;
        size_t step = 1;
        while (step * 2 < m_tree.size())
            step *= 2;
        for (; step > 0; step /= 2) {
            if (row + step < m_tree.size() && m_tree[row + step] <= pixel) {
                row += step;
                pixel -= m_tree[row];
            }
        }
        return qMax<qint64>(0, qMin<qint64>(qint64(row), count() - 1));
    }

private:
    std::vector<int> m_heights;
    std::vector<qint64> m_tree;
};

} // namespace ui
