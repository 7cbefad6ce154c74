#pragma once

#include "engine/types/approval.h"
#include "engine/types/error.h"

#include <QList>
#include <optional>
#include <vector>

namespace engine {

class Database;
struct Bound;

// What is written when a pending approval ends. Approved and Denied need the digest as shown; Expired and Cancelled
// are the system's and need none.
struct Verdicts
{
    ApprovalId id;
    ApprovalState to = ApprovalState::Denied;
    Digest expected;
    QString decidedBy;
    QString note;
    QByteArray editedInput;
    Digest editedDigest;
    QString key; // idempotency key; empty: none
};

struct Decided
{
    Approval approval;
    bool repeated = false; // the same decision with the same key: nothing was changed
};

// Approvals. An approval leaves `pending` exactly once: every way out is one guarded update. Thread of its Database.
class ApprovalStore final
{
public:
    explicit ApprovalStore(Database &database) : m_database(database) {}

    // `inputDigest`: of the canonical arguments alone, for usableLost().
    Result<void> insert(const Approval &approval, const Digest &inputDigest);
    Result<Approval> get(const ApprovalId &id) const;
    // Pending ones oldest first; with history the newest first.
    Result<QList<Approval>> list(const ApprovalQuery &query) const;
    // In the order they came.
    Result<QList<Approval>> byRun(const RunId &id) const;
    Result<int> pendingForRun(const RunId &id) const;

    // ActionChanged: another digest; Expired: its time is over (expiresAt <= now); Conflict: decided before, naming
    // state, who and when. Expired as `to` is refused with Conflict before its time.
    Result<Decided> decide(const Verdicts &verdict, const QDateTime &now);
    // Pending ones whose time is over; each still has to win decide(Expired).
    Result<QList<Approval>> expireDue(const QDateTime &now) const;
    Result<std::optional<QDateTime>> nextExpiry() const;
    // Conflict: not pending; Expired: its time is over.
    Result<Approval> extend(const ApprovalId &id, const QDateTime &expiresAt, const QDateTime &now);
    Result<QList<Approval>> cancelPendingOfRun(const RunId &id, const QDateTime &now);

    // Conflict when the delivery is not among `from`. Sets the time that belongs to `to`; `status` goes with Executed.
    Result<Approval> markDelivery(const ApprovalId &id, const QList<Delivery> &from, Delivery to, const QDateTime &at,
                                  const QString &status = {});
    // Decided and not written though the run was continued.
    Result<QList<Approval>> undelivered() const;
    // The first time only; unknown ids are passed over. Answers those that changed.
    Result<QList<Approval>> markSeen(const QList<ApprovalId> &ids, const QString &who, const QDateTime &at);

    // The process that asked is gone: pending ones keep waiting, decided ones that it never got become Lost.
    Result<QList<Approval>> markNativeLost(const RunId &id);
    // The oldest approved one of a lost process for the very same call that was not used yet.
    Result<std::optional<Approval>> usableLost(const SessionId &id, const QString &toolName,
                                               const Digest &inputDigest) const;
    // Conflict when it was used before: an approval lets one action through.
    Result<Approval> useLost(const ApprovalId &id, const ApprovalId &usedBy, const QDateTime &at);

private:
    Result<QList<Approval>> read(const QString &statement, const std::vector<Bound> &bindings) const;

    Database &m_database;
};

} // namespace engine
