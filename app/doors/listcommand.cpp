#include "app/doors/listcommand.h"

#include "app/doors/jsontext.h"
#include "app/doors/visibletext.h"

namespace app {

using namespace engine;

void ListCommand::start()
{
    switch (m_arguments.action) {
    case Action::ListSessions:
        listSessions();
        return;
    case Action::ShowSession:
        showSession();
        return;
    case Action::ListAgents:
        listAgents();
        return;
    case Action::Doctor:
        examine();
        return;
    default:
        break;
    }
    endWithError({ErrorCode::Internal, QStringLiteral("This is not a command that lists."), {}});
}

void ListCommand::listSessions()
{
    then(m_engine.sessions({}), [this](const QList<Session> &sessions) {
        if (m_arguments.json) {
            printLine(jsonText(sessions));
        } else {
            for (const Session &session : sessions) {
                const QString state =
                    session.activeRun.isEmpty() ? QStringLiteral("idle") : toString(session.activeState);
                printLine(visibleText(
                    QStringLiteral("%1  %2  %3  %4").arg(session.id.value, state, session.agentName, session.title)));
            }
            if (sessions.isEmpty())
                m_console.err(QStringLiteral("No session yet. Begin one with: signalbox run --agent NAME PROMPT\n"));
        }
        end(ExitCode::Ok);
    });
}

void ListCommand::showSession()
{
    then(m_engine.session({m_arguments.id}), [this](const Session &session) {
        then(m_engine.runs(session.id, 100), [this, session](const QList<Run> &runs) {
            constexpr qint64 tail = 500;
            then(m_engine.blocks(session.id, std::max<qint64>(0, session.blocks - tail), int(tail)),
                 [this, session, runs](const BlockPage &page) { printSession(session, runs, page.blocks); });
        });
    });
}

void ListCommand::printSession(const Session &session, const QList<Run> &runs, const QList<Block> &blocks)
{
    if (m_arguments.json) {
        printLine(jsonText(session, runs, blocks));
        end(ExitCode::Ok);
        return;
    }
    printLine(visibleText(QStringLiteral("%1  %2\nagent      %3\nworkspace  %4")
                              .arg(session.id.value, session.title, session.agentName, session.workspace)));
    for (const Run &run : runs)
        printLine(visibleText(QStringLiteral("%1  %2  %3 %4")
                                  .arg(run.id.value, toString(run.state), run.waitingFor, run.errorMessage))
                      .trimmed());
    for (const Block &block : blocks) {
        QStringList parts{QStringLiteral("\n[%1] %2").arg(toString(block.kind), block.toolName).trimmed()};
        for (const QString &part : {block.text, block.input, block.output}) {
            if (!part.isEmpty())
                parts.append(visibleText(part));
        }
        printLine(parts.join(u'\n'));
    }
    end(ExitCode::Ok);
}

void ListCommand::listAgents()
{
    then(m_engine.agents(), [this](const QList<Agent> &agents) {
        QList<Agent> living;
        for (const Agent &agent : agents) {
            if (!agent.archived)
                living.append(agent);
        }
        if (m_arguments.json)
            printLine(jsonText(living));
        for (const Agent &agent : m_arguments.json ? QList<Agent>() : living)
            printLine(visibleText(
                QStringLiteral("%1  %2  %3  %4  %5")
                    .arg(agent.id.value, agent.name, toString(agent.harness), agent.provider, agent.model)));
        if (living.isEmpty())
            m_console.err(QStringLiteral("No agent yet. Make one in the window under Settings, Agents.\n"));
        end(ExitCode::Ok);
    });
}

void ListCommand::examine()
{
    then(m_engine.doctor(), [this](const QList<Finding> &findings) {
        bool sound = true;
        for (const Finding &finding : findings)
            sound &= finding.level != Finding::Level::Error;
        if (m_arguments.json) {
            printLine(jsonText(findings));
            end(sound ? ExitCode::Ok : ExitCode::Failed);
            return;
        }
        for (const Finding &finding : findings) {
            const QString level = finding.level == Finding::Level::Ok        ? QStringLiteral("ok     ")
                                  : finding.level == Finding::Level::Warning ? QStringLiteral("warning")
                                                                             : QStringLiteral("error  ");
            printLine(QStringLiteral("%1  %2: %3").arg(level, finding.subject, visibleText(finding.text)));
            if (!finding.remedy.isEmpty())
                printLine(QStringLiteral("         %1").arg(finding.remedy));
        }
        end(sound ? ExitCode::Ok : ExitCode::Failed);
    });
}

} // namespace app
