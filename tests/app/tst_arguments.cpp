#include "app/doors/arguments.h"
#include "app/doors/exitcode.h"
#include "app/doors/visibletext.h"

#include <QTest>

using app::Action;

class TestArguments : public QObject
{
    Q_OBJECT

private slots:
    void understood_data();
    void understood();
    void values();
    void refused_data();
    void refused();
    void helpNamesEveryOption();
    void exitCodes();
    void visibleTextHidesNothing();
};

void TestArguments::understood_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("action");
    const auto row = [](const char *line, Action action) {
        QTest::newRow(line) << QString::fromUtf8(line).split(u' ', Qt::SkipEmptyParts) << int(action);
    };
    row("", Action::Window);
    row("--demo", Action::Window);
    row("--data /x", Action::Window);
    row("--tour out", Action::Tour);
    row("--headless --data=/x", Action::Headless);
    row("--help", Action::Help);
    row("run -h", Action::Help);
    row("--version", Action::Version);
    row("run hello", Action::Run);
    row("run --agent A --workspace . --title T --key k --follow hello", Action::Run);
    row("run --session s-1 --no-wait -", Action::Run);
    row("run -- --not-an-option", Action::Run);
    row("sessions", Action::ListSessions);
    row("sessions list --json", Action::ListSessions);
    row("sessions show s-1", Action::ShowSession);
    row("approvals", Action::ListApprovals);
    row("approvals list --all", Action::ListApprovals);
    row("approvals show p-1", Action::ShowApproval);
    row("approvals resolve p-1 --approve --digest d", Action::ResolveApproval);
    row("approvals resolve p-1 --deny --note no", Action::ResolveApproval);
    row("approvals continue r-1", Action::ContinueRun);
    row("approvals extend p-1 60", Action::ExtendApproval);
    row("agents", Action::ListAgents);
    row("sandboxes", Action::ListComputers);
    row("sandboxes leftovers", Action::ListLeftovers);
    row("sandboxes tidy", Action::RemoveLeftovers);
    row("sandboxes images", Action::ListImages);
    row("sandboxes build-image", Action::BuildImage);
    row("doctor --json", Action::Doctor);
}

void TestArguments::understood()
{
    QFETCH(QStringList, words);
    QFETCH(int, action);
    const auto arguments = app::parseArguments(words);
    QVERIFY2(arguments.has_value(), qPrintable(arguments ? QString() : arguments.error()));
    QCOMPARE(int(arguments->action), action);
}

void TestArguments::values()
{
    const auto run =
        app::parseArguments({"--json", "run", "--agent=Claude Code", "--key", "k-1", "--workspace", "w", "a b"});
    QVERIFY(run);
    QCOMPARE(run->agent, QStringLiteral("Claude Code"));
    QCOMPARE(run->key, QStringLiteral("k-1"));
    QCOMPARE(run->workspace, QStringLiteral("w"));
    QCOMPARE(run->prompt, QStringLiteral("a b"));
    QVERIFY(run->wait && run->json && !run->follow && !run->needsInput());

    const auto resolve = app::parseArguments(
        {"approvals", "resolve", "p-1", "--approve", "--digest", "d1", "--input", "-", "--note", "", "--continue"});
    QVERIFY(resolve);
    QCOMPARE(resolve->id, QStringLiteral("p-1"));
    QCOMPARE(resolve->digest, QStringLiteral("d1"));
    QVERIFY(resolve->verdict == engine::Verdict::Approve && resolve->continueAfter && resolve->needsInput());

    QVERIFY(!app::parseArguments({"approvals", "continue", "r-1"})->wait);
    QVERIFY(app::parseArguments({"approvals", "continue", "r-1", "--wait"})->wait);
    QCOMPARE(app::parseArguments({"approvals", "extend", "p-1", "90"})->seconds, 90);
    QCOMPARE(app::parseArguments({"run", "--", "--json"})->prompt, QStringLiteral("--json"));
}

void TestArguments::refused_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("mentions");
    const auto row = [](const QStringList &words, const char *mentions) {
        QTest::newRow(qPrintable(words.join(u' '))) << words << QString::fromLatin1(mentions);
    };
    row({"--bogus"}, "--bogus");
    row({"fly"}, "Unknown command");
    row({"--data"}, "needs a value");
    row({"--data", ""}, "not empty");
    row({"--tour"}, "needs a value");
    row({"--json=1"}, "takes no value");
    row({"--follow"}, "no meaning");
    row({"--headless", "run", "x"}, "no command");
    row({"run"}, "Missing");
    row({"run", " "}, "empty");
    row({"run", "two", "words"}, "one word too many");
    row({"run", "--wait", "--no-wait", "x"}, "exclude");
    row({"run", "--follow", "--no-wait", "x"}, "--follow");
    row({"run", "--session", "s", "--agent", "a", "x"}, "--session");
    row({"run", "--digest", "d", "x"}, "no meaning");
    row({"sessions", "drop"}, "drop");
    row({"sessions", "show"}, "Missing");
    row({"agents", "make"}, "make");
    row({"approvals", "resolve", "p-1"}, "one of --approve");
    row({"approvals", "resolve", "p-1", "--approve", "--deny"}, "one of --approve");
    row({"approvals", "resolve", "p-1", "--deny", "--input", "f"}, "--input");
    row({"approvals", "resolve", "--approve"}, "Missing");
    row({"approvals", "extend", "p-1", "soon"}, "soon");
    row({"approvals", "extend", "p-1", "-5"}, "-5");
    row({"approvals", "extend", "p-1", "0"}, "0");
    row({"approvals", "forget", "p-1"}, "forget");
    row({"doctor", "now"}, "one word too many");
}

void TestArguments::refused()
{
    QFETCH(QStringList, words);
    QFETCH(QString, mentions);
    const auto arguments = app::parseArguments(words);
    QVERIFY(!arguments);
    QVERIFY2(arguments.error().contains(mentions), qPrintable(arguments.error()));
}

void TestArguments::helpNamesEveryOption()
{
    const QString help = app::helpText();
    for (const char *option :
         {"--data",  "--demo",   "--json",  "--headless", "--tour",    "--session", "--agent",   "--workspace",
          "--title", "--key",    "--wait",  "--no-wait",  "--follow",  "--all",     "--approve", "--deny",
          "--note",  "--digest", "--input", "--continue", "--version", "--help"})
        QVERIFY2(help.contains(QLatin1String(option)), option);
}

void TestArguments::exitCodes()
{
    using engine::ErrorCode;
    const QMap<ErrorCode, int> promised{
        {ErrorCode::Invalid, 2},       {ErrorCode::NotFound, 4},          {ErrorCode::Conflict, 3},
        {ErrorCode::Expired, 3},       {ErrorCode::ActionChanged, 3},     {ErrorCode::Stale, 3},
        {ErrorCode::Forbidden, 3},     {ErrorCode::QueueFull, 3},         {ErrorCode::StorageUnavailable, 5},
        {ErrorCode::StorageNewer, 5},  {ErrorCode::StorageBusy, 7},       {ErrorCode::ShuttingDown, 7},
        {ErrorCode::HarnessFailed, 1}, {ErrorCode::CredentialMissing, 1}, {ErrorCode::Internal, 1}};
    for (auto row = promised.begin(); row != promised.end(); ++row)
        QCOMPARE(int(app::exitCodeOf(row.key())), row.value());
}

void TestArguments::visibleTextHidesNothing()
{
    QCOMPARE(app::visibleText(QStringLiteral("a\tb\nc")), QStringLiteral("a\tb\nc"));
    QCOMPARE(app::visibleText(QStringLiteral("\x1b[31mred")), QStringLiteral("<U+001B>[31mred"));
    QCOMPARE(app::visibleText(QString(QChar(0x202E)) + u"txt"), QStringLiteral("<U+202E>txt"));
    QCOMPARE(app::visibleText(QStringLiteral("a\rb")), QStringLiteral("a<U+000D>b"));
    QCOMPARE(app::visibleText(QStringLiteral("漢字 🚦")), QStringLiteral("漢字 🚦"));
}

QTEST_GUILESS_MAIN(TestArguments)
#include "tst_arguments.moc"
