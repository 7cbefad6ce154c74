// The engine's commands: each checks, changes rows in one transaction, audits, announces and answers once.
#include "engine/engineparts.h"
#include "engine/agentcheck.h"
#include "engine/harness/codex/codexsettings.h"
#include "engine/doctor.h"
#include "engine/engine.h"

#include <QDir>
#include <QUuid>

namespace engine {
namespace {

constexpr int titleCharacters = 60;
constexpr qsizetype promptBytes = 8 * 1024 * 1024;

QString titleFromPrompt(const QString &prompt)
{
    const QString line = prompt.trimmed().section(u'\n', 0, 0).simplified();
    return line.size() > titleCharacters ? line.left(titleCharacters - 1) + u'…' : line;
}

template <class T> Result<T> errorOf(const Error &error)
{
    return tl::unexpected<Error>(error);
}

} // namespace

Error Engine::whyDown() const
{
    return m_failure.message.isEmpty() ? Error{ErrorCode::ShuttingDown, tr("The engine is not running."), {}} : m_failure;
}

void Engine::audit(const QString &who, const QString &what, const QString &subject, const QString &detail)
{
    const Result<qint64> audited =
        m_parts->stores.audit.append({0, m_parts->clock->now(), who, what, subject, QStringLiteral("ok"), detail});
    if (!audited)
        m_parts->feed.noteNotice({Notice::Level::Error, tr("The audit entry \"%1\" was not stored.").arg(what),
                                  audited.error().message, {}});
}

Result<Session> Engine::freshSession(const SessionId &id) const
{
    Result<Session> session = m_parts->stores.sessions.get(id);
    if (session)
        session->warm = m_parts->host.isWarm(id);
    return session;
}

void Engine::warnOfOldSpelling(const Agent &agent)
{
    const QString text = oldSpellingWarning(agent);
    qWarning("%s", qPrintable(text));
    m_parts->feed.noteNotice({Notice::Level::Warning, text, {}, {}});
}

// Agents that an older program or another hand wrote. Stored anew, so that the warning is told once.
Result<void> Engine::takeOverOldSettings()
{
    const Result<QList<Agent>> agents = m_parts->stores.agents.list(true);
    if (!agents)
        return tl::unexpected<Error>(agents.error());
    for (Agent agent : *agents) {
        const Result<bool> renamed = takeOldSpellings(agent);
        if (!renamed) {
            m_parts->feed.noteNotice({Notice::Level::Error, renamed.error().message, {}, {}}); // it does not start
            continue;
        }
        if (!*renamed)
            continue;
        if (const Result<void> stored = m_parts->stores.agents.insertOrUpdate(agent); !stored)
            return stored;
        warnOfOldSpelling(agent);
    }
    return {};
}

void Engine::saveAgent(const Agent &agent, const QString &who, const Answer<Agent> &answer)
{
    if (!isUp(answer))
        return;
    Agent saved = agent;
    const Result<bool> renamed = takeOldSpellings(saved);
    if (!renamed)
        return answer(errorOf<Agent>(renamed.error()));
    if (const Result<void> checked = checkAgent(saved); !checked)
        return answer(errorOf<Agent>(checked.error()));
    saved.updatedAt = m_parts->clock->now();
    if (saved.id.isEmpty()) {
        saved.id = newAgentId();
        saved.createdAt = saved.updatedAt;
    }
    if (const Result<void> stored = m_parts->stores.agents.insertOrUpdate(saved); !stored)
        return answer(errorOf<Agent>(stored.error()));
    audit(who, QStringLiteral("agent.save"), saved.id.value, saved.name);
    if (*renamed)
        warnOfOldSpelling(saved);
    m_parts->feed.noteAgent(saved);
    answer(saved);
}

void Engine::archiveAgent(const AgentId &id, const QString &who, const Answer<Agent> &answer)
{
    if (!isUp(answer))
        return;
    Result<Agent> agent = m_parts->stores.agents.get(id);
    if (!agent)
        return answer(agent);
    agent->archived = true;
    agent->updatedAt = m_parts->clock->now();
    if (const Result<void> stored = m_parts->stores.agents.insertOrUpdate(*agent); !stored)
        return answer(errorOf<Agent>(stored.error()));
    audit(who, QStringLiteral("agent.archive"), id.value, agent->name);
    m_parts->feed.noteAgent(*agent);
    answer(agent);
}

void Engine::createSession(const NewSession &request, const QString &who, const Answer<Session> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Agent> agent = m_parts->stores.agents.get(request.agentId);
    if (!agent)
        return answer(errorOf<Session>(agent.error()));
    if (agent->archived)
        return answer(fail(ErrorCode::Conflict, tr("Agent %1 is archived; choose another one.").arg(agent->name)));
    Session session;
    session.id = newSessionId();
    session.agentId = agent->id;
    session.agentName = agent->name;
    session.title = request.title.trimmed();
    session.workspace = !request.workspace.isEmpty() ? request.workspace : agent->workspace;
    session.native.nativeSessionId = QUuid::createUuid().toString(QUuid::WithoutBraces);
    session.createdAt = m_parts->clock->now();
    session.updatedAt = session.createdAt;
    if (session.workspace.isEmpty()) {
        session.workspace = m_options.dataFolder + QStringLiteral("/workspaces/") + session.id.value;
        if (!QDir().mkpath(session.workspace))
            return answer(fail(ErrorCode::StorageUnavailable,
                               tr("The workspace %1 can't be made. Choose a folder for the session.").arg(session.workspace)));
    } else if (!QDir(session.workspace).exists()) {
        return answer(fail(ErrorCode::Invalid, tr("The workspace %1 does not exist. Create the folder or choose another one.")
                                                   .arg(session.workspace)));
    } else {
        session.workspace = QDir(session.workspace).absolutePath();
    }
    if (const Result<void> stored = m_parts->stores.sessions.insert(session); !stored)
        return answer(errorOf<Session>(stored.error()));
    audit(who, QStringLiteral("session.create"), session.id.value, agent->name);
    m_parts->feed.noteSession(session.id);
    answer(freshSession(session.id));
}

void Engine::renameSession(const SessionId &id, const QString &title, const Answer<Session> &answer)
{
    if (!isUp(answer))
        return;
    if (title.trimmed().isEmpty())
        return answer(fail(ErrorCode::Invalid, tr("A session's title can't be empty.")));
    if (const Result<void> stored = m_parts->stores.sessions.setTitle(id, title.trimmed()); !stored)
        return answer(errorOf<Session>(stored.error()));
    m_parts->feed.noteSession(id);
    answer(freshSession(id));
}

void Engine::deleteSession(const SessionId &id, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Session> session = m_parts->stores.sessions.get(id);
    if (const Result<void> removed = m_parts->stores.sessions.remove(id, m_parts->clock->now()); !removed)
        return answer(removed);
    audit(who, QStringLiteral("session.delete"), id.value);
    if (LiveSession *live = m_parts->host.find(id))
        live->recorder().close();
    m_parts->sandboxes.forget(id, session ? session->agentId : AgentId{});
    m_parts->feed.noteRemoved(id);
    answer({});
}

void Engine::setSessionModel(const SessionId &id, const QString &model, const Answer<Session> &answer)
{
    if (!isUp(answer))
        return;
    if (const Result<void> stored = m_parts->stores.sessions.setModel(id, model.trimmed()); !stored)
        return answer(errorOf<Session>(stored.error()));
    const Result<Session> session = freshSession(id);
    LiveSession *live = m_parts->host.find(id);
    if (session && live) {
        const Result<Agent> agent = m_parts->stores.agents.get(session->agentId);
        // An omitted model would fall to the account's default, not to the agent's.
        const QString effective = !model.trimmed().isEmpty() ? model.trimmed() : agent ? agent->model : QString();
        if (!effective.isEmpty())
            live->setModel(effective);
    }
    m_parts->feed.noteSession(id);
    answer(session);
}

void Engine::setSessionMode(const SessionId &id, const QString &mode, const Answer<Session> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Session> present = freshSession(id);
    if (!present)
        return answer(present);
    const Result<Agent> agent = m_parts->stores.agents.get(present->agentId);
    const bool isCodex = agent && agent->harness == HarnessKind::Codex;
    const QStringList allowed = isCodex ? approvalPolicies() : permissionModes();
    if (!mode.isEmpty() && !allowed.contains(mode))
        return answer(fail(ErrorCode::Invalid, tr("Permission mode \"%1\" is not known. Allowed: %2.")
                                                   .arg(mode, allowed.join(QStringLiteral(", ")))));
    if (const Result<void> stored = m_parts->stores.sessions.setMode(id, mode); !stored)
        return answer(errorOf<Session>(stored.error()));
    const Result<Session> session = freshSession(id);
    LiveSession *live = m_parts->host.find(id);
    if (session && live) {
        const QString agents = !agent     ? QString()
                               : !isCodex ? agent->permissionMode
                                          : effectiveApprovalPolicy(*agent);
        if (!mode.isEmpty() || agent)
            live->setPermissionMode(!mode.isEmpty() ? mode : agents);
    }
    m_parts->feed.noteSession(id);
    answer(session);
}

void Engine::startFresh(const SessionId &id, const QString &who, const Answer<Session> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Session> session = freshSession(id);
    if (!session)
        return answer(session);
    if (!session->activeRun.isEmpty())
        return answer(fail(ErrorCode::Conflict, tr("Session %1 has a run under way. Cancel it first.").arg(id.value)));
    NativeIdentity fresh;
    fresh.nativeSessionId = QUuid::createUuid().toString(QUuid::WithoutBraces);
    if (const Result<void> stored = m_parts->stores.sessions.setNative(id, fresh); !stored)
        return answer(errorOf<Session>(stored.error()));
    audit(who, QStringLiteral("session.start_fresh"), id.value,
          tr("conversation %1 given up for %2").arg(session->native.nativeSessionId, fresh.nativeSessionId));
    if (LiveSession *live = m_parts->host.find(id)) {
        live->note(BlockKind::Note, tr("A new conversation begins here: the harness remembers nothing of what is above."));
        live->end();
    }
    m_parts->feed.noteSession(id);
    answer(freshSession(id));
}

void Engine::prewarm(const SessionId &id)
{
    if (!m_parts || m_stopping || m_parts->host.isWarm(id))
        return;
    const Result<Session> session = m_parts->stores.sessions.get(id);
    if (!session || !session->activeRun.isEmpty())
        return;
    const Result<Agent> agent = m_parts->stores.agents.get(session->agentId);
    if (agent && agent->warmSeconds > 0)
        m_parts->host.session(id).ready();
}

void Engine::submit(const NewRun &request, const Answer<Submitted> &answer)
{
    if (!isUp(answer))
        return;
    if (request.prompt.trimmed().isEmpty())
        return answer(fail(ErrorCode::Invalid, tr("The prompt is empty.")));
    if (request.prompt.size() > promptBytes)
        return answer(fail(ErrorCode::Invalid, tr("The prompt has %1 characters; at most %2 are taken. Put the text into a file "
                                                  "of the workspace and name it.")
                                                   .arg(request.prompt.size())
                                                   .arg(promptBytes)));
    const Result<Session> session = freshSession(request.sessionId);
    if (!session)
        return answer(errorOf<Submitted>(session.error()));
    const Result<Agent> agent = m_parts->stores.agents.get(session->agentId);
    if (!agent)
        return answer(errorOf<Submitted>(agent.error()));
    const Result<Submitted> submitted =
        m_parts->stores.runs.enqueue(request, {agent->maxQueued, agent->maxAttempts}, m_parts->clock->now());
    if (!submitted)
        return answer(submitted);
    m_parts->dispatcher.wake();
    if (session->title.isEmpty()) {
        if (const Result<void> titled = m_parts->stores.sessions.setTitle(session->id, titleFromPrompt(request.prompt)); !titled)
            qWarning("session %s keeps no title: %s", qPrintable(session->id.value), qPrintable(titled.error().message));
    }
    m_parts->feed.noteRun(submitted->run);
    answer(submitted);
}

void Engine::cancelRun(const RunId &id, const QString &who, const Answer<Run> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Run> run = m_parts->stores.runs.get(id);
    if (!run)
        return answer(run);
    if (isTerminal(run->state))
        return answer(fail(ErrorCode::Conflict, tr("Run %1 is %2 already.").arg(id.value, toString(run->state))));
    if (run->state != RunState::Pending) {
        answer(m_parts->executor.cancel(*run, who));
        return;
    }
    RunPatch patch;
    patch.endedAt = m_parts->clock->now();
    const Result<Run> cancelled =
        m_parts->stores.runs.move(id, run->attempt, RunState::Pending, RunState::Cancelled, patch);
    if (!cancelled)
        return answer(cancelled);
    audit(who, QStringLiteral("run.cancel"), id.value, tr("never started"));
    m_parts->feed.noteRun(*cancelled);
    m_parts->dispatcher.wake();
    answer(cancelled);
}

void Engine::requeueRun(const RunId &id, const QString &who, const Answer<Run> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Run> run = m_parts->stores.runs.get(id);
    if (!run)
        return answer(run);
    const Result<Session> session = m_parts->stores.sessions.get(run->sessionId);
    if (!session)
        return answer(errorOf<Run>(session.error()));
    const Result<Agent> agent = m_parts->stores.agents.get(session->agentId);
    if (!agent)
        return answer(errorOf<Run>(agent.error()));
    const Result<Run> waiting = m_parts->stores.runs.requeue(id, agent->maxQueued, m_parts->clock->now());
    if (!waiting)
        return answer(waiting);
    audit(who, QStringLiteral("run.requeue"), id.value);
    m_parts->feed.noteRun(*waiting);
    m_parts->dispatcher.wake();
    answer(waiting);
}

void Engine::resolve(const Decision &decision, const Answer<Resolved> &answer)
{
    if (isUp(answer))
        answer(m_parts->desk.resolve(decision));
}

void Engine::continueRun(const RunId &id, const QString &who, bool wait, const Answer<Continued> &answer)
{
    if (!isUp(answer))
        return;
    const Result<Continued> continued = m_parts->desk.continueRun(id, who);
    if (!continued || !wait)
        return answer(continued);
    m_parts->waiters.append({id, [answer, attached = continued->attached](const Run &run) {
                                 answer(Continued{run, attached});
                             }});
    // It may have paused or ended before the waiter was there.
    if (const Result<Run> run = m_parts->stores.runs.get(id); run && run->state != RunState::Running)
        m_parts->feed.noteRun(*run);
}

void Engine::extendApproval(const ApprovalId &id, int seconds, const QString &who, const Answer<Approval> &answer)
{
    if (isUp(answer))
        answer(m_parts->desk.extend(id, seconds, who));
}

void Engine::markSeen(const QList<ApprovalId> &ids, const QString &who)
{
    if (!m_parts || m_stopping)
        return;
    if (const Result<void> marked = m_parts->desk.markSeen(ids, who); !marked)
        qWarning("approvals were not marked as seen: %s", qPrintable(marked.error().message));
}

void Engine::setSetting(const QString &key, const QString &value, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    if (key == u"queue.max_concurrency") {
        bool isNumber = false;
        const int runs = value.toInt(&isNumber);
        if (!isNumber || runs < 1 || runs > 64)
            return answer(fail(ErrorCode::Invalid, tr("queue.max_concurrency is a number from 1 to 64, not \"%1\".").arg(value)));
    } else if (key == u"approvals.continue_after_resolving") {
        if (value != u"true" && value != u"false")
            return answer(fail(ErrorCode::Invalid, tr("%1 is \"true\" or \"false\", not \"%2\".").arg(key, value)));
    } else {
        return answer(fail(ErrorCode::Invalid, tr("There is no setting \"%1\".").arg(key)));
    }
    if (const Result<void> stored = m_parts->stores.settings.set(key, value); !stored)
        return answer(stored);
    audit(who, QStringLiteral("setting.set"), key, value);
    const Result<void> applied = applySettings();
    m_parts->feed.noteSettings();
    m_parts->dispatcher.wake();
    answer(applied);
}

void Engine::status(const Answer<EngineStatus> &answer)
{
    if (!isUp(answer))
        return;
    EngineStatus status;
    status.storePath = m_parts->database->path();
    status.storeKind = m_parts->database->kind();
    status.schemaVersion = m_parts->database->schemaVersion();
    status.instance = m_parts->instance;
    status.maxConcurrency = m_parts->dispatcher.maxConcurrency();
    status.dataFolder = m_options.dataFolder;
    status.runtimeFolder = m_options.runtimeFolder;
    answer(status);
}

void Engine::doctor(const Answer<QList<Finding>> &answer)
{
    if (!isUp(answer))
        return;
    QCoro::connect(examine(*m_parts, m_options), this, answer);
}

} // namespace engine
