#pragma once

#include "tests/engine/stubfixture.h"
#include "ui/mainwindow.h"
#include "ui/widgets/approvalcard.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QAction>
#include <QApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>

// The real window over a real engine; looked at and pressed as a person would.
class WindowFixture
{
public:
    explicit WindowFixture(bool fakeTime = false) : engine(fakeTime) {}
    ~WindowFixture() { closeWindow(); }

    bool start()
    {
        if (!engine.start())
            return false;
        openWindow();
        return true;
    }
    void openWindow()
    {
        ui::setPersonName(QStringLiteral("rita"));
        settings = std::make_unique<QSettings>(engine.folder.filePath(QStringLiteral("window.ini")), QSettings::IniFormat);
        window = std::make_unique<ui::MainWindow>(*engine.client, *settings);
        window->resize(1366, 768);
        window->show();
        if (!QTest::qWaitForWindowExposed(window.get(), 20000))
            qWarning("the window is not on the screen");
    }
    void closeWindow()
    {
        window.reset();
        settings.reset();
    }
    bool restart()
    {
        closeWindow();
        engine.stop();
        if (!engine.start())
            return false;
        openWindow();
        return true;
    }

    // Everything a person can read in the shown widgets below `root`.
    static QString text(const QWidget *root)
    {
        QStringList parts;
        for (const QWidget *widget : root->findChildren<QWidget *>()) {
            if (!widget->isVisible())
                continue;
            if (const auto *label = qobject_cast<const QLabel *>(widget))
                parts.append(label->text());
            else if (const auto *edit = qobject_cast<const QPlainTextEdit *>(widget))
                parts.append(edit->toPlainText());
            else if (const auto *button = qobject_cast<const QAbstractButton *>(widget))
                parts.append(button->text());
            if (!widget->accessibleName().isEmpty())
                parts.append(widget->accessibleName());
        }
        return parts.join(u'\n');
    }
    bool shows(const QString &words, int timeoutMs = 10000) const
    {
        return QTest::qWaitFor([&] { return text(window.get()).contains(words); }, timeoutMs);
    }
    // The visible button with this text, or null.
    QAbstractButton *button(const QString &words) const
    {
        for (QAbstractButton *candidate : window->findChildren<QAbstractButton *>()) {
            if (candidate->isVisible() && candidate->text().remove(u'&') == words)
                return candidate;
        }
        return nullptr;
    }
    bool press(const QString &words, int timeoutMs = 10000) const
    {
        if (!QTest::qWaitFor([&] { return button(words) && button(words)->isEnabled(); }, timeoutMs))
            return false;
        QTest::mouseClick(button(words), Qt::LeftButton);
        return true;
    }
    ui::ApprovalCard *card() const
    {
        for (ui::ApprovalCard *candidate : window->findChildren<ui::ApprovalCard *>()) {
            if (candidate->isVisible())
                return candidate;
        }
        return nullptr;
    }
    bool showsCard(int timeoutMs = 10000) const
    {
        return QTest::qWaitFor([&] { return card() != nullptr; }, timeoutMs);
    }
    QPlainTextEdit *composer() const
    {
        for (QPlainTextEdit *edit : window->findChildren<QPlainTextEdit *>()) {
            if (edit->isVisible() && !edit->isReadOnly() && edit->parentWidget() &&
                edit->parentWidget()->metaObject()->className() == QByteArray("ui::Composer"))
                return edit;
        }
        return nullptr;
    }
    bool type(const QString &prompt) const
    {
        if (!QTest::qWaitFor([&] { return composer() != nullptr; }, 10000))
            return false;
        composer()->setFocus();
        QTest::keyClicks(composer(), prompt);
        QTest::keyClick(composer(), Qt::Key_Return);
        return true;
    }
    int badge() const
    {
        for (const QAction *action : window->actions()) {
            if (action->data().toString() == u"approvals") {
                const QString label = action->iconText();
                const qsizetype open = label.indexOf(u'(');
                return open < 0 ? 0 : label.mid(open + 1).chopped(1).toInt();
            }
        }
        return -1;
    }

    StubFixture engine;
    std::unique_ptr<QSettings> settings;
    std::unique_ptr<ui::MainWindow> window;
};
