#include "app/doors/commandline.h"

#include "app/doors/command.h"
#include "app/doors/username.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <cstdio>

namespace app {

using engine::ErrorCode;

CommandLine::CommandLine(const Arguments &arguments, const QStringList &words) : m_arguments(arguments), m_words(words)
{
    connect(&m_signal, &TerminationSignal::received, this,
            [this] { endWith(m_arguments.action == Action::Headless ? ExitCode::Ok : ExitCode::Failed); });
}

void CommandLine::start()
{
    const auto folders = prepareFolders(m_arguments.dataFolder, m_arguments.demo);
    if (!folders) {
        meetFailure(folders.error());
        return;
    }
    m_folders = *folders;
    if (m_arguments.action == Action::Headless) {
        startHeadless();
    } else if (m_arguments.needsInput() && !readInput()) {
        m_console.err(
            QStringLiteral("signalbox: %1 cannot be read. Name a file that exists, or - for standard input.\n")
                .arg(m_arguments.inputFile));
        endWith(ExitCode::Usage);
    } else {
        callInstance();
    }
}

bool CommandLine::readInput()
{
    QFile file(m_arguments.inputFile);
    const bool fromStandardInput = m_arguments.inputFile.isEmpty() || m_arguments.inputFile == u"-";
    const bool isOpen = fromStandardInput ? file.open(stdin, QIODevice::ReadOnly) : file.open(QIODevice::ReadOnly);
    m_input = isOpen ? QString::fromUtf8(file.readAll()) : QString();
    return isOpen;
}

void CommandLine::startHeadless()
{
    m_instance = std::make_unique<Instance>(m_folders, m_arguments.demo, QStringLiteral("headless"));
    connect(m_instance.get(), &Instance::stopped, this, &CommandLine::quit);
    connect(m_instance.get(), &Instance::failed, this, &CommandLine::meetFailure);
    connect(m_instance.get(), &Instance::warned, this,
            [this](const QString &text) { m_console.err(u"signalbox: " + text + u'\n'); });
    connect(m_instance.get(), &Instance::started, this,
            [this] { m_console.err(QStringLiteral("signalbox: engine started on %1\n").arg(m_folders.data)); });
    m_instance->start();
}

void CommandLine::callInstance()
{
    ControlMessage request;
    request.kind = ControlMessage::Kind::Request;
    request.words = m_words;
    request.workingFolder = QDir::currentPath();
    request.input = m_input;
    request.canAsk = m_console.canAsk();
    if (m_client)
        m_client.release()->deleteLater();
    m_client = std::make_unique<ControlClient>(m_folders.controlSocket, request, m_console);
    connect(m_client.get(), &ControlClient::finished, this, &CommandLine::endWith);
    connect(m_client.get(), &ControlClient::unavailable, this, &CommandLine::performAlone);
    m_client->start();
}

void CommandLine::performAlone()
{
    m_instance = std::make_unique<Instance>(m_folders, m_arguments.demo, QStringLiteral("command"));
    connect(m_instance.get(), &Instance::stopped, this, &CommandLine::quit);
    connect(m_instance.get(), &Instance::started, this, &CommandLine::performCommand);
    connect(m_instance.get(), &Instance::failed, this, &CommandLine::meetFailure);
    m_instance->start();
}

void CommandLine::performCommand()
{
    m_command = makeCommand(m_instance->engine(), {m_arguments, QDir::currentPath(), m_input, userName()}, m_console);
    connect(m_command.get(), &Command::finished, this, &CommandLine::endWith);
    m_command->start();
}

void CommandLine::meetFailure(const engine::Error &error)
{
    // The holder of the store may be about to open its door, or to close.
    if (error.code == ErrorCode::StorageBusy && m_arguments.action != Action::Headless && m_callsLeft-- > 0) {
        m_instance.release()->deleteLater();
        QTimer::singleShot(std::chrono::milliseconds(100), this, &CommandLine::callInstance);
        return;
    }
    m_console.err(u"signalbox: " + error.message + (error.detail.isEmpty() ? QString() : u"\n  " + error.detail) +
                  u'\n');
    endWith(exitCodeOf(error.code));
}

void CommandLine::endWith(ExitCode code)
{
    m_code = code;
    if (m_instance)
        m_instance->shutdown();
    else
        quit();
}

void CommandLine::quit()
{
    // Queued: the loop may not run yet.
    QMetaObject::invokeMethod(
        qApp, [code = int(m_code)] { QCoreApplication::exit(code); }, Qt::QueuedConnection);
}

int runCommandLine(int argc, char **argv)
{
    TerminationSignal::block();
    const QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("signalbox"));
    QCoreApplication::setApplicationVersion(QStringLiteral(SIGNALBOX_VERSION));
    const QStringList words = QCoreApplication::arguments().mid(1);
    const auto arguments = parseArguments(words);
    TerminalConsole console;
    if (!arguments) {
        console.err(u"signalbox: " + arguments.error() + u'\n');
        return int(ExitCode::Usage);
    }
    if (arguments->action == Action::Help) {
        console.out(helpText());
        return int(ExitCode::Ok);
    }
    if (arguments->action == Action::Version) {
        console.out(QStringLiteral("signalbox " SIGNALBOX_VERSION "\n"));
        return int(ExitCode::Ok);
    }
    if (arguments->action == Action::Window || arguments->action == Action::Tour ||
        arguments->action == Action::Raise) {
        console.err(QStringLiteral("signalbox: this program has no window; start `signalbox` for it.\n"));
        return int(ExitCode::Usage);
    }
    CommandLine commandLine(*arguments, words);
    commandLine.start();
    return QCoreApplication::exec();
}

} // namespace app
