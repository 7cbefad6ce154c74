// How the requests of Codex look before they are decided.
#include "models/approvalinput.h"
#include "models/displaytext.h"

#include <QTest>

using namespace engine;
using namespace models;

namespace {

Approval approvalOf(const QString &tool, const QByteArray &input)
{
    Approval approval;
    approval.kind = ApprovalKind::Tool;
    approval.toolName = tool;
    approval.input = input;
    approval.cwd = QStringLiteral("/w");
    return approval;
}

QString shown(const ActionPart &part)
{
    QStringList lines{part.label};
    if (!part.text.isEmpty())
        lines.append(part.text);
    for (const DiffLine &line : part.diff)
        lines.append((line.kind == DiffLine::Kind::Added ? u'+' : line.kind == DiffLine::Kind::Removed ? u'-' : u' ') + line.text);
    return lines.join(u'|');
}

QStringList shownParts(const Approval &approval)
{
    QStringList all;
    for (const ActionPart &part : actionParts(approval))
        all.append(shown(part));
    return all;
}

} // namespace

class TestCodexApprovalInput final : public QObject
{
    Q_OBJECT

private slots:
    void b83_everyFileOfAPatch();
    void b83_unreadableChangesStayWhole();
    void commandsCarryTheirRisks();
    void pathsOutside();
    void modesInWords();
};

void TestCodexApprovalInput::b83_everyFileOfAPatch()
{
    const Approval approval = approvalOf(
        QStringLiteral("fileChange"),
        R"({"changes":[{"path":"/w/a","kind":{"type":"add"},"diff":"alpha\nbeta\n"},)"
        R"({"path":"/w/b","kind":{"type":"delete"},"diff":"gone\n"},)"
        R"({"path":"/w/c","kind":{"type":"update","move_path":"/w/d"},"diff":"@@ -1,2 +1,2 @@\n-old\n+new\n same\n"}]})");
    const QStringList parts = shownParts(approval);
    QCOMPARE(parts.size(), 4);
    QCOMPARE(parts.at(0), QStringLiteral("Adds /w/a|+alpha|+beta|+"));
    QCOMPARE(parts.at(1), QStringLiteral("Deletes /w/b|-gone|-"));
    QCOMPARE(parts.at(2), QStringLiteral("Changes /w/c and moves it to /w/d| @@ -1,2 +1,2 @@|-old|+new| same"));
    QCOMPARE(parts.at(3), QStringLiteral("In folder|/w"));
    QVERIFY(riskFacts(approval).isEmpty());
}

void TestCodexApprovalInput::b83_unreadableChangesStayWhole()
{
    const QStringList odd = shownParts(approvalOf(QStringLiteral("fileChange"), R"({"changes":[{"path":"/w/a"},7],"grantRoot":"/"})"));
    QVERIFY2(odd.value(0).contains(QStringLiteral("/w/a")) && odd.value(0).contains(QStringLiteral("grantRoot")),
             qPrintable(odd.value(0)));
    const QStringList kind =
        shownParts(approvalOf(QStringLiteral("fileChange"), R"({"changes":[{"path":"/w/a","kind":{"type":"never"},"diff":"x"}]})"));
    QVERIFY2(kind.value(0).contains(QStringLiteral("never")), qPrintable(kind.value(0)));
}

void TestCodexApprovalInput::commandsCarryTheirRisks()
{
    const QList<RiskFact> facts =
        riskFacts(approvalOf(QStringLiteral("commandExecution"), R"({"command":"/bin/bash -lc 'sudo rm -rf /tmp/x'","cwd":"/w"})"));
    QVERIFY(facts.size() >= 2);
}

void TestCodexApprovalInput::pathsOutside()
{
    const QList<RiskFact> facts = riskFacts(
        approvalOf(QStringLiteral("fileChange"), R"({"changes":[{"path":"/etc/x","kind":{"type":"add"},"diff":"rm -rf /\n"}]})"));
    QCOMPARE(facts.size(), 1); // the words of a file run nothing
}

void TestCodexApprovalInput::modesInWords()
{
    Agent agent;
    agent.harness = HarnessKind::Codex;
    QCOMPARE(agentMode(agent), QStringLiteral("on-request"));
    agent.gate = Gate::All;
    QCOMPARE(agentMode(agent), QStringLiteral("untrusted"));
    for (const QString &policy : {QString(), QStringLiteral("on-request"), QStringLiteral("untrusted"), QStringLiteral("never")})
        QVERIFY(!modeSentence(HarnessKind::Codex, policy).contains(QStringLiteral("Not a")));
    QVERIFY(modeSentence(HarnessKind::Codex, QStringLiteral("acceptEdits")).contains(QStringLiteral("Not a")));
    QVERIFY(!harnessLimits(HarnessKind::Codex).isEmpty());
}

QTEST_GUILESS_MAIN(TestCodexApprovalInput)
#include "tst_codexapprovalinput.moc"
