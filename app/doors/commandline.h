#pragma once

#include "app/doors/arguments.h"
#include "app/doors/controlclient.h"
#include "app/doors/folders.h"
#include "app/doors/instance.h"
#include "app/doors/terminalconsole.h"
#include "app/doors/terminationsignal.h"

#include <memory>

namespace app {

class Command;

// Everything that needs no window: help, commands (carried out by the running instance, else by an engine of its own)
// and the headless instance. Ends the event loop with the exit code.
class CommandLine final : public QObject
{
    Q_OBJECT

public:
    CommandLine(const Arguments &arguments, const QStringList &words);
    void start();

private:
    void startHeadless();
    void callInstance();
    void performAlone();
    void performCommand();
    void meetFailure(const engine::Error &error);
    void endWith(ExitCode code);
    void quit();
    bool readInput();

    const Arguments m_arguments;
    const QStringList m_words;
    QString m_input;
    Folders m_folders;
    TerminalConsole m_console;
    TerminationSignal m_signal;
    std::unique_ptr<ControlClient> m_client;
    std::unique_ptr<Instance> m_instance;
    std::unique_ptr<Command> m_command;
    ExitCode m_code = ExitCode::Ok;
    int m_callsLeft = 50;
};

// Parses and runs what needs no window in an event loop of its own. `argv` as main got it.
int runCommandLine(int argc, char **argv);

} // namespace app
