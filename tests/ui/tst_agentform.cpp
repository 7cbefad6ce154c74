// The form of an agent shows what its harness has a use for, and says what it lacks.
#include "ui/agents/agentform.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

using namespace engine;

class TestAgentForm final : public QObject
{
    Q_OBJECT

private slots:
    void choosingCodexShowsItsFields();
    void anUntouchedAgentIsUnchanged_data();
    void anUntouchedAgentIsUnchanged();
    void gateAllFixesThePolicy();
    void foreignKeysAreNamed();

private:
    static QComboBox *box(ui::AgentForm &form, const char *name) { return form.findChild<QComboBox *>(QLatin1String(name)); }
    static void choose(QComboBox *box, HarnessKind kind)
    {
        box->setCurrentIndex(box->findData(int(kind)));
        emit box->activated(box->currentIndex());
    }
};

void TestAgentForm::choosingCodexShowsItsFields()
{
    ui::AgentForm form;
    form.show();
    QVERIFY(!box(form, "approvalPolicy")->isVisible());
    QVERIFY(box(form, "permissionMode")->isVisible());
    choose(box(form, "harness"), HarnessKind::Codex);
    QVERIFY(box(form, "approvalPolicy")->isVisible());
    QVERIFY(box(form, "sandboxMode")->isVisible());
    QVERIFY(!box(form, "permissionMode")->isVisible());
    QCOMPARE(form.agent().keyVariable, QStringLiteral("OPENAI_API_KEY"));
    QVERIFY(box(form, "harness")->accessibleDescription().contains(QStringLiteral("Codex takes no lists of tools")));
    QVERIFY(!box(form, "sandboxMode")->accessibleDescription().isEmpty());
    box(form, "approvalPolicy")->setCurrentText(QStringLiteral("never"));
    box(form, "sandboxMode")->setCurrentText(QStringLiteral("workspace-write"));
    QCOMPARE(form.agent().approvalPolicy, QStringLiteral("never"));
    QCOMPARE(form.agent().sandboxMode, QStringLiteral("workspace-write"));
    choose(box(form, "harness"), HarnessKind::Claude);
    QVERIFY(!box(form, "sandboxMode")->isVisible());
    QCOMPARE(form.agent().keyVariable, QStringLiteral("ANTHROPIC_API_KEY"));
}

void TestAgentForm::anUntouchedAgentIsUnchanged_data()
{
    QTest::addColumn<QString>("policy");
    QTest::addColumn<QString>("sandbox");
    QTest::addColumn<bool>("asksAll");
    QTest::newRow("nothing set") << "" << "" << false;
    QTest::newRow("the defaults named") << "on-request" << "read-only" << false;
    QTest::newRow("others") << "never" << "danger-full-access" << false;
    QTest::newRow("everything asks") << "" << "workspace-write" << true;
    QTest::newRow("everything asks, named") << "untrusted" << "" << true;
}

void TestAgentForm::anUntouchedAgentIsUnchanged()
{
    QFETCH(QString, policy);
    QFETCH(QString, sandbox);
    QFETCH(bool, asksAll);
    Agent agent;
    agent.name = QStringLiteral("Codex");
    agent.harness = HarnessKind::Codex;
    agent.keyVariable = QStringLiteral("OPENAI_API_KEY");
    agent.approvalPolicy = policy;
    agent.sandboxMode = sandbox;
    agent.gate = asksAll ? Gate::All : Gate::Native;
    ui::AgentForm form;
    form.setAgent(agent);
    QVERIFY(!form.isChanged());
    QCOMPARE(form.problem(), QString());
}

void TestAgentForm::gateAllFixesThePolicy()
{
    Agent agent;
    agent.name = QStringLiteral("Codex");
    agent.harness = HarnessKind::Codex;
    agent.keyVariable = QStringLiteral("OPENAI_API_KEY");
    agent.approvalPolicy = QStringLiteral("never");
    ui::AgentForm form;
    form.setAgent(agent);
    QVERIFY(box(form, "approvalPolicy")->isEnabled());
    box(form, "gate")->setCurrentIndex(box(form, "gate")->findData(int(Gate::All)));
    QVERIFY(!box(form, "approvalPolicy")->isEnabled());
    QCOMPARE(form.agent().approvalPolicy, QStringLiteral("untrusted"));
}

void TestAgentForm::foreignKeysAreNamed()
{
    ui::AgentForm form;
    Agent agent;
    agent.name = QStringLiteral("Codex");
    agent.harness = HarnessKind::Codex; // with the key variable of the other harness
    form.setAgent(agent);
    QVERIFY2(form.problem().contains(QStringLiteral("another vendor")), qPrintable(form.problem()));
    box(form, "sandboxMode")->setCurrentText(QStringLiteral("external"));
    form.findChild<QLineEdit *>(QStringLiteral("keyVariable"))->setText(QStringLiteral("OPENAI_API_KEY"));
    QVERIFY2(form.problem().contains(QStringLiteral("isolates")), qPrintable(form.problem()));
}

QTEST_MAIN(TestAgentForm)
#include "tst_agentform.moc"
