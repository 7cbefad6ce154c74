// Sandboxes as a person meets it, by mouse and keyboard, over an engine in memory. With SIGNALBOX_PICTURES=folder the
// last test saves pictures of every tab.
#include "support/fakeengineclient.h"
#include "ui/mainwindow.h"
#include "ui/sandboxes/buildpanel.h"
#include "ui/sandboxes/computerpanel.h"
#include "ui/sandboxes/computerstab.h"
#include "ui/sandboxes/imagestab.h"
#include "ui/sandboxes/leftoverstab.h"
#include "ui/sandboxes/sandboxespage.h"
#include "ui/sandboxes/sandboxtable.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QLineEdit>
#include <QScrollBar>
#include <QSettings>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace engine;

namespace {

const QString hexId = QStringLiteral("3f9ac1d2e4b5a6978801");

Computer computerOf(int number, bool isDocker = true)
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    Computer one;
    one.sessionId = SessionId{QStringLiteral("s-%1").arg(number)};
    one.sessionTitle = QStringLiteral("Session %1").arg(number);
    one.agentName = QStringLiteral("Balanced");
    one.provider = isDocker ? QStringLiteral("docker") : QStringLiteral("host");
    one.isolated = one.canPause = isDocker;
    one.name = QStringLiteral("signalbox-s-%1-1").arg(number);
    one.id = isDocker ? hexId + QString::number(number) : QString();
    one.image = isDocker ? QStringLiteral("signalbox-agent:latest") : QString();
    one.generation = number;
    one.startedAt = now.addSecs(-600 * number);
    one.warmUntil = number == 1 ? now.addSecs(252) : QDateTime();
    one.cpuPercent = 3.2 * number;
    one.memoryBytes = 312ll << 20;
    one.memoryLimit = isDocker ? 2ll << 30 : 0;
    one.processes = 7;
    return one;
}

Leftover leftoverOf(int number, bool inUse)
{
    Leftover one;
    one.kind = Leftover::Kind(number % 3);
    one.id = QStringLiteral("left-%1").arg(number);
    one.name = QStringLiteral("signalbox-left-%1").arg(number);
    one.sessionId = SessionId{QStringLiteral("s-%1").arg(number)};
    one.sessionTitle = inUse ? QStringLiteral("Session %1").arg(number) : QString();
    one.generation = 1;
    one.state = QStringLiteral("exited");
    one.madeAt = QDateTime::currentDateTimeUtc().addDays(-number);
    one.bytes = 10'000'000 * (number + 1);
    one.inUse = inUse;
    return one;
}

struct Fixture
{
    QTemporaryDir folder;
    FakeEngineClient client;
    std::unique_ptr<QSettings> settings;
    std::unique_ptr<ui::MainWindow> window;
    ui::SandboxesPage *page = nullptr;

    Fixture()
    {
        ui::setPersonName(QStringLiteral("rita"));
        client.sandboxEngineRow = {true, QStringLiteral("Docker 20.10.24"), QStringLiteral("1.41"), QStringLiteral("/run/docker.sock"), true, false, {}};
        client.computerRows = {computerOf(1), computerOf(2), computerOf(3, false)};
        client.checklistRows[QStringLiteral("s-1")] = {
            {QStringLiteral("HostConfig.ReadonlyRootfs"), QStringLiteral("The system's files cannot be changed"), QStringLiteral("true"), QStringLiteral("true"), true},
            {QStringLiteral("inside.capabilities"), QStringLiteral("It has no special rights"), QStringLiteral("none"), QStringLiteral("none"), true},
            {QStringLiteral("HostConfig.PidsLimit"), QStringLiteral("It cannot start endless processes"), QStringLiteral("512"), QStringLiteral("unlimited"), false}};
        for (int i = 0; i < 6; ++i)
            client.leftoverRows.append(leftoverOf(i, i == 1));
    }
    bool open(const QString &tab)
    {
        window.reset();
        settings = std::make_unique<QSettings>(folder.filePath(QStringLiteral("ui.ini")), QSettings::IniFormat);
        window = std::make_unique<ui::MainWindow>(client, *settings);
        window->resize(1366, 768);
        window->show();
        emit client.started();
        page = window->findChild<ui::SandboxesPage *>();
        window->showPage(QStringLiteral("sandboxes"));
        page->showTab(tab);
        return QTest::qWaitForWindowExposed(window.get());
    }
    ~Fixture() { window.reset(); }
    QPushButton *button(const char *name) const
    {
        for (QPushButton *found : page->findChildren<QPushButton *>(QLatin1String(name))) {
            if (found->isVisible())
                return found;
        }
        return nullptr;
    }
    ui::SandboxTable *table(const char *name) const { return page->findChild<ui::SandboxTable *>(QLatin1String(name)); }
    void click(const char *name, const QString &text, Qt::KeyboardModifiers keys = {}) const
    {
        ui::SandboxTable *view = table(name);
        for (int row = 0; row < view->model()->rowCount(); ++row) {
            const QModelIndex index = view->model()->index(row, 0);
            if (index.data().toString() == text)
                QTest::mouseClick(view->viewport(), Qt::LeftButton, keys, view->visualRect(index).center());
        }
    }
    bool shows(const QString &words) const
    {
        return QTest::qWaitFor([&] {
            for (const QLabel *label : window->findChildren<QLabel *>()) {
                if (label->isVisible() && label->text().contains(words))
                    return true;
            }
            return false;
        });
    }
};

void press(QPushButton *button)
{
    QTest::mouseClick(button, Qt::LeftButton);
}

} // namespace

class TestSandboxesPage final : public QObject
{
    Q_OBJECT

private slots:
    void b43_checklistIsShownLive();
    void b52_pauseAndResumeWhereItCan();
    void stopAsksOnceAndNotDuringARun();
    void selectionStaysAndUsageOnlyWhileSeen();
    void engineIsMissing();
    void b99_leftoversListAllAndRemove();
    void buildFollowsItsTailAndCancels();
    void failuresReachTheBanner();
    void computerBesideTheTranscript();
    void pictures();
};

void TestSandboxesPage::b43_checklistIsShownLive()
{
    Fixture f;
    QVERIFY(f.open(QStringLiteral("computers")));
    QVERIFY(f.shows(QStringLiteral("2 of 3 hold")));
    QVERIFY(f.shows(QStringLiteral("The system's files cannot be changed")));
    QVERIFY(f.shows(QStringLiteral("found: unlimited")));
    f.client.checklistRows[QStringLiteral("s-1")].last().holds = true;
    const int before = f.client.callCount(QStringLiteral("checklist s-1"));
    press(f.button("checkAgain"));
    QVERIFY(f.shows(QStringLiteral("3 of 3 hold")));
    QCOMPARE(f.client.callCount(QStringLiteral("checklist s-1")), before + 1);
    f.click("computers", QStringLiteral("Session 3"));
    QVERIFY(f.shows(QStringLiteral("No isolation.")));
    QVERIFY(!f.button("checkAgain")->isEnabled());
    QCOMPARE(f.client.callCount(QStringLiteral("checklist s-3")), 0);
}

void TestSandboxesPage::b52_pauseAndResumeWhereItCan()
{
    Fixture f;
    QVERIFY(f.open(QStringLiteral("computers")));
    QTRY_VERIFY(f.button("pauseComputer") && f.button("pauseComputer")->isEnabled());
    QVERIFY(!f.button("resumeComputer")->isEnabled());
    press(f.button("pauseComputer"));
    QCOMPARE(f.client.callCount(QStringLiteral("pauseComputer s-1 by rita")), 1);
    QTRY_VERIFY(f.button("resumeComputer")->isEnabled());
    QVERIFY(!f.button("pauseComputer")->isEnabled());
    QVERIFY(f.shows(QStringLiteral("It is frozen")));
    press(f.button("resumeComputer"));
    QTRY_VERIFY(f.button("pauseComputer")->isEnabled());
    QCOMPARE(f.client.callCount(QStringLiteral("resumeComputer s-1 by rita")), 1);
    f.click("computers", QStringLiteral("Session 3"));
    QTRY_VERIFY(!f.button("pauseComputer")->isEnabled());
    QVERIFY(f.button("pauseComputer")->toolTip().startsWith(QStringLiteral("Not supported")));
}

void TestSandboxesPage::stopAsksOnceAndNotDuringARun()
{
    Fixture f;
    f.client.computerRows[1].inTurn = true;
    QVERIFY(f.open(QStringLiteral("computers")));
    QTRY_VERIFY(f.button("stopComputer") && f.button("stopComputer")->isEnabled());
    f.table("computers")->setFocus();
    QTest::keyClick(f.table("computers"), Qt::Key_Delete);
    QCOMPARE(f.client.callCount(QStringLiteral("stopComputer")), 0);
    QCOMPARE(f.button("stopComputer")->text(), QStringLiteral("Really stop"));
    press(f.button("stopComputer"));
    QCOMPARE(f.client.callCount(QStringLiteral("stopComputer s-1 by rita")), 1);
    QTRY_VERIFY(f.button("stopComputer")->toolTip() == u"It is stopped.");
    f.click("computers", QStringLiteral("Session 2"));
    QTRY_VERIFY(!f.button("stopComputer")->isEnabled());
    QVERIFY(f.button("stopComputer")->toolTip().contains(QStringLiteral("run is active")));
    press(f.button("copyComputerId"));
    QCOMPARE(QApplication::clipboard()->text(), hexId + u'2');
    press(f.button("openComputerSession"));
    QCOMPARE(f.window->page(), QStringLiteral("sessions"));
}

void TestSandboxesPage::selectionStaysAndUsageOnlyWhileSeen()
{
    Fixture f;
    QVERIFY(f.open(QStringLiteral("computers")));
    QTRY_COMPARE(f.table("computers")->model()->rowCount(), 3);
    f.click("computers", QStringLiteral("Session 2"));
    QTRY_COMPARE(f.page->computers()->model().at(f.table("computers")->currentRow())->sessionTitle, QStringLiteral("Session 2"));
    f.client.computerRows.removeFirst();
    f.client.putComputer(computerOf(9));
    QTRY_COMPARE(f.page->computers()->model().rowOf(QStringLiteral("s-9")), 2);
    QCOMPARE(f.page->computers()->model().at(f.table("computers")->currentRow())->sessionTitle, QStringLiteral("Session 2"));
    const int seen = f.client.callCount(QStringLiteral("computers with usage"));
    QTRY_VERIFY(f.client.callCount(QStringLiteral("computers with usage")) > seen); // every two seconds
    f.page->showTab(QStringLiteral("images"));
    const int hidden = f.client.callCount(QStringLiteral("computers with usage"));
    QTest::qWait(2300); // longer than the interval: nothing may come
    QCOMPARE(f.client.callCount(QStringLiteral("computers with usage")), hidden);
}

void TestSandboxesPage::engineIsMissing()
{
    Fixture f;
    f.client.sandboxEngineRow = {};
    f.client.sandboxEngineRow.problem = QStringLiteral("No engine answers at /run/docker.sock. Start it: systemctl start docker");
    f.client.computerRows = {computerOf(3, false)};
    QVERIFY(f.open(QStringLiteral("computers")));
    QVERIFY(f.shows(QStringLiteral("systemctl start docker")));
    QTRY_COMPARE(f.table("computers")->model()->rowCount(), 1);
    auto *state = f.window->findChild<QToolButton *>(QStringLiteral("dockerState"));
    QCOMPARE(state->text(), QStringLiteral("Docker: not running"));
    QVERIFY(state->toolTip().contains(QStringLiteral("systemctl")));
    f.client.sandboxEngineRow = {true, QStringLiteral("Docker 20.10.24"), QStringLiteral("1.41"), {}, true, false, {}};
    press(f.button("retryEngine"));
    QTRY_COMPARE(state->text(), QStringLiteral("Docker 20.10"));
    f.window->showPage(QStringLiteral("sessions"));
    QTest::mouseClick(state, Qt::LeftButton);
    QCOMPARE(f.window->page(), QStringLiteral("sandboxes"));
}

void TestSandboxesPage::b99_leftoversListAllAndRemove()
{
    Fixture f;
    QVERIFY(f.open(QStringLiteral("leftovers")));
    QTRY_COMPARE(f.table("leftovers")->model()->rowCount(), 6);
    QVERIFY(f.shows(QStringLiteral("6 in all  ·  1 in use  ·  210 MB")));
    QVERIFY(!f.button("removeLeftovers")->isEnabled());
    f.click("leftovers", QStringLiteral("signalbox-left-1"));
    QVERIFY(!f.button("removeLeftovers")->isEnabled());
    QVERIFY(f.button("removeLeftovers")->toolTip().contains(QStringLiteral("in use")));
    QVERIFY(f.button("openLeftoverSession")->isEnabled());
    press(f.button("selectUnused"));
    QTRY_COMPARE(f.button("removeLeftovers")->text(), QStringLiteral("Remove 5"));
    QTest::keyClick(f.table("leftovers"), Qt::Key_Delete);
    QCOMPARE(f.client.callCount(QStringLiteral("removeLeftover")), 0);
    press(f.button("removeLeftovers"));
    QTRY_COMPARE(f.client.callCount(QStringLiteral("removeLeftover")), 5);
    QTRY_COMPARE(f.table("leftovers")->model()->rowCount(), 1);
    QCOMPARE(f.client.callCount(QStringLiteral("removeLeftover left-1")), 0);
}

void TestSandboxesPage::buildFollowsItsTailAndCancels()
{
    Fixture f;
    QVERIFY(f.open(QStringLiteral("images")));
    QTRY_VERIFY(f.button("buildImage") && f.button("buildImage")->isEnabled());
    auto *tag = f.page->findChild<QLineEdit *>(QStringLiteral("imageTag"));
    tag->setText(QStringLiteral("Not A Tag"));
    QVERIFY(!f.button("buildImage")->isEnabled());
    tag->setText(QStringLiteral("mine:1"));
    press(f.button("buildImage"));
    QCOMPARE(f.client.callCount(QStringLiteral("buildImage mine:1 by rita")), 1);
    QVERIFY(!f.button("buildImage")->isEnabled());
    auto *log = f.page->findChild<QPlainTextEdit *>(QStringLiteral("buildLog"));
    QString lines;
    for (int i = 0; i < 200; ++i)
        lines += QStringLiteral("line %1\n").arg(i);
    f.client.pushProgress({QStringLiteral("Step 2 of 5"), lines, false, false, {}});
    QVERIFY(f.shows(QStringLiteral("Step 2 of 5")));
    QTRY_VERIFY(log->verticalScrollBar()->maximum() > 0);
    QCOMPARE(log->verticalScrollBar()->value(), log->verticalScrollBar()->maximum());
    log->verticalScrollBar()->setValue(5);
    f.client.pushProgress({{}, lines, false, false, {}});
    QCOMPARE(log->verticalScrollBar()->value(), 5);
    log->verticalScrollBar()->setValue(log->verticalScrollBar()->maximum());
    f.client.pushProgress({{}, lines, false, false, {}});
    QCOMPARE(log->verticalScrollBar()->value(), log->verticalScrollBar()->maximum());
    press(f.button("cancelBuild"));
    QCOMPARE(f.client.callCount(QStringLiteral("cancelImageBuild")), 1);
    QVERIFY(f.shows(QStringLiteral("The build was cancelled")));
    QVERIFY(f.button("buildImage")->isEnabled());
    QVERIFY(log->isVisible() && log->toPlainText().contains(QStringLiteral("line 199")));
}

void TestSandboxesPage::failuresReachTheBanner()
{
    Fixture f;
    QVERIFY(f.open(QStringLiteral("computers")));
    QTRY_VERIFY(f.button("pauseComputer") && f.button("pauseComputer")->isEnabled());
    f.client.failNext(QStringLiteral("pauseComputer"), Error{ErrorCode::SandboxFailed, QStringLiteral("It would not freeze."), {}});
    press(f.button("pauseComputer"));
    auto *banner = f.window->findChild<ui::Banner *>();
    QTRY_VERIFY(banner->isVisible() && banner->text().contains(QStringLiteral("It would not freeze.")));
    QVERIFY(f.button("pauseComputer")->isEnabled());
    f.page->showTab(QStringLiteral("images"));
    f.client.failNext(QStringLiteral("buildImage"), Error{ErrorCode::Conflict, QStringLiteral("Another build runs."), {}});
    press(f.button("buildImage"));
    QTRY_VERIFY(banner->text().contains(QStringLiteral("Another build runs.")));
    QVERIFY(f.button("buildImage")->isEnabled());
}

void TestSandboxesPage::computerBesideTheTranscript()
{
    Fixture f;
    Session session;
    session.id = SessionId{QStringLiteral("s-1")};
    session.title = QStringLiteral("Session 1");
    session.createdAt = session.updatedAt = QDateTime::currentDateTimeUtc();
    f.client.sessionRows = {session};
    QVERIFY(f.open(QStringLiteral("images")));
    f.window->openSession(session.id);
    ui::ComputerPanel *panel = nullptr;
    QTabWidget *tabs = nullptr;
    for (QTabWidget *candidate : f.window->findChildren<QTabWidget *>()) {
        for (int i = 0; i < candidate->count(); ++i) {
            if ((panel = qobject_cast<ui::ComputerPanel *>(candidate->widget(i)))) {
                tabs = candidate;
                tabs->setCurrentIndex(i);
                break;
            }
        }
        if (panel)
            break;
    }
    QVERIFY(panel);
    QVERIFY(f.shows(QStringLiteral("2 of 3 hold")));
    QVERIFY(f.shows(QStringLiteral("signalbox-agent:latest")));
    f.client.computerRows.clear();
    FeedBatch batch;
    batch.computersChanged = true;
    f.client.push(batch);
    QVERIFY(f.shows(QStringLiteral("no computer now")));
}

void TestSandboxesPage::pictures()
{
    // To be looked at where a folder is named; made in any case.
    const QTemporaryDir scratch;
    const QString folder = qEnvironmentVariable("SIGNALBOX_PICTURES", scratch.path());
    for (const ui::Appearance appearance : {ui::Appearance::Light, ui::Appearance::Dark}) {
        ui::applyTheme(*qApp, appearance);
        Fixture f;
        f.client.computerRows[1].inTurn = true;
        f.client.imageRows = {{QStringLiteral("sha256:abcdef0123456789"), QStringLiteral("signalbox-agent:latest"), QStringLiteral("2.1.3"), {}, true,
                               812'000'000, QDateTime::currentDateTimeUtc().addDays(-3), {QStringLiteral("Balanced")}}};
        QVERIFY(f.open(QStringLiteral("computers")));
        const bool isLight = appearance == ui::Appearance::Light;
        f.window->resize(isLight ? QSize(1366, 768) : QSize(1920, 1080));
        QVERIFY(f.shows(QStringLiteral("2 of 3 hold")));
        const auto save = [&](const QString &name) {
            QTest::qWait(100);
            f.window->grab().save(QStringLiteral("%1/%2-%3.png").arg(folder, name, ui::toString(appearance)));
        };
        save(QStringLiteral("computers"));
        f.page->showTab(QStringLiteral("leftovers"));
        QTRY_COMPARE(f.table("leftovers")->model()->rowCount(), 6);
        press(f.button("selectUnused"));
        save(QStringLiteral("leftovers"));
        f.page->showTab(QStringLiteral("images"));
        press(f.button("buildImage"));
        f.client.pushProgress({QStringLiteral("Step 2 of 5: install Claude Code"), QStringLiteral("Get:1 bookworm InRelease\nfetched 12 MB\n"), false, false, {}});
        save(QStringLiteral("images"));
        f.client.sandboxEngineRow = {};
        f.client.sandboxEngineRow.problem = QStringLiteral("No container engine answers at /run/docker.sock (no such file). Install docker.io, or start it with: systemctl start docker");
        f.client.computerRows.clear();
        f.client.imageRows.clear();
        f.page->readEngine();
        f.page->images()->load();
        save(QStringLiteral("images-empty"));
        f.page->showTab(QStringLiteral("computers"));
        save(QStringLiteral("computers-empty"));
    }
    ui::applyTheme(*qApp, ui::Appearance::Light);
}

QTEST_MAIN(TestSandboxesPage)
#include "tst_sandboxespage.moc"
