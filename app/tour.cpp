#include "app/tour.h"

#include "ui/mainwindow.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QEvent>
#include <QKeyCombination>
#include <QRegularExpression>
#include <cstdio>

namespace app {

namespace {

constexpr QSize tourSize{1440, 900};

void selectSomething(QWidget &window)
{
    for (QAbstractItemView *view : window.findChildren<QAbstractItemView *>()) {
        if (!view->isVisible() || !view->model() || view->currentIndex().isValid())
            continue;
        for (int row = 0; row < view->model()->rowCount(); ++row) {
            const QModelIndex index = view->model()->index(row, 0);
            if (!index.flags().testFlag(Qt::ItemIsSelectable))
                continue;
            view->setCurrentIndex(index);
            break;
        }
    }
}

// The frame's page actions are those with the shortcuts Ctrl+1 to Ctrl+9, in that order.
QMap<int, QAction *> pageActions(QWidget &window)
{
    QMap<int, QAction *> pages;
    for (QAction *action : window.findChildren<QAction *>()) {
        for (int digit = 1; digit <= 9; ++digit) {
            if (action->shortcut() == QKeySequence(QKeyCombination(Qt::ControlModifier, Qt::Key(Qt::Key_0 + digit))))
                pages.insert(digit, action);
        }
    }
    return pages;
}

QString fileNameOf(const QString &title)
{
    static const QRegularExpression other(QStringLiteral("[^a-z0-9]+"));
    return title.toLower().remove(u'&').replace(other, QStringLiteral("-"));
}

} // namespace

Tour::Tour(const QString &folder) : m_folder(QDir::current().absoluteFilePath(folder))
{
    m_patience.setSingleShot(true);
    m_patience.setInterval(std::chrono::minutes(2));
    m_quiet.setSingleShot(true);
    m_quiet.setInterval(std::chrono::milliseconds(400));
    connect(&m_patience, &QTimer::timeout, this,
            [this] { fail(QStringLiteral("the demo did not come as far as expected")); });
    connect(&m_quiet, &QTimer::timeout, this, &Tour::takeShot);
}

Tour::~Tour()
{
    if (!m_folders.runtime.isEmpty())
        QDir(m_folders.runtime).removeRecursively();
}

engine::Result<Folders> Tour::prepare()
{
    if (!QDir().mkpath(m_folder) || !m_data.isValid())
        return engine::fail(
            engine::ErrorCode::StorageUnavailable,
            QStringLiteral("The folder %1 for the pictures could not be made. Name another one.").arg(m_folder));
    const auto folders = prepareFolders(m_data.filePath(QStringLiteral("data")), true);
    m_folders = folders.value_or(Folders{});
    return folders;
}

void Tour::watch(engine::EngineClient &engine, ui::MainWindow &window)
{
    m_window = &window;
    window.resize(tourSize);
    connect(&engine, &engine::EngineClient::fed, this, &Tour::consider);
    m_patience.start();
}

void Tour::consider(const engine::FeedBatch &batch)
{
    for (const engine::Run &run : batch.runs)
        m_states.insert(run.id, run.state);
    int settled = 0;
    for (const engine::RunState state : std::as_const(m_states))
        settled += state != engine::RunState::Pending && state != engine::RunState::Running ? 1 : 0;
    // The demo has four sessions; each of them ends or waits for a person.
    if (m_at >= 0 || settled < 4 || batch.counts.running > 0 || batch.counts.pendingApprovals == 0)
        return;
    planShots();
    if (m_shots.isEmpty()) {
        fail(QStringLiteral("the window has no pages"));
        return;
    }
    m_at = 0;
    qApp->installEventFilter(this);
    m_shots.first().arrange();
    m_quiet.start();
}

void Tour::planShots()
{
    const QMap<int, QAction *> pages = pageActions(*m_window);
    for (const ui::Appearance appearance : {ui::Appearance::Light, ui::Appearance::Dark}) {
        for (auto page = pages.begin(); page != pages.end(); ++page) {
            QAction *action = page.value();
            const QString name = QStringLiteral("%1-%2-%3.png")
                                     .arg(page.key())
                                     .arg(fileNameOf(action->text()), ui::toString(appearance));
            m_shots.append({name, [this, action, appearance] {
                                ui::applyTheme(*qApp, appearance);
                                action->trigger();
                                selectSomething(*m_window);
                            }});
        }
    }
}

bool Tour::eventFilter(QObject *object, QEvent *event)
{
    if (event->type() == QEvent::Paint && m_at >= 0)
        m_quiet.start();
    return QObject::eventFilter(object, event);
}

void Tour::takeShot()
{
    const QString path = QDir(m_folder).filePath(m_shots.at(m_at).name);
    qApp->removeEventFilter(this); // a picture draws the window as well
    const bool saved = m_window->grab().save(path);
    if (!saved) {
        fail(QStringLiteral("%1 could not be written").arg(path));
        return;
    }
    std::printf("%s\n", qPrintable(path));
    advance();
}

void Tour::advance()
{
    if (++m_at == m_shots.size()) {
        m_patience.stop();
        std::fflush(stdout);
        emit finished(ExitCode::Ok);
        return;
    }
    m_shots.at(m_at).arrange();
    qApp->installEventFilter(this);
    m_quiet.start();
}

void Tour::fail(const QString &reason)
{
    m_quiet.stop();
    std::fprintf(stderr, "signalbox: the tour ended early: %s.\n", qPrintable(reason));
    emit finished(ExitCode::Failed);
}

} // namespace app
