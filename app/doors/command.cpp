#include "app/doors/command.h"

#include "app/doors/approvalcommand.h"
#include "app/doors/jsontext.h"
#include "app/doors/listcommand.h"
#include "app/doors/runcommand.h"
#include "app/doors/sandboxcommand.h"

namespace app {

Command::Command(engine::EngineClient &engine, Request request, Console &console)
    : m_engine(engine), m_request(std::move(request)), m_console(console)
{
}

void Command::end(ExitCode code)
{
    if (m_ended)
        return;
    m_ended = true;
    emit finished(code);
}

void Command::endWithError(const engine::Error &error)
{
    if (m_ended)
        return;
    if (m_arguments.json)
        printLine(jsonText(error));
    m_console.err(u"signalbox: " + error.message + (error.detail.isEmpty() ? QString() : u"\n  " + error.detail) +
                  u'\n');
    end(exitCodeOf(error.code));
}

std::unique_ptr<Command> makeCommand(engine::EngineClient &engine, const Request &request, Console &console)
{
    switch (request.arguments.action) {
    case Action::Run:
        return std::make_unique<RunCommand>(engine, request, console);
    case Action::ListApprovals:
    case Action::ShowApproval:
    case Action::ResolveApproval:
    case Action::ContinueRun:
    case Action::ExtendApproval:
        return std::make_unique<ApprovalCommand>(engine, request, console);
    case Action::ListSessions:
    case Action::ShowSession:
    case Action::ListAgents:
    case Action::Doctor:
        return std::make_unique<ListCommand>(engine, request, console);
    case Action::ListComputers:
    case Action::ListLeftovers:
    case Action::RemoveLeftovers:
    case Action::ListImages:
    case Action::BuildImage:
        return std::make_unique<SandboxCommand>(engine, request, console);
    case Action::Window:
    case Action::Tour:
    case Action::Headless:
    case Action::Raise:
    case Action::Help:
    case Action::Version:
        break;
    }
    return nullptr;
}

} // namespace app
