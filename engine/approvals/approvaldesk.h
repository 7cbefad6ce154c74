#pragma once

#include "engine/feed.h"
#include "engine/harness/events.h"
#include "engine/stores.h"

#include <QObject>
#include <QSet>

namespace engine {

class Recorder;

// Everything that happens to an approval between the harness's question and its receipts. Each step is one guarded
// update; any doubt means that nothing runs. The states and what a crash does stand in engine/README.md. Engine thread.
class ApprovalDesk final : public QObject
{
    Q_OBJECT

public:
    ApprovalDesk(Stores &stores, Feed &feed, Clock &clock);

    // Arms the expiry timer from what the store holds.
    void start();

    // The run becomes PAUSED and the approval pending, in one transaction with the line that asked. On failure nothing
    // is stored and the caller denies. An approval of a lost process for the very same call is used up instead; then
    // the answer is already decided.
    Result<Approval> request(Recorder &recorder, const Run &run, const Session &session, const Agent &agent,
                             const PermissionRequested &asked);
    Result<Resolved> resolve(const Decision &decision);
    // Forbidden while one is pending. Attached: the run went on already.
    Result<Continued> continueRun(const RunId &id, const QString &who);
    Result<Approval> extend(const ApprovalId &id, int seconds, const QString &who);
    Result<void> markSeen(const QList<ApprovalId> &ids, const QString &who);
    // By the system: the harness withdrew its question or ended its turn. The run goes on when nothing is pending.
    void withdraw(Recorder &recorder, const RunId &run, const QString &nativeRequestId);
    void markNativeLost(Recorder &recorder, const RunId &run);
    void written(const ApprovalId &id);
    void toolEnded(const RunId &run, const ToolEnded &tool);

signals:
    // The run left PAUSED by a decision or its expiry: stored decisions wait to be carried to the harness.
    void deliverable(const engine::RunId &run);

private:
    void armExpiry();
    void expire();
    Result<Run> resumeRun(const RunId &id, int attempt);
    void show(const Approval &approval);
    void audit(const QString &who, const QString &what, const QString &subject, const Error *error,
               const QString &detail = {});
    Result<Resolved> decide(const Decision &decision);
    Result<QByteArray> checkedEdit(const Approval &approval, const Decision &decision) const;

    Stores &m_stores;
    Feed &m_feed;
    Clock &m_clock;
    QDateTime m_armedFor;
};

// One sentence saying what will happen, for lists and cards.
QString approvalTitle(const PermissionRequested &asked);

} // namespace engine
