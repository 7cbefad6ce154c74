#include "app/doors/runcommand.h"

#include "app/doors/jsontext.h"
#include "app/doors/visibletext.h"

#include <QDir>

namespace app {

using namespace engine;

void RunCommand::start()
{
    if (!m_arguments.id.isEmpty())
        submit({m_arguments.id});
    else
        then(m_engine.agents(), [this](const QList<Agent> &agents) { findAgent(agents); });
}

void RunCommand::findAgent(const QList<Agent> &agents)
{
    QList<Agent> fitting;
    QStringList names;
    for (const Agent &agent : agents) {
        if (agent.archived)
            continue;
        names.append(agent.name);
        if (m_arguments.agent.isEmpty() || agent.name.compare(m_arguments.agent, Qt::CaseInsensitive) == 0 ||
            agent.id.value == m_arguments.agent)
            fitting.append(agent);
    }
    const QString known = names.isEmpty()
                              ? QStringLiteral("There is none yet: make one in the window under Settings, Agents.")
                              : QStringLiteral("Known are: %1.").arg(names.join(QStringLiteral(", ")));
    if (fitting.size() == 1)
        createSession(fitting.first());
    else if (m_arguments.agent.isEmpty())
        endWithError({ErrorCode::Invalid,
                      QStringLiteral("Name an agent with --agent or a session with --session. ") + known,
                      {}});
    else if (fitting.isEmpty())
        endWithError(
            {ErrorCode::NotFound, QStringLiteral("No agent is named \"%1\". ").arg(m_arguments.agent) + known, {}});
    else
        endWithError({ErrorCode::Invalid,
                      QStringLiteral("Several agents are named \"%1\"; give the id from `signalbox "
                                     "agents list`.")
                          .arg(m_arguments.agent),
                      {}});
}

void RunCommand::createSession(const Agent &agent)
{
    NewSession wanted{agent.id, m_arguments.title, {}};
    if (!m_arguments.workspace.isEmpty())
        wanted.workspace = QDir::cleanPath(QDir(m_request.workingFolder).absoluteFilePath(m_arguments.workspace));
    then(m_engine.createSession(wanted, m_request.who), [this](const Session &session) { submit(session.id); });
}

void RunCommand::submit(const SessionId &session)
{
    // Connected before the run exists, so that nothing of it is missed.
    connect(&m_engine, &EngineClient::fed, this, &RunCommand::take);
    const QString prompt = m_arguments.prompt == u"-" ? m_request.input : m_arguments.prompt;
    const NewRun wanted{session, prompt, m_request.who, QStringLiteral("command line"), m_arguments.key};
    then(m_engine.submit(wanted), [this](const Submitted &submitted) {
        if (submitted.duplicate)
            m_console.err(QStringLiteral("signalbox: this key was used before; nothing was sent again.\n"));
        if (m_arguments.wait) {
            watch(submitted.run);
            return;
        }
        if (m_arguments.json)
            printLine(jsonText(submitted.run, {}, {}));
        else
            printLine(submitted.run.id.value + u' ' + submitted.run.sessionId.value);
        end(ExitCode::Ok);
    });
}

void RunCommand::watch(const Run &run)
{
    m_run = run.id;
    if (m_arguments.follow && !m_arguments.json)
        m_console.err(QStringLiteral("run %1 in session %2\n").arg(run.id.value, run.sessionId.value));
    // It may have ended before its id was known here.
    then(m_engine.run(run.id), [this](const Run &now) { settle(now); });
}

void RunCommand::take(const FeedBatch &batch)
{
    if (m_run.isEmpty())
        return;
    if (m_arguments.follow && !m_arguments.json) {
        for (const LiveText &live : batch.live)
            printLive(live);
        for (const Block &block : batch.blocks)
            printBlock(block);
    }
    for (const Run &run : batch.runs)
        settle(run);
}

void RunCommand::printLive(const LiveText &live)
{
    if (live.runId != m_run || live.kind != BlockKind::Answer || live.dropped)
        return;
    qsizetype &printed = m_printed[live.key];
    const qsizetype end = live.offset + live.text.size();
    if (end <= printed || live.offset > printed)
        return;
    m_console.out(visibleText(live.text.mid(printed - live.offset)));
    printed = end;
}

void RunCommand::printBlock(const Block &block)
{
    if (block.runId != m_run)
        return;
    if (block.kind == BlockKind::Answer) {
        const qsizetype printed = m_printed.value(block.key, 0);
        if (printed > block.text.size())
            return;
        m_console.out(visibleText(block.text.mid(printed)) + u'\n');
        m_printed[block.key] = block.text.size() + 1;
    } else if (block.kind == BlockKind::Tool && block.tool == ToolState::Running) {
        m_console.err(visibleText(QStringLiteral("[%1] %2\n").arg(block.toolName, block.input)));
    }
}

void RunCommand::settle(const Run &run)
{
    const bool stands = isTerminal(run.state) || (run.state == RunState::Paused && !run.continued);
    if (run.id != m_run || !stands || m_settled)
        return;
    m_settled = true;
    then(m_engine.session(run.sessionId), [this, run](const Session &session) {
        constexpr qint64 tail = 500;
        then(m_engine.blocks(session.id, std::max<qint64>(0, session.blocks - tail), int(tail)),
             [this, run](const BlockPage &page) {
                 QStringList answers;
                 for (const Block &block : page.blocks) {
                     if (block.runId == run.id && block.kind == BlockKind::Answer)
                         answers.append(block.text);
                 }
                 const QString answer = answers.join(QStringLiteral("\n\n"));
                 if (run.state == RunState::Paused)
                     reportPause(run, answer);
                 else
                     report(run, answer);
             });
    });
}

void RunCommand::report(const Run &run, const QString &answer)
{
    if (m_arguments.json)
        printLine(jsonText(run, answer, {}));
    else if (!m_arguments.follow && !answer.isEmpty())
        printLine(visibleText(answer));
    if (run.state == RunState::Completed) {
        end(ExitCode::Ok);
        return;
    }
    const QString what = run.state == RunState::Cancelled
                             ? QStringLiteral("was cancelled")
                             : QStringLiteral("failed (%1): %2").arg(run.errorCode, visibleText(run.errorMessage));
    m_console.err(QStringLiteral("signalbox: run %1 %2\n").arg(run.id.value, what));
    end(ExitCode::Failed);
}

void RunCommand::reportPause(const Run &run, const QString &answer)
{
    ApprovalQuery query;
    query.runId = run.id;
    then(m_engine.approvals(query), [this, run, answer](const QList<Approval> &pending) {
        if (m_arguments.json)
            printLine(jsonText(run, answer, pending));
        m_console.err(QStringLiteral("signalbox: run %1 needs you.\n").arg(run.id.value));
        for (const Approval &approval : pending)
            m_console.err(visibleText(QStringLiteral("  %1  %2\n").arg(approval.id.value, approval.title)));
        m_console.err(
            pending.isEmpty()
                ? QStringLiteral("  Everything is decided: signalbox approvals continue %1 --wait\n").arg(run.id.value)
                : QStringLiteral("  Look at one with: signalbox approvals show ID\n"));
        end(ExitCode::NeedsYou);
    });
}

} // namespace app
