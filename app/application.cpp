#include "app/application.h"

#include "app/doors/commandline.h"
#include "app/tour.h"
#include "ui/mainwindow.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QDir>
#include <QIcon>
#include <unistd.h>

namespace app {

namespace {

QString settingsPath(const Folders &folders)
{
    return folders.data + u"/signalbox.ini";
}

// The program without a window stands beside this one, so that it needs neither a display nor widgets.
int becomeHeadless(char **argv)
{
    const QString program = QFileInfo(QStringLiteral("/proc/self/exe")).canonicalPath() + u"/signalbox-headless";
    execv(QFile::encodeName(program).constData(), argv);
    TerminalConsole().err(QStringLiteral("signalbox: %1 could not be started; install Signalbox anew.\n").arg(program));
    return int(ExitCode::Failed);
}

} // namespace

Application::Application(const Arguments &arguments) : m_arguments(arguments)
{
    QApplication::setQuitOnLastWindowClosed(false);
    connect(&m_signal, &TerminationSignal::received, this, [this] { endWith(m_code); });
    connect(qApp, &QGuiApplication::lastWindowClosed, this, [this] { endWith(m_code); });
}

Application::~Application() = default;

void Application::start()
{
    if (m_arguments.action == Action::Tour)
        m_tour = std::make_unique<Tour>(m_arguments.tourFolder);
    const auto folders = m_tour ? m_tour->prepare() : prepareFolders(m_arguments.dataFolder, m_arguments.demo);
    if (!folders) {
        warn(folders.error().message);
        endWith(exitCodeOf(folders.error().code));
        return;
    }
    m_folders = *folders;
    if (m_tour)
        open();
    else
        callFirst();
}

void Application::callFirst()
{
    ControlMessage request;
    request.kind = ControlMessage::Kind::Request;
    request.words = QStringList{QStringLiteral("--raise")};
    m_client = std::make_unique<ControlClient>(m_folders.controlSocket, request, m_console);
    connect(m_client.get(), &ControlClient::unavailable, this, &Application::open);
    connect(m_client.get(), &ControlClient::finished, this, &Application::endWith);
    m_client->start();
}

void Application::open()
{
    const bool demo = m_arguments.demo || m_tour;
    m_instance = std::make_unique<Instance>(m_folders, demo, QStringLiteral("window"));
    m_settings = std::make_unique<QSettings>(settingsPath(m_folders), QSettings::IniFormat);
    ui::applyTheme(*qApp, *m_settings);
    m_window = std::make_unique<ui::MainWindow>(m_instance->engine(), *m_settings, nullptr);
    connect(m_instance.get(), &Instance::failed, this, &Application::showFailure);
    connect(m_instance.get(), &Instance::warned, this, &Application::warn);
    connect(m_instance.get(), &Instance::raiseRequested, this, &Application::raise);
    connect(m_instance.get(), &Instance::stopped, this, [this] { QCoreApplication::exit(int(m_code)); });
    if (m_tour) {
        connect(m_tour.get(), &Tour::finished, this, &Application::endWith);
        m_tour->watch(m_instance->engine(), *m_window);
    }
    m_window->show();
    m_instance->start();
}

void Application::showFailure(const engine::Error &error)
{
    // The window shows it and stays until it is closed; the caller in a terminal gets it as well.
    warn(error.message + (error.detail.isEmpty() ? QString() : u"\n  " + error.detail));
    m_code = exitCodeOf(error.code);
    if (m_tour)
        endWith(m_code);
}

void Application::raise()
{
    m_window->setWindowState(m_window->windowState() & ~Qt::WindowMinimized);
    m_window->show();
    m_window->raise();
    m_window->activateWindow();
}

void Application::endWith(ExitCode code)
{
    if (m_ending)
        return;
    m_ending = true;
    m_code = code;
    if (m_instance)
        m_instance->shutdown();
    else
        QMetaObject::invokeMethod(
            qApp, [code] { QCoreApplication::exit(int(code)); }, Qt::QueuedConnection);
}

void Application::warn(const QString &text)
{
    m_console.err(u"signalbox: " + text + u'\n');
}

int runApplication(int argc, char **argv)
{
    QStringList words;
    for (int i = 1; i < argc; ++i)
        words.append(QString::fromLocal8Bit(argv[i]));
    const auto arguments = parseArguments(words);
    if (!arguments)
        return runCommandLine(argc, argv);
    if (arguments->action == Action::Headless)
        return becomeHeadless(argv);
    if (arguments->action != Action::Window && arguments->action != Action::Tour)
        return runCommandLine(argc, argv);

    if (arguments->action == Action::Tour && !qEnvironmentVariableIsSet("DISPLAY") &&
        !qEnvironmentVariableIsSet("WAYLAND_DISPLAY") && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    TerminationSignal::block();
    const QApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("signalbox"));
    QCoreApplication::setApplicationVersion(QStringLiteral(SIGNALBOX_VERSION));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Signalbox"));
    QGuiApplication::setDesktopFileName(QStringLiteral("signalbox"));
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/app/signalbox.svg")));
    Application program(*arguments);
    program.start();
    return QCoreApplication::exec();
}

} // namespace app
