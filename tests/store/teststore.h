#pragma once

#include "engine/store/agentstore.h"
#include "engine/store/approvalstore.h"
#include "engine/store/auditstore.h"
#include "engine/store/database.h"
#include "engine/store/eventstore.h"
#include "engine/store/runstore.h"
#include "engine/store/sessionstore.h"
#include "engine/store/settingstore.h"

#include <QTemporaryDir>
#include <QTest>
#include <memory>

// Fails the test with the store's own words.
#define VERIFY_OK(result)                                                                                              \
    do {                                                                                                               \
        const auto &checkedResult = (result);                                                                          \
        QVERIFY2(checkedResult.has_value(), checkedResult ? "" : qPrintable(checkedResult.error().message));           \
    } while (false)

#define VERIFY_FAILS(result, expected)                                                                                 \
    do {                                                                                                               \
        const auto &checkedResult = (result);                                                                          \
        QVERIFY(!checkedResult.has_value());                                                                           \
        QVERIFY2(checkedResult.error().code == (expected),                                                             \
                 qPrintable(engine::toString(checkedResult.error().code) + u": " + checkedResult.error().message));    \
    } while (false)

// A fresh store in a folder of its own with one agent, and shorthands for what the tests need. The suite runs on
// whatever Database::open makes of the path.
class TestStore final
{
public:
    TestStore();

    static QDateTime at(qint64 ms); // 2026-01-01 plus so many milliseconds
    QString path() const;
    void reopen();
    // As it holds on the open connection.
    QVariant pragma(const QString &name);
    // The open connection's file may grow by no more than a few pages.
    bool fillDisk();

    engine::SessionId addSession(const QString &title = QStringLiteral("A session"));
    engine::RunId addRun(const engine::SessionId &session, qint64 now = 0,
                         const QString &prompt = QStringLiteral("go"));
    // Enqueued and claimed.
    engine::Run addRunning(const engine::SessionId &session, qint64 now = 0);
    // A pending one of the run, expiring at 900,000.
    engine::Approval makeApproval(const engine::Run &run, const QString &digest) const;

    QTemporaryDir folder;
    std::unique_ptr<engine::Database> database;
    std::unique_ptr<engine::AgentStore> agents;
    std::unique_ptr<engine::SessionStore> sessions;
    std::unique_ptr<engine::RunStore> runs;
    std::unique_ptr<engine::EventStore> events;
    std::unique_ptr<engine::ApprovalStore> approvals;
    std::unique_ptr<engine::AuditStore> audit;
    std::unique_ptr<engine::SettingStore> settings;
    engine::AgentId agent{QStringLiteral("a-1")};
};
