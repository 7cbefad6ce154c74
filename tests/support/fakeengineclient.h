#pragma once

#include "engine/engineclient.h"

#include <QHash>
#include <QPromise>
#include <algorithm>
#include <functional>
#include <memory>

// An engine in memory for models and widgets: it keeps the rules that a window shows (guarded decisions, digests,
// expiry, limits), answers in the event loop as the real one does, and records what was asked. One thread.
class FakeEngineClient final : public engine::EngineClient
{
    Q_OBJECT

public:
    explicit FakeEngineClient(QObject *parent = nullptr);

    // What the engine holds. Changing it by hand tells nobody; the put... functions also feed.
    QList<engine::Agent> agentRows;
    QList<engine::Session> sessionRows;
    QList<engine::Run> runRows;
    QList<engine::Approval> approvalRows;
    QHash<QString, QList<engine::Block>> blockRows; // by session id
    QList<engine::RawLine> rawRows;
    QHash<QString, QList<engine::RunEvent>> eventRows; // by run id
    QList<engine::AuditEntry> auditRows;               // newest first
    QMap<QString, QString> settingRows;
    engine::EngineStatus statusRow;
    QList<engine::Finding> findingRows;
    qint64 costTodayMicros = 0;
    engine::SandboxEngine sandboxEngineRow;
    QList<engine::Computer> computerRows;
    QHash<QString, QList<engine::Protection>> checklistRows; // by session id
    QList<engine::Leftover> leftoverRows;
    QList<engine::AgentImage> imageRows;

    // One line per call, "resolve p-1 approve", in order; and the values of the most looked-at ones.
    QStringList calls;
    QList<engine::Decision> decisions;
    QList<engine::NewRun> submissions;
    QList<engine::ApprovalId> seen;
    QList<engine::ImageRequest> builds;
    int callCount(const QString &prefix) const;

    // While held, answers (not effects) wait for release().
    void hold() { m_held = true; }
    void release();
    // The next call of this method ("resolve", "agents", ...) fails with the error and has no effect.
    void failNext(const QString &method, const engine::Error &error) { m_failures.insert(method, error); }

    void putAgent(const engine::Agent &agent);
    void putSession(const engine::Session &session);
    void putRun(const engine::Run &run);
    void putApproval(const engine::Approval &approval);
    void putBlocks(const QList<engine::Block> &blocks);
    void putComputer(const engine::Computer &computer);
    void pushProgress(const engine::ImageProgress &progress);
    void removeSession(const engine::SessionId &id);
    // Numbers the batch, fills in the counts, and emits it at once.
    void push(engine::FeedBatch batch);
    void notify(const engine::Notice &notice);
    engine::Counts currentCounts() const;
    // The approval's time ran out: as the engine does it.
    void expire(const engine::ApprovalId &id);

    QFuture<engine::Result<QList<engine::Agent>>> agents() override;
    QFuture<engine::Result<engine::Agent>> saveAgent(const engine::Agent &agent, const QString &who) override;
    QFuture<engine::Result<engine::Agent>> archiveAgent(const engine::AgentId &id, const QString &who) override;
    QFuture<engine::Result<engine::Session>> createSession(const engine::NewSession &request, const QString &who) override;
    QFuture<engine::Result<engine::Session>> renameSession(const engine::SessionId &id, const QString &title) override;
    QFuture<engine::Result<void>> deleteSession(const engine::SessionId &id, const QString &who) override;
    QFuture<engine::Result<engine::Session>> setSessionModel(const engine::SessionId &id, const QString &model) override;
    QFuture<engine::Result<engine::Session>> setSessionMode(const engine::SessionId &id, const QString &mode) override;
    QFuture<engine::Result<engine::Session>> startFresh(const engine::SessionId &id, const QString &who) override;
    void prewarm(const engine::SessionId &id) override;
    QFuture<engine::Result<QList<engine::Session>>> sessions(const engine::SessionQuery &query) override;
    QFuture<engine::Result<engine::Session>> session(const engine::SessionId &id) override;
    QFuture<engine::Result<engine::BlockPage>> blocks(const engine::SessionId &id, qint64 first, int count) override;
    QFuture<engine::Result<QList<engine::RawLine>>> rawLines(const engine::SessionId &id, const engine::RunId &run,
                                                             int limit) override;
    QFuture<engine::Result<QList<engine::RunEvent>>> runEvents(const engine::RunId &id, int limit) override;
    QFuture<engine::Result<engine::Submitted>> submit(const engine::NewRun &request) override;
    QFuture<engine::Result<engine::Run>> cancelRun(const engine::RunId &id, const QString &who) override;
    QFuture<engine::Result<engine::Run>> requeueRun(const engine::RunId &id, const QString &who) override;
    QFuture<engine::Result<engine::Run>> run(const engine::RunId &id) override;
    QFuture<engine::Result<QList<engine::Run>>> runs(const engine::SessionId &id, int limit) override;
    QFuture<engine::Result<QList<engine::Approval>>> approvals(const engine::ApprovalQuery &query) override;
    QFuture<engine::Result<engine::Approval>> approval(const engine::ApprovalId &id) override;
    QFuture<engine::Result<engine::Resolved>> resolve(const engine::Decision &decision) override;
    QFuture<engine::Result<engine::Continued>> continueRun(const engine::RunId &id, const QString &who, bool wait) override;
    QFuture<engine::Result<engine::Approval>> extendApproval(const engine::ApprovalId &id, int seconds,
                                                             const QString &who) override;
    void markSeen(const QList<engine::ApprovalId> &ids, const QString &who) override;
    QFuture<engine::Result<QList<engine::AuditEntry>>> audit(int limit) override;
    QFuture<engine::Result<engine::SandboxEngine>> sandboxEngine() override;
    QFuture<engine::Result<QList<engine::Computer>>> computers(bool usage) override;
    QFuture<engine::Result<QList<engine::Protection>>> checklist(const engine::SessionId &id) override;
    QFuture<engine::Result<void>> pauseComputer(const engine::SessionId &id, const QString &who) override;
    QFuture<engine::Result<void>> resumeComputer(const engine::SessionId &id, const QString &who) override;
    QFuture<engine::Result<void>> stopComputer(const engine::SessionId &id, const QString &who) override;
    QFuture<engine::Result<QList<engine::Leftover>>> leftovers() override;
    QFuture<engine::Result<void>> removeLeftover(const engine::Leftover &leftover, const QString &who) override;
    QFuture<engine::Result<QList<engine::AgentImage>>> images() override;
    QFuture<engine::Result<void>> buildImage(const engine::ImageRequest &request, const QString &who) override;
    void cancelImageBuild() override;
    QFuture<engine::Result<QMap<QString, QString>>> settings() override;
    QFuture<engine::Result<void>> setSetting(const QString &key, const QString &value, const QString &who) override;
    QFuture<engine::Result<engine::EngineStatus>> status() override;
    QFuture<engine::Result<QList<engine::Finding>>> doctor() override;
    QFuture<engine::Result<engine::Counts>> counts() override;

private:
    template <class T> QFuture<engine::Result<T>> answer(const QString &method, std::function<engine::Result<T>()> make)
    {
        auto promise = std::make_shared<QPromise<engine::Result<T>>>(); // shared: std::function must be copyable
        promise->start();
        const auto failure = m_failures.constFind(method);
        const engine::Result<T> result =
            failure == m_failures.constEnd() ? make() : engine::Result<T>(tl::unexpected<engine::Error>(*failure));
        m_failures.remove(method);
        const auto finish = [promise, result] {
            promise->addResult(result);
            promise->finish();
        };
        if (m_held)
            m_waiting.append(finish);
        else
            finish();
        return promise->future();
    }
    template <class Row> static void putById(QList<Row> &rows, const Row &row)
    {
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row &other) { return other.id == row.id; });
        if (found == rows.end())
            rows.append(row);
        else
            *found = row;
    }
    template <class Row, class RowId> static Row *rowById(QList<Row> &rows, const RowId &id)
    {
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row &row) { return row.id == id; });
        return found == rows.end() ? nullptr : &*found;
    }
    template <class T> static engine::Result<T> absent(const QString &value)
    {
        return engine::fail(engine::ErrorCode::NotFound, QStringLiteral("There is no object %1.").arg(value));
    }
    void feedLater(const engine::FeedBatch &batch);
    engine::Computer *findComputer(const engine::SessionId &id);
    engine::Result<void> setComputerState(const engine::SessionId &id, engine::ComputerState state);
    void computersChangedLater();
    engine::Session *findSession(const engine::SessionId &id);
    engine::Run *findRun(const engine::RunId &id);
    engine::Approval *findApproval(const engine::ApprovalId &id);
    void refreshSession(const engine::SessionId &id);
    engine::Result<engine::Session> changeSession(const engine::SessionId &id,
                                                  const std::function<void(engine::Session &)> &change);
    engine::Result<engine::Resolved> decide(const engine::Decision &decision);
    engine::Result<engine::Continued> resume(const engine::RunId &id);
    void noteAudit(const QString &who, const QString &what, const QString &subject, const QString &result);

    bool m_held = false;
    bool m_isBuilding = false;
    QList<std::function<void()>> m_waiting;
    QHash<QString, engine::Error> m_failures;
    quint64 m_batch = 0;
    qint64 m_sequence = 1000;
};
