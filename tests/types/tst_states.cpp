#include "engine/types/error.h"
#include "engine/types/states.h"

#include <QSet>
#include <QTest>

using namespace engine;

namespace {

const QList<RunState> allRunStates{RunState::Pending,   RunState::Running, RunState::Paused,
                                   RunState::Completed, RunState::Error,   RunState::Cancelled};

template<class E> void roundTrip(const QList<E> &values, std::optional<E> (*fromString)(const QString &))
{
    QSet<QString> names;
    for (const E value : values) {
        QCOMPARE(fromString(toString(value)), std::optional<E>(value));
        names.insert(toString(value));
    }
    QCOMPARE(names.size(), values.size());
    QCOMPARE(fromString(QStringLiteral("no such word")), std::optional<E>());
}

} // namespace

class TestStates : public QObject
{
    Q_OBJECT

private slots:
    void wordsReadBack();
    void runMoves_data();
    void runMoves();
    void terminalStatesAreLeftByNoMove();
    void approvalLeavesPendingOnly();
    void errorCodesHaveNames();
};

void TestStates::wordsReadBack()
{
    roundTrip(allRunStates, &runStateFromString);
    roundTrip({ApprovalState::Pending, ApprovalState::Approved, ApprovalState::Denied, ApprovalState::Expired,
               ApprovalState::Cancelled},
              &approvalStateFromString);
    roundTrip({Delivery::None, Delivery::NotDelivered, Delivery::Written, Delivery::Acknowledged, Delivery::Executed,
               Delivery::Lost},
              &deliveryFromString);
    roundTrip({ApprovalKind::Tool, ApprovalKind::Question, ApprovalKind::Plan, ApprovalKind::Unknown},
              &approvalKindFromString);
    roundTrip({Gate::Native, Gate::All}, &gateFromString);
    roundTrip({HarnessKind::Claude, HarnessKind::Replay}, &harnessKindFromString);
    roundTrip({BlockKind::Prompt, BlockKind::Answer, BlockKind::Thinking, BlockKind::Tool, BlockKind::Approval,
               BlockKind::Note, BlockKind::Warning, BlockKind::Failure, BlockKind::Unknown},
              &blockKindFromString);
    roundTrip({ToolState::None, ToolState::Running, ToolState::Done, ToolState::Failed, ToolState::Denied},
              &toolStateFromString);
}

void TestStates::runMoves_data()
{
    QTest::addColumn<QString>("from");
    QTest::addColumn<QStringList>("to");
    const auto row = [](const char *from, const QStringList &to) {
        QTest::newRow(from) << QString::fromLatin1(from) << to;
    };
    row("PENDING", {QStringLiteral("RUNNING"), QStringLiteral("CANCELLED")});
    row("RUNNING", {QStringLiteral("PENDING"), QStringLiteral("PAUSED"), QStringLiteral("COMPLETED"),
                    QStringLiteral("ERROR"), QStringLiteral("CANCELLED")});
    row("PAUSED", {QStringLiteral("RUNNING"), QStringLiteral("ERROR"), QStringLiteral("CANCELLED")});
    row("COMPLETED", {});
    row("ERROR", {});
    row("CANCELLED", {});
}

void TestStates::runMoves()
{
    QFETCH(QString, from);
    QFETCH(QStringList, to);
    for (const RunState state : allRunStates)
        QCOMPARE(mayMove(*runStateFromString(from), state), to.contains(toString(state)));
}

void TestStates::terminalStatesAreLeftByNoMove()
{
    int terminal = 0;
    for (const RunState from : allRunStates) {
        if (!isTerminal(from))
            continue;
        ++terminal;
        for (const RunState to : allRunStates)
            QVERIFY(!mayMove(from, to));
    }
    QCOMPARE(terminal, 3);
}

void TestStates::approvalLeavesPendingOnly()
{
    const QList<ApprovalState> states{ApprovalState::Pending, ApprovalState::Approved, ApprovalState::Denied,
                                      ApprovalState::Expired, ApprovalState::Cancelled};
    for (const ApprovalState from : states) {
        for (const ApprovalState to : states)
            QCOMPARE(mayMove(from, to), from == ApprovalState::Pending && to != ApprovalState::Pending);
    }
}

void TestStates::errorCodesHaveNames()
{
    QSet<QString> names;
    for (int code = 0; code <= int(ErrorCode::Internal); ++code)
        names.insert(toString(ErrorCode(code)));
    QCOMPARE(names.size(), int(ErrorCode::Internal) + 1);
    QCOMPARE(toString(ErrorCode::ActionChanged), QStringLiteral("action_changed"));
    QCOMPARE(toString(ErrorCode::NativeResumeFailed), QStringLiteral("native_resume_failed"));
}

QTEST_GUILESS_MAIN(TestStates)
#include "tst_states.moc"
