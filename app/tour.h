#pragma once

#include "app/doors/exitcode.h"
#include "app/doors/folders.h"
#include "engine/engineclient.h"

#include <QTemporaryDir>
#include <QTimer>

namespace ui {
class MainWindow;
}

namespace app {

// Runs the demo in a folder of its own and writes a PNG of every page, light and dark. GUI thread.
class Tour final : public QObject
{
    Q_OBJECT

public:
    explicit Tour(const QString &folder);
    ~Tour() override;
    engine::Result<Folders> prepare();
    void watch(engine::EngineClient &engine, ui::MainWindow &window);

signals:
    void finished(app::ExitCode code);

protected:
    bool eventFilter(QObject *object, QEvent *event) override;

private:
    void consider(const engine::FeedBatch &batch);
    void planShots();
    void takeShot();
    void advance();
    void fail(const QString &reason);

    struct Shot
    {
        QString name;
        std::function<void()> arrange;
    };

    const QString m_folder;
    QTemporaryDir m_data;
    Folders m_folders;
    QTimer m_patience;
    QTimer m_quiet; // fires when the window has not been drawn for a moment: everything asked for is there
    ui::MainWindow *m_window = nullptr;
    QHash<engine::RunId, engine::RunState> m_states;
    QList<Shot> m_shots;
    qsizetype m_at = -1;
};

} // namespace app
