#include "teststore.h"

#include <QSqlDatabase>
#include <QSqlQuery>

using namespace engine;

namespace {

// Helpers that a test can't go on without end the program with the reason.
template<class T> T orDie(const Result<T> &result)
{
    if (!result)
        qFatal("%s", qPrintable(result.error().message));
    if constexpr (!std::is_void_v<T>)
        return *result;
}

} // namespace

TestStore::TestStore()
{
    reopen();
    Agent one;
    one.id = agent;
    one.name = QStringLiteral("Agent One");
    one.createdAt = one.updatedAt = at(0);
    orDie(agents->insertOrUpdate(one));
}

QDateTime TestStore::at(qint64 ms)
{
    return QDateTime(QDate(2026, 1, 1), QTime(0, 0), Qt::UTC).addMSecs(ms);
}

QString TestStore::path() const
{
    return folder.filePath(QStringLiteral("signalbox.db"));
}

void TestStore::reopen()
{
    database.reset();
    auto opened = Database::open({path(), false, 200});
    if (!opened)
        qFatal("%s", qPrintable(opened.error().message));
    database = std::move(*opened);
    agents = std::make_unique<AgentStore>(*database);
    sessions = std::make_unique<SessionStore>(*database);
    runs = std::make_unique<RunStore>(*database);
    events = std::make_unique<EventStore>(*database);
    approvals = std::make_unique<ApprovalStore>(*database);
    audit = std::make_unique<AuditStore>(*database);
    settings = std::make_unique<SettingStore>(*database);
}

QVariant TestStore::pragma(const QString &name)
{
    for (const QString &connectionName : QSqlDatabase::connectionNames()) {
        QSqlDatabase connection = QSqlDatabase::database(connectionName, false);
        QSqlQuery query(connection);
        if (connection.databaseName() == path() && query.exec(u"PRAGMA " + name) && query.next())
            return query.value(0);
    }
    return {};
}

bool TestStore::fillDisk()
{
    const int pages = pragma(QStringLiteral("page_count")).toInt() + 4;
    return pragma(QStringLiteral("max_page_count = %1").arg(pages)).toInt() == pages;
}

SessionId TestStore::addSession(const QString &title)
{
    Session session;
    session.id = newSessionId();
    session.agentId = agent;
    session.title = title;
    session.createdAt = session.updatedAt = at(0);
    orDie(sessions->insert(session));
    return session.id;
}

RunId TestStore::addRun(const SessionId &session, qint64 now, const QString &prompt)
{
    NewRun request;
    request.sessionId = session;
    request.prompt = prompt;
    request.requestedBy = QStringLiteral("olivia");
    request.origin = QStringLiteral("window");
    return orDie(runs->enqueue(request, {}, at(now))).run.id;
}

Run TestStore::addRunning(const SessionId &session, qint64 now)
{
    const RunId id = addRun(session, now);
    const std::optional<Run> claimed = orDie(runs->claimNext(QStringLiteral("engine-1"), at(now), 1000));
    if (!claimed || claimed->id != id)
        qFatal("another run was claimed");
    return *claimed;
}

Approval TestStore::makeApproval(const Run &run, const QString &digest) const
{
    Approval approval;
    approval.id = newApprovalId();
    approval.runId = run.id;
    approval.sessionId = run.sessionId;
    approval.attempt = run.attempt;
    approval.generation = 1;
    approval.nativeSessionId = QStringLiteral("native-1");
    approval.nativeRequestId = QStringLiteral("request-1");
    approval.toolName = QStringLiteral("Bash");
    approval.title = QStringLiteral("Run a command");
    approval.input = R"({"command":"ls"})";
    approval.raw = R"({"type":"control_request"})";
    approval.canonical = R"({"tool":"Bash"})";
    approval.digest = {digest};
    approval.requestedAt = at(0);
    approval.expiresAt = at(900'000);
    return approval;
}
