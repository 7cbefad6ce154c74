#pragma once

#include "engine/engineoptions.h"
#include "engine/types/feed.h"

#include <QCoroTask>
#include <QObject>
#include <QSet>
#include <memory>

namespace engine {

struct EngineParts;

template <class T> using Answer = std::function<void(Result<T>)>;

// The orchestration engine: owns the store, the queue, the approvals and the live sessions. Its parts are made inside
// the engine thread by start(), so that sockets, timers and the SQL connection are born there. Every command answers
// exactly once.
class Engine final : public QObject
{
    Q_OBJECT

public:
    explicit Engine(EngineOptions options);
    ~Engine() override;

    void start();
    // Flushes, lets the harnesses go on and closes the store.
    void stop();

    void saveAgent(const Agent &agent, const QString &who, const Answer<Agent> &answer);
    void archiveAgent(const AgentId &id, const QString &who, const Answer<Agent> &answer);
    void createSession(const NewSession &request, const QString &who, const Answer<Session> &answer);
    void renameSession(const SessionId &id, const QString &title, const Answer<Session> &answer);
    void deleteSession(const SessionId &id, const QString &who, const Answer<void> &answer);
    void setSessionModel(const SessionId &id, const QString &model, const Answer<Session> &answer);
    void setSessionMode(const SessionId &id, const QString &mode, const Answer<Session> &answer);
    void startFresh(const SessionId &id, const QString &who, const Answer<Session> &answer);
    void prewarm(const SessionId &id);
    void submit(const NewRun &request, const Answer<Submitted> &answer);
    void cancelRun(const RunId &id, const QString &who, const Answer<Run> &answer);
    void requeueRun(const RunId &id, const QString &who, const Answer<Run> &answer);
    void resolve(const Decision &decision, const Answer<Resolved> &answer);
    void continueRun(const RunId &id, const QString &who, bool wait, const Answer<Continued> &answer);
    void extendApproval(const ApprovalId &id, int seconds, const QString &who, const Answer<Approval> &answer);
    void markSeen(const QList<ApprovalId> &ids, const QString &who);
    void sandboxEngine(const Answer<SandboxEngine> &answer);
    void computers(bool usage, const Answer<QList<Computer>> &answer);
    void checklist(const SessionId &id, const Answer<QList<Protection>> &answer);
    void pauseComputer(const SessionId &id, const QString &who, const Answer<void> &answer);
    void resumeComputer(const SessionId &id, const QString &who, const Answer<void> &answer);
    void stopComputer(const SessionId &id, const QString &who, const Answer<void> &answer);
    void leftovers(const Answer<QList<Leftover>> &answer);
    void removeLeftover(const Leftover &leftover, const QString &who, const Answer<void> &answer);
    void images(const Answer<QList<AgentImage>> &answer);
    void buildImage(const ImageRequest &request, const QString &who, const Answer<void> &answer);
    void cancelImageBuild();
    void setSetting(const QString &key, const QString &value, const QString &who, const Answer<void> &answer);
    void status(const Answer<EngineStatus> &answer);
    void doctor(const Answer<QList<Finding>> &answer);

signals:
    void started();
    void failed(const engine::Error &error);
    void stopped();
    void batchReady(const engine::FeedBatch &batch);
    void warmChanged(const QSet<engine::SessionId> &warm);

private:
    Result<void> startParts();
    void connectParts();
    void openQueue();
    void finishStop(int waitedMs);
    Result<void> applySettings();
    // True when the engine is up; otherwise answers with the reason.
    template <class T> bool isUp(const Answer<T> &answer) const
    {
        const bool isUp = m_parts && !m_stopping;
        if (!isUp)
            answer(tl::unexpected<Error>(whyDown()));
        return isUp;
    }
    Error whyDown() const;
    template <class T> void later(QCoro::Task<Result<T>> work, const Answer<T> &answer);
    Result<void> takeOverOldSettings();
    void warnOfOldSpelling(const Agent &agent);
    void audit(const QString &who, const QString &what, const QString &subject, const QString &detail = {});
    Result<Session> freshSession(const SessionId &id) const;

    EngineOptions m_options;
    Error m_failure;
    bool m_stopping = false;
    std::unique_ptr<EngineParts> m_parts;
};

} // namespace engine
