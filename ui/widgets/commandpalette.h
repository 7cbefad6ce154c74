#pragma once

#include <QFrame>
#include <functional>

class QLineEdit;
class QListWidget;

namespace ui {

// Ctrl+K: every action and object by a few letters of its name.
class CommandPalette final : public QFrame
{
    Q_OBJECT

public:
    struct Entry
    {
        QString title;
        QString hint; // kind or shortcut
        std::function<void()> run;
    };

    explicit CommandPalette(QWidget *parent);
    void open(QList<Entry> entries);

protected:
    bool eventFilter(QObject *object, QEvent *event) override;

private:
    void filter();
    void runCurrent();

    QList<Entry> m_entries;
    QList<int> m_shown;
    QLineEdit *m_text = nullptr;
    QListWidget *m_list = nullptr;
};

} // namespace ui
