#include "teststore.h"

using namespace engine;

namespace {

Verdicts verdict(const Approval &approval, ApprovalState to, const QString &who = QStringLiteral("rita"))
{
    Verdicts result;
    result.id = approval.id;
    result.to = to;
    result.expected = approval.digest;
    result.decidedBy = who;
    return result;
}

QList<ApprovalId> idsOf(const Result<QList<Approval>> &approvals)
{
    QList<ApprovalId> ids;
    for (const Approval &approval : approvals.value())
        ids += approval.id;
    return ids;
}

} // namespace

class TestApprovalStore : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void approvalsReadBack();
    void b05_anotherDigestIsRefused();
    void b06_theFirstDecisionStands();
    void b07_theSameKeyAnswersTheOriginal();
    void b08_oneOfTwoConsolesWins();
    void b09_expiryHasNoDecider();
    void b10_extend();
    void b11_anExpiredApprovalIsNotDecided();
    void b12_oneOfDecisionAndExpiryWins_data();
    void b12_oneOfDecisionAndExpiryWins();
    void b14_pauseAndApprovalAreOneTransaction();
    void b16_everythingSurvivesARestart();
    void b18_lostApprovalsAreUsedOnce();
    void b20_cancelledIsNotDenied();
    void b24_severalInOneTurn();
    void b26_editsAreStored();
    void b79_deliveryMovesStepByStep();
    void b85_oneNativeIdTwoKinds();
    void listsAreOrderedAndFiltered();
    void seenOnce();
    void anApprovalNeedsDigestAndRun();

private:
    Approval add(const QString &digest = QStringLiteral("d"));

    std::unique_ptr<TestStore> m_store;
    Run m_run;
};

void TestApprovalStore::init()
{
    m_store = std::make_unique<TestStore>();
    m_run = m_store->addRunning(m_store->addSession(QStringLiteral("Fix the build")));
}

Approval TestApprovalStore::add(const QString &digest)
{
    const Approval approval = m_store->makeApproval(m_run, digest);
    const auto stored = m_store->approvals->insert(approval, {QStringLiteral("input-") + digest});
    if (!stored)
        qFatal("%s", qPrintable(stored.error().message));
    return m_store->approvals->get(approval.id).value();
}

void TestApprovalStore::approvalsReadBack()
{
    Approval approval = m_store->makeApproval(m_run, QStringLiteral("d"));
    approval.kind = ApprovalKind::Question;
    approval.nativeToolUseId = QStringLiteral("t");
    approval.reason = QStringLiteral("because");
    approval.blockedPath = QStringLiteral("/etc");
    approval.input = QByteArray("{\"a\":\"\xff\"}");
    approval.cwd = QStringLiteral("/w");
    approval.editable = false;
    approval.requestedBy = QStringLiteral("olivia");
    VERIFY_OK(m_store->approvals->insert(approval, {}));
    approval.agentId = m_store->agent;
    approval.agentName = QStringLiteral("Agent One");
    approval.sessionTitle = QStringLiteral("Fix the build");
    QVERIFY(m_store->approvals->get(approval.id).value() == approval);
    VERIFY_FAILS(m_store->approvals->get({QStringLiteral("p-none")}), ErrorCode::NotFound);
}

void TestApprovalStore::b05_anotherDigestIsRefused()
{
    const Approval approval = add();
    Verdicts other = verdict(approval, ApprovalState::Approved);
    for (const QString &digest : {QStringLiteral("e"), QString()}) {
        other.expected = {digest};
        VERIFY_FAILS(m_store->approvals->decide(other, m_store->at(1)), ErrorCode::ActionChanged);
    }
    QVERIFY(m_store->approvals->get(approval.id).value() == approval);
    QCOMPARE(m_store->sessions->get(m_run.sessionId)->pendingApprovals, 1);
}

void TestApprovalStore::b06_theFirstDecisionStands()
{
    const Approval approval = add();
    const Decided first = m_store->approvals->decide(verdict(approval, ApprovalState::Denied), m_store->at(1)).value();
    QCOMPARE(toString(first.approval.state), toString(ApprovalState::Denied));
    QCOMPARE(toString(first.approval.delivery), toString(Delivery::NotDelivered));
    QCOMPARE(first.approval.decidedBy, QStringLiteral("rita"));
    QCOMPARE(first.approval.decidedAt, m_store->at(1));
    const auto second =
        m_store->approvals->decide(verdict(approval, ApprovalState::Approved, QStringLiteral("sam")), m_store->at(2));
    VERIFY_FAILS(second, ErrorCode::Conflict);
    QVERIFY(second.error().message.contains(QLatin1String("denied")));
    QVERIFY(second.error().message.contains(QLatin1String("rita")));
    const QString time = m_store->at(1).toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    QVERIFY(second.error().message.contains(time));
    QVERIFY(m_store->approvals->get(approval.id).value() == first.approval);
}

void TestApprovalStore::b07_theSameKeyAnswersTheOriginal()
{
    const Approval approval = add();
    Verdicts keyed = verdict(approval, ApprovalState::Approved);
    keyed.key = QStringLiteral("k");
    const Decided first = m_store->approvals->decide(keyed, m_store->at(1)).value();
    QVERIFY(!first.repeated);
    const Decided again = m_store->approvals->decide(keyed, m_store->at(999'999)).value();
    QVERIFY(again.repeated);
    QVERIFY(again.approval == first.approval);
    Verdicts otherVerdict = keyed;
    otherVerdict.to = ApprovalState::Denied;
    VERIFY_FAILS(m_store->approvals->decide(otherVerdict, m_store->at(2)), ErrorCode::Conflict);
    Verdicts otherEdit = keyed;
    otherEdit.editedDigest = {QStringLiteral("x")};
    VERIFY_FAILS(m_store->approvals->decide(otherEdit, m_store->at(2)), ErrorCode::Conflict);
    Verdicts unkeyed = keyed;
    unkeyed.key.clear();
    VERIFY_FAILS(m_store->approvals->decide(unkeyed, m_store->at(2)), ErrorCode::Conflict);
}

void TestApprovalStore::b08_oneOfTwoConsolesWins()
{
    const Approval approval = add();
    const auto other = Database::open({m_store->path()});
    VERIFY_OK(other);
    ApprovalStore otherStore(**other);
    QCOMPARE(toString(otherStore.get(approval.id)->state), toString(ApprovalState::Pending));
    VERIFY_OK(m_store->approvals->decide(verdict(approval, ApprovalState::Denied), m_store->at(1)));
    const auto lost =
        otherStore.decide(verdict(approval, ApprovalState::Approved, QStringLiteral("sam")), m_store->at(1));
    VERIFY_FAILS(lost, ErrorCode::Conflict);
    QVERIFY(lost.error().message.contains(QLatin1String("rita")));
    QCOMPARE(toString(otherStore.get(approval.id)->state), toString(ApprovalState::Denied));
}

void TestApprovalStore::b09_expiryHasNoDecider()
{
    const Approval approval = add();
    QCOMPARE(m_store->approvals->nextExpiry().value(), std::optional<QDateTime>(m_store->at(900'000)));
    QCOMPARE(m_store->approvals->expireDue(m_store->at(899'999))->size(), 0);
    Verdicts expiry;
    expiry.id = approval.id;
    expiry.to = ApprovalState::Expired;
    VERIFY_FAILS(m_store->approvals->decide(expiry, m_store->at(899'999)), ErrorCode::Conflict);
    QCOMPARE(idsOf(m_store->approvals->expireDue(m_store->at(900'000))), QList<ApprovalId>{approval.id});
    const Decided expired = m_store->approvals->decide(expiry, m_store->at(900'000)).value();
    QCOMPARE(toString(expired.approval.state), toString(ApprovalState::Expired));
    QCOMPARE(expired.approval.decidedBy, QString());
    QCOMPARE(toString(expired.approval.delivery), toString(Delivery::NotDelivered));
    QCOMPARE(m_store->approvals->nextExpiry().value(), std::optional<QDateTime>());
    QCOMPARE(m_store->approvals->expireDue(m_store->at(900'000))->size(), 0);
    QCOMPARE(m_store->sessions->get(m_run.sessionId)->pendingApprovals, 0);
}

void TestApprovalStore::b10_extend()
{
    const Approval approval = add();
    QCOMPARE(m_store->approvals->extend(approval.id, m_store->at(2'000'000), m_store->at(1))->expiresAt,
             m_store->at(2'000'000));
    QCOMPARE(m_store->approvals->expireDue(m_store->at(1'999'999))->size(), 0);
    VERIFY_FAILS(m_store->approvals->extend(approval.id, m_store->at(1), m_store->at(1)), ErrorCode::Invalid);
    VERIFY_FAILS(m_store->approvals->extend(approval.id, m_store->at(3'000'000), m_store->at(2'000'000)),
                 ErrorCode::Expired);
    VERIFY_OK(m_store->approvals->decide(verdict(approval, ApprovalState::Denied), m_store->at(2)));
    VERIFY_FAILS(m_store->approvals->extend(approval.id, m_store->at(3'000'000), m_store->at(3)), ErrorCode::Conflict);
}

void TestApprovalStore::b11_anExpiredApprovalIsNotDecided()
{
    const Approval approval = add();
    for (const ApprovalState to : {ApprovalState::Approved, ApprovalState::Denied})
        VERIFY_FAILS(m_store->approvals->decide(verdict(approval, to), m_store->at(900'001)), ErrorCode::Expired);
    VERIFY_OK(m_store->approvals->decide({approval.id, ApprovalState::Expired, {}, {}, {}, {}, {}, {}},
                                         m_store->at(900'001)));
    VERIFY_FAILS(m_store->approvals->decide(verdict(approval, ApprovalState::Approved), m_store->at(900'002)),
                 ErrorCode::Expired);
    QCOMPARE(toString(m_store->approvals->get(approval.id)->state), toString(ApprovalState::Expired));
}

void TestApprovalStore::b12_oneOfDecisionAndExpiryWins_data()
{
    QTest::addColumn<qint64>("tick");
    QTest::addColumn<bool>("decisionFirst");
    QTest::addColumn<QString>("state");
    QTest::newRow("the last ms, decision first") << qint64(899'999) << true << QStringLiteral("approved");
    QTest::newRow("the last ms, expiry first") << qint64(899'999) << false << QStringLiteral("approved");
    QTest::newRow("the same ms, decision first") << qint64(900'000) << true << QStringLiteral("expired");
    QTest::newRow("the same ms, expiry first") << qint64(900'000) << false << QStringLiteral("expired");
}

void TestApprovalStore::b12_oneOfDecisionAndExpiryWins()
{
    QFETCH(qint64, tick);
    QFETCH(bool, decisionFirst);
    QFETCH(QString, state);
    const Approval approval = add();
    const QDateTime now = m_store->at(tick);
    Verdicts expiry;
    expiry.id = approval.id;
    expiry.to = ApprovalState::Expired;
    int won = 0;
    const QList<Verdicts> both{verdict(approval, ApprovalState::Approved), expiry};
    for (int i = 0; i < 2; ++i)
        won += m_store->approvals->decide(both.at(decisionFirst ? i : 1 - i), now).has_value() ? 1 : 0;
    QCOMPARE(won, 1);
    QCOMPARE(toString(m_store->approvals->get(approval.id)->state), state);
}

void TestApprovalStore::b14_pauseAndApprovalAreOneTransaction()
{
    const Approval approval = m_store->makeApproval(m_run, QStringLiteral("d"));
    {
        auto transaction = Transaction::begin(*m_store->database);
        VERIFY_OK(transaction);
        VERIFY_OK(m_store->approvals->insert(approval, {}));
        VERIFY_OK(m_store->runs->move(m_run.id, 1, RunState::Running, RunState::Paused));
    }
    VERIFY_FAILS(m_store->approvals->get(approval.id), ErrorCode::NotFound);
    QCOMPARE(toString(m_store->runs->get(m_run.id)->state), toString(RunState::Running));
    QCOMPARE(m_store->sessions->get(m_run.sessionId)->pendingApprovals, 0);
}

void TestApprovalStore::b16_everythingSurvivesARestart()
{
    const Approval approval = add();
    const RunId waiting = m_store->addRun(m_run.sessionId);
    VERIFY_OK(m_store->runs->move(m_run.id, 1, RunState::Running, RunState::Paused));
    const Session session = m_store->sessions->get(m_run.sessionId).value();
    m_store->reopen();
    QVERIFY(m_store->approvals->get(approval.id).value() == approval);
    QVERIFY(m_store->sessions->get(m_run.sessionId).value() == session);
    QCOMPARE(m_store->runs->get(waiting)->position, 1);
    QCOMPARE(m_store->approvals->nextExpiry().value(), std::optional<QDateTime>(approval.expiresAt));
}

void TestApprovalStore::b18_lostApprovalsAreUsedOnce()
{
    const Approval pending = add(QStringLiteral("d1")), decided = add(QStringLiteral("d2")),
                   written = add(QStringLiteral("d3"));
    for (const Approval &approval : {decided, written})
        VERIFY_OK(m_store->approvals->decide(verdict(approval, ApprovalState::Approved), m_store->at(1)));
    VERIFY_OK(
        m_store->approvals->markDelivery(written.id, {Delivery::NotDelivered}, Delivery::Written, m_store->at(2)));
    QCOMPARE(idsOf(m_store->approvals->markNativeLost(m_run.id)), (QList<ApprovalId>{pending.id, decided.id}));
    QCOMPARE(toString(m_store->approvals->get(pending.id)->state), toString(ApprovalState::Pending));
    QVERIFY(m_store->approvals->get(pending.id)->nativeLost);
    QCOMPARE(toString(m_store->approvals->get(decided.id)->delivery), toString(Delivery::Lost));
    QCOMPARE(toString(m_store->approvals->get(written.id)->delivery), toString(Delivery::Written));
    const auto usable = [this](const char *tool, const char *input) {
        const auto found =
            m_store->approvals->usableLost(m_run.sessionId, QString::fromLatin1(tool), {QString::fromLatin1(input)});
        return found.value() ? (*found)->id : ApprovalId();
    };
    QCOMPARE(usable("Bash", "input-d1"), ApprovalId());
    QCOMPARE(
        toString(
            m_store->approvals->decide(verdict(pending, ApprovalState::Approved), m_store->at(3))->approval.delivery),
        toString(Delivery::Lost));
    QCOMPARE(usable("Bash", "input-d1"), pending.id);
    QCOMPARE(usable("Bash", "input-d2"), decided.id);
    QCOMPARE(usable("Bash", "input-d3"), ApprovalId());
    QCOMPARE(usable("Write", "input-d1"), ApprovalId());
    QCOMPARE(usable("Bash", "input-x"), ApprovalId());
    VERIFY_OK(m_store->approvals->useLost(pending.id, newApprovalId(), m_store->at(4)));
    VERIFY_FAILS(m_store->approvals->useLost(pending.id, newApprovalId(), m_store->at(4)), ErrorCode::Conflict);
    QCOMPARE(usable("Bash", "input-d1"), ApprovalId());
    VERIFY_FAILS(m_store->approvals->useLost(written.id, newApprovalId(), m_store->at(4)), ErrorCode::Conflict);
}

void TestApprovalStore::b20_cancelledIsNotDenied()
{
    const Approval first = add(), second = add();
    VERIFY_OK(m_store->approvals->decide(verdict(first, ApprovalState::Approved), m_store->at(1)));
    QCOMPARE(idsOf(m_store->approvals->cancelPendingOfRun(m_run.id, m_store->at(2))), QList<ApprovalId>{second.id});
    const Approval cancelled = m_store->approvals->get(second.id).value();
    QCOMPARE(toString(cancelled.state), toString(ApprovalState::Cancelled));
    QCOMPARE(cancelled.decidedBy, QString());
    QCOMPARE(toString(cancelled.delivery), toString(Delivery::None));
    QCOMPARE(toString(m_store->approvals->get(first.id)->state), toString(ApprovalState::Approved));
    VERIFY_FAILS(m_store->approvals->decide(verdict(second, ApprovalState::Approved), m_store->at(3)),
                 ErrorCode::Conflict);
    QCOMPARE(m_store->approvals->pendingForRun(m_run.id).value(), 0);
}

void TestApprovalStore::b24_severalInOneTurn()
{
    const Approval first = add(QStringLiteral("d1")), second = add(QStringLiteral("d2"));
    QCOMPARE(m_store->approvals->pendingForRun(m_run.id).value(), 2);
    QCOMPARE(idsOf(m_store->approvals->byRun(m_run.id)), (QList<ApprovalId>{first.id, second.id}));
    VERIFY_FAILS(m_store->approvals->decide({first.id, ApprovalState::Approved, second.digest, {}, {}, {}, {}, {}},
                                            m_store->at(1)),
                 ErrorCode::ActionChanged);
    VERIFY_OK(m_store->approvals->decide(verdict(second, ApprovalState::Approved), m_store->at(1)));
    QCOMPARE(m_store->approvals->pendingForRun(m_run.id).value(), 1);
    QCOMPARE(toString(m_store->approvals->get(first.id)->state), toString(ApprovalState::Pending));
}

void TestApprovalStore::b26_editsAreStored()
{
    const Approval approval = add();
    Verdicts edited = verdict(approval, ApprovalState::Approved);
    edited.editedInput = R"({"command":"ls /tmp"})";
    edited.editedDigest = {QStringLiteral("edited")};
    edited.note = QStringLiteral("narrower");
    VERIFY_OK(m_store->approvals->decide(edited, m_store->at(1)));
    const Approval stored = m_store->approvals->get(approval.id).value();
    QCOMPARE(stored.editedInput, edited.editedInput);
    QCOMPARE(stored.editedDigest, edited.editedDigest);
    QCOMPARE(stored.note, edited.note);
    QCOMPARE(stored.input, approval.input);
    QCOMPARE(stored.digest, approval.digest);
}

void TestApprovalStore::b79_deliveryMovesStepByStep()
{
    const Approval approval = add();
    VERIFY_FAILS(
        m_store->approvals->markDelivery(approval.id, {Delivery::NotDelivered}, Delivery::Written, m_store->at(1)),
        ErrorCode::Conflict);
    VERIFY_OK(m_store->approvals->decide(verdict(approval, ApprovalState::Approved), m_store->at(1)));
    QCOMPARE(m_store->approvals->undelivered()->size(), 0);
    RunPatch continued;
    continued.continued = true;
    VERIFY_OK(m_store->runs->move(m_run.id, 1, RunState::Running, RunState::Paused));
    VERIFY_OK(m_store->runs->move(m_run.id, 1, RunState::Paused, RunState::Running, continued));
    QCOMPARE(idsOf(m_store->approvals->undelivered()), QList<ApprovalId>{approval.id});
    m_store->reopen();
    QCOMPARE(idsOf(m_store->approvals->undelivered()), QList<ApprovalId>{approval.id});
    VERIFY_FAILS(
        m_store->approvals->markDelivery(approval.id, {Delivery::Written}, Delivery::Acknowledged, m_store->at(2)),
        ErrorCode::Conflict);
    VERIFY_OK(
        m_store->approvals->markDelivery(approval.id, {Delivery::NotDelivered}, Delivery::Written, m_store->at(2)));
    QCOMPARE(m_store->approvals->undelivered()->size(), 0);
    VERIFY_OK(m_store->approvals->markDelivery(approval.id, {Delivery::NotDelivered, Delivery::Written},
                                               Delivery::Acknowledged, m_store->at(3)));
    const Approval done = m_store->approvals
                              ->markDelivery(approval.id, {Delivery::Acknowledged}, Delivery::Executed, m_store->at(4),
                                             QStringLiteral("ok"))
                              .value();
    QCOMPARE(toString(done.delivery), toString(Delivery::Executed));
    QCOMPARE(done.writtenAt, m_store->at(2));
    QCOMPARE(done.acknowledgedAt, m_store->at(3));
    QCOMPARE(done.executedAt, m_store->at(4));
    QCOMPARE(done.executedStatus, QStringLiteral("ok"));
}

void TestApprovalStore::b85_oneNativeIdTwoKinds()
{
    Approval tool = m_store->makeApproval(m_run, QStringLiteral("d1"));
    Approval question = m_store->makeApproval(m_run, QStringLiteral("d2"));
    question.kind = ApprovalKind::Question;
    QCOMPARE(tool.nativeRequestId, question.nativeRequestId);
    VERIFY_OK(m_store->approvals->insert(tool, {}));
    VERIFY_OK(m_store->approvals->insert(question, {}));
    VERIFY_OK(m_store->approvals->decide(verdict(question, ApprovalState::Denied), m_store->at(1)));
    QCOMPARE(toString(m_store->approvals->get(tool.id)->state), toString(ApprovalState::Pending));
}

void TestApprovalStore::listsAreOrderedAndFiltered()
{
    const Approval first = add(QStringLiteral("d1")), second = add(QStringLiteral("d2"));
    const Run otherRun = m_store->addRunning(m_store->addSession(QString::fromUtf8("Übung")));
    Approval other = m_store->makeApproval(otherRun, QStringLiteral("d3"));
    other.toolName = QStringLiteral("WebFetch");
    VERIFY_OK(m_store->approvals->insert(other, {}));
    VERIFY_OK(m_store->approvals->decide(verdict(second, ApprovalState::Denied), m_store->at(1)));
    ApprovalQuery query;
    QCOMPARE(idsOf(m_store->approvals->list(query)), (QList<ApprovalId>{first.id, other.id}));
    query.text = QStringLiteral("webf");
    QCOMPARE(idsOf(m_store->approvals->list(query)), QList<ApprovalId>{other.id});
    query.text = QString::fromUtf8("ÜBUNG");
    QCOMPARE(idsOf(m_store->approvals->list(query)), QList<ApprovalId>{other.id});
    query = {};
    query.pendingOnly = false;
    QCOMPARE(idsOf(m_store->approvals->list(query)), (QList<ApprovalId>{other.id, second.id, first.id}));
    query.sessionId = m_run.sessionId;
    QCOMPARE(idsOf(m_store->approvals->list(query)), (QList<ApprovalId>{second.id, first.id}));
    query.limit = 1;
    query.offset = 1;
    QCOMPARE(idsOf(m_store->approvals->list(query)), QList<ApprovalId>{first.id});
    query = {};
    query.runId = otherRun.id;
    QCOMPARE(idsOf(m_store->approvals->list(query)), QList<ApprovalId>{other.id});
}

void TestApprovalStore::seenOnce()
{
    const Approval approval = add();
    const QList<ApprovalId> ids{approval.id, {QStringLiteral("p-none")}};
    QCOMPARE(idsOf(m_store->approvals->markSeen(ids, QStringLiteral("rita"), m_store->at(5))),
             QList<ApprovalId>{approval.id});
    QCOMPARE(m_store->approvals->markSeen(ids, QStringLiteral("sam"), m_store->at(6))->size(), 0);
    QCOMPARE(m_store->approvals->get(approval.id)->seenBy, QStringLiteral("rita"));
    QCOMPARE(m_store->approvals->get(approval.id)->seenAt, m_store->at(5));
}

void TestApprovalStore::anApprovalNeedsDigestAndRun()
{
    VERIFY_FAILS(m_store->approvals->insert(m_store->makeApproval(m_run, {}), {}), ErrorCode::Invalid);
    Approval approval = m_store->makeApproval(m_run, QStringLiteral("d"));
    approval.runId = {QStringLiteral("r-none")};
    VERIFY_FAILS(m_store->approvals->insert(approval, {}), ErrorCode::NotFound);
    approval = m_store->makeApproval(m_run, QStringLiteral("d"));
    approval.sessionId = m_store->addSession();
    VERIFY_FAILS(m_store->approvals->insert(approval, {}), ErrorCode::NotFound);
    approval = m_store->makeApproval(m_run, QStringLiteral("d"));
    approval.attempt = 0;
    VERIFY_FAILS(m_store->approvals->insert(approval, {}), ErrorCode::Stale);
}

QTEST_GUILESS_MAIN(TestApprovalStore)
#include "tst_approvalstore.moc"
