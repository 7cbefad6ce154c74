#pragma once

#include "app/doors/arguments.h"
#include "app/doors/controlclient.h"
#include "app/doors/instance.h"
#include "app/doors/terminalconsole.h"
#include "app/doors/terminationsignal.h"

#include <QSettings>
#include <memory>

namespace ui {
class MainWindow;
}

namespace app {

class Tour;

// Composition root of the desktop program: one window on one data folder. A second start raises the first one's window.
class Application final : public QObject
{
    Q_OBJECT

public:
    explicit Application(const Arguments &arguments);
    ~Application() override;
    // The caller runs the event loop; it ends with the exit code.
    void start();

private:
    void callFirst();
    void open();
    void showFailure(const engine::Error &error);
    void raise();
    void endWith(ExitCode code);
    void warn(const QString &text);

    const Arguments m_arguments;
    Folders m_folders;
    TerminalConsole m_console;
    TerminationSignal m_signal;
    std::unique_ptr<ControlClient> m_client;
    std::unique_ptr<Instance> m_instance;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<ui::MainWindow> m_window;
    std::unique_ptr<Tour> m_tour;
    ExitCode m_code = ExitCode::Ok;
    bool m_ending = false;
};

// `argv` as main got it; runs the event loop.
int runApplication(int argc, char **argv);

} // namespace app
