#include "support/fakeengineclient.h"

#include <algorithm>
#include <utility>

using namespace engine;

FakeEngineClient::FakeEngineClient(QObject *parent) : EngineClient(parent)
{
    settingRows = {{QStringLiteral("queue.max_concurrency"), QStringLiteral("4")},
                   {QStringLiteral("queue.per_session"), QStringLiteral("true")},
                   {QStringLiteral("approvals.continue_after_resolving"), QStringLiteral("true")}};
    statusRow = {QStringLiteral("/home/pat/.local/share/signalbox/signalbox.db"), QStringLiteral("SQLite 3.40.1"), 1,
                 QStringLiteral("desk-4711"), 4, false, QStringLiteral("/home/pat/.local/share/signalbox"),
                 QStringLiteral("/run/user/1000/signalbox")};
}

void FakeEngineClient::release()
{
    m_held = false;
    for (const std::function<void()> &finish : std::exchange(m_waiting, {}))
        finish();
}

int FakeEngineClient::callCount(const QString &prefix) const
{
    return int(std::count_if(calls.begin(), calls.end(), [&](const QString &call) { return call.startsWith(prefix); }));
}

Counts FakeEngineClient::currentCounts() const
{
    Counts counts;
    for (const Run &run : runRows) {
        counts.running += run.state == RunState::Running;
        counts.paused += run.state == RunState::Paused;
        counts.queued += run.state == RunState::Pending;
    }
    for (const Approval &approval : approvalRows)
        counts.pendingApprovals += approval.state == ApprovalState::Pending;
    counts.costTodayMicros = costTodayMicros;
    return counts;
}

void FakeEngineClient::push(FeedBatch batch)
{
    batch.number = ++m_batch;
    batch.counts = currentCounts();
    emit fed(batch);
}

void FakeEngineClient::feedLater(const FeedBatch &batch)
{
    QMetaObject::invokeMethod(this, [this, batch] { push(batch); }, Qt::QueuedConnection);
}

void FakeEngineClient::notify(const Notice &notice)
{
    FeedBatch batch;
    batch.notices = {notice};
    push(batch);
}

Session *FakeEngineClient::findSession(const SessionId &id)
{
    return rowById(sessionRows, id);
}

Run *FakeEngineClient::findRun(const RunId &id)
{
    return rowById(runRows, id);
}

Approval *FakeEngineClient::findApproval(const ApprovalId &id)
{
    return rowById(approvalRows, id);
}

void FakeEngineClient::putAgent(const Agent &agent)
{
    putById(agentRows, agent);
    FeedBatch batch;
    batch.agents = {agent};
    push(batch);
}

void FakeEngineClient::putSession(const Session &session)
{
    putById(sessionRows, session);
    FeedBatch batch;
    batch.sessions = {session};
    push(batch);
}

// The derived fields of a session, and the places of its waiting runs, as the store's queries give them.
void FakeEngineClient::refreshSession(const SessionId &id)
{
    Session *session = findSession(id);
    if (!session)
        return;
    session->activeRun = {};
    session->queued = 0;
    session->pendingApprovals = 0;
    for (Run &run : runRows) {
        if (run.sessionId != id)
            continue;
        run.position = 0;
        if (run.state == RunState::Running || run.state == RunState::Paused) {
            session->activeRun = run.id;
            session->activeState = run.state;
        } else if (run.state == RunState::Pending) {
            run.position = ++session->queued;
        } else {
            session->lastOutcome = run.state;
        }
    }
    for (const Approval &approval : approvalRows)
        session->pendingApprovals += approval.sessionId == id && approval.state == ApprovalState::Pending;
}

void FakeEngineClient::putRun(const Run &run)
{
    putById(runRows, run);
    refreshSession(run.sessionId);
    FeedBatch batch;
    batch.runs = {*findRun(run.id)};
    if (const Session *session = findSession(run.sessionId))
        batch.sessions = {*session};
    push(batch);
}

void FakeEngineClient::putApproval(const Approval &approval)
{
    putById(approvalRows, approval);
    refreshSession(approval.sessionId);
    FeedBatch batch;
    batch.approvals = {approval};
    if (const Session *session = findSession(approval.sessionId))
        batch.sessions = {*session};
    push(batch);
}

void FakeEngineClient::putBlocks(const QList<Block> &blocks)
{
    FeedBatch batch;
    for (const Block &block : blocks) {
        QList<Block> &rows = blockRows[block.sessionId.value];
        Block stored = block;
        if (stored.position < 0)
            stored.position = rows.size();
        if (stored.position < rows.size())
            rows[stored.position] = stored;
        else
            rows.append(stored);
        if (Session *session = findSession(stored.sessionId))
            session->blocks = rows.size();
        batch.blocks.append(stored);
    }
    push(batch);
}

void FakeEngineClient::removeSession(const SessionId &id)
{
    sessionRows.removeIf([&](const Session &session) { return session.id == id; });
    runRows.removeIf([&](const Run &run) { return run.sessionId == id; });
    approvalRows.removeIf([&](const Approval &approval) { return approval.sessionId == id; });
    FeedBatch batch;
    batch.removedSessions = {id};
    push(batch);
}

void FakeEngineClient::noteAudit(const QString &who, const QString &what, const QString &subject, const QString &result)
{
    auditRows.prepend({auditRows.size() + 1, QDateTime::currentDateTimeUtc(), who, what, subject, result, {}});
}

QFuture<Result<QList<Agent>>> FakeEngineClient::agents()
{
    calls.append(QStringLiteral("agents"));
    return answer<QList<Agent>>(QStringLiteral("agents"), [this]() -> Result<QList<Agent>> { return agentRows; });
}

QFuture<Result<Agent>> FakeEngineClient::saveAgent(const Agent &agent, const QString &who)
{
    calls.append(QStringLiteral("saveAgent %1 by %2").arg(agent.name, who));
    return answer<Agent>(QStringLiteral("saveAgent"), [&]() -> Result<Agent> {
        if (agent.name.trimmed().isEmpty())
            return fail(ErrorCode::Invalid, QStringLiteral("The agent needs a name."));
        Agent saved = agent;
        if (saved.id.isEmpty())
            saved.id = newAgentId();
        putById(agentRows, saved);
        FeedBatch batch;
        batch.agents = {saved};
        feedLater(batch);
        return saved;
    });
}

QFuture<Result<Agent>> FakeEngineClient::archiveAgent(const AgentId &id, const QString &who)
{
    calls.append(QStringLiteral("archiveAgent %1 by %2").arg(id.value, who));
    return answer<Agent>(QStringLiteral("archiveAgent"), [&]() -> Result<Agent> {
        Agent *agent = rowById(agentRows, id);
        if (!agent)
            return absent<Agent>(id.value);
        agent->archived = true;
        FeedBatch batch;
        batch.agents = {*agent};
        feedLater(batch);
        return *agent;
    });
}

QFuture<Result<Session>> FakeEngineClient::createSession(const NewSession &request, const QString &who)
{
    calls.append(QStringLiteral("createSession %1 by %2").arg(request.agentId.value, who));
    return answer<Session>(QStringLiteral("createSession"), [&]() -> Result<Session> {
        const Agent *agent = rowById(agentRows, request.agentId);
        if (!agent)
            return absent<Session>(request.agentId.value);
        Session session;
        session.id = newSessionId();
        session.agentId = agent->id;
        session.agentName = agent->name;
        session.title = request.title;
        session.workspace = request.workspace.isEmpty() ? agent->workspace : request.workspace;
        session.createdAt = QDateTime::currentDateTimeUtc();
        session.updatedAt = session.createdAt;
        sessionRows.append(session);
        FeedBatch batch;
        batch.sessions = {session};
        feedLater(batch);
        return session;
    });
}

Result<Session> FakeEngineClient::changeSession(const SessionId &id, const std::function<void(Session &)> &change)
{
    Session *session = findSession(id);
    if (!session)
        return absent<Session>(id.value);
    change(*session);
    FeedBatch batch;
    batch.sessions = {*session};
    feedLater(batch);
    return *session;
}

QFuture<Result<Session>> FakeEngineClient::renameSession(const SessionId &id, const QString &title)
{
    calls.append(QStringLiteral("renameSession %1 %2").arg(id.value, title));
    return answer<Session>(QStringLiteral("renameSession"),
                           [&] { return changeSession(id, [&](Session &session) { session.title = title; }); });
}

QFuture<Result<void>> FakeEngineClient::deleteSession(const SessionId &id, const QString &who)
{
    calls.append(QStringLiteral("deleteSession %1 by %2").arg(id.value, who));
    return answer<void>(QStringLiteral("deleteSession"), [&]() -> Result<void> {
        const Session *session = findSession(id);
        if (!session)
            return absent<void>(id.value);
        if (!session->activeRun.isEmpty())
            return fail(ErrorCode::Conflict, QStringLiteral("Session %1 has a run under way. Cancel it first.").arg(id.value));
        sessionRows.removeIf([&](const Session &other) { return other.id == id; });
        FeedBatch batch;
        batch.removedSessions = {id};
        feedLater(batch);
        return {};
    });
}

QFuture<Result<Session>> FakeEngineClient::setSessionModel(const SessionId &id, const QString &model)
{
    calls.append(QStringLiteral("setSessionModel %1 %2").arg(id.value, model));
    return answer<Session>(QStringLiteral("setSessionModel"),
                           [&] { return changeSession(id, [&](Session &session) { session.model = model; }); });
}

QFuture<Result<Session>> FakeEngineClient::setSessionMode(const SessionId &id, const QString &mode)
{
    calls.append(QStringLiteral("setSessionMode %1 %2").arg(id.value, mode));
    return answer<Session>(QStringLiteral("setSessionMode"),
                           [&] { return changeSession(id, [&](Session &session) { session.permissionMode = mode; }); });
}

QFuture<Result<Session>> FakeEngineClient::startFresh(const SessionId &id, const QString &who)
{
    calls.append(QStringLiteral("startFresh %1 by %2").arg(id.value, who));
    return answer<Session>(QStringLiteral("startFresh"),
                           [&] { return changeSession(id, [&](Session &session) { session.native = {}; }); });
}

void FakeEngineClient::prewarm(const SessionId &id)
{
    calls.append(QStringLiteral("prewarm %1").arg(id.value));
}

QFuture<Result<QList<Session>>> FakeEngineClient::sessions(const SessionQuery &query)
{
    calls.append(QStringLiteral("sessions"));
    return answer<QList<Session>>(QStringLiteral("sessions"), [&]() -> Result<QList<Session>> {
        QList<Session> found;
        for (const Session &session : sessionRows) {
            const bool isTextFound = query.text.isEmpty() || session.title.contains(query.text, Qt::CaseInsensitive) ||
                                     session.agentName.contains(query.text, Qt::CaseInsensitive);
            if (isTextFound && (query.agentId.isEmpty() || query.agentId == session.agentId))
                found.append(session);
        }
        return found.mid(query.offset, query.limit);
    });
}

QFuture<Result<Session>> FakeEngineClient::session(const SessionId &id)
{
    calls.append(QStringLiteral("session %1").arg(id.value));
    return answer<Session>(QStringLiteral("session"), [&]() -> Result<Session> {
        const Session *session = findSession(id);
        return session ? Result<Session>(*session) : absent<Session>(id.value);
    });
}

QFuture<Result<BlockPage>> FakeEngineClient::blocks(const SessionId &id, qint64 first, int count)
{
    calls.append(QStringLiteral("blocks %1 %2 %3").arg(id.value).arg(first).arg(count));
    return answer<BlockPage>(QStringLiteral("blocks"), [&]() -> Result<BlockPage> {
        const QList<Block> rows = blockRows.value(id.value);
        const qint64 from = first < 0 ? qMax<qint64>(0, rows.size() - count) : first;
        return BlockPage{id, from, rows.size(), rows.mid(from, count)};
    });
}

QFuture<Result<QList<RawLine>>> FakeEngineClient::rawLines(const SessionId &id, const RunId &run, int limit)
{
    calls.append(QStringLiteral("rawLines %1").arg(id.value));
    return answer<QList<RawLine>>(QStringLiteral("rawLines"), [&]() -> Result<QList<RawLine>> {
        QList<RawLine> found;
        for (const RawLine &line : rawRows) {
            if (line.sessionId == id && (run.isEmpty() || line.runId == run))
                found.append(line);
        }
        return found.mid(qMax<qsizetype>(0, found.size() - limit));
    });
}

QFuture<Result<QList<RunEvent>>> FakeEngineClient::runEvents(const RunId &id, int limit)
{
    calls.append(QStringLiteral("runEvents %1").arg(id.value));
    return answer<QList<RunEvent>>(QStringLiteral("runEvents"), [&]() -> Result<QList<RunEvent>> {
        return eventRows.value(id.value).mid(0, limit);
    });
}
