// Computers as containers of a real Docker daemon.
#include "sandbox/docker/names.h"
#include "support/dockerbench.h"
#include "workerbench.h"

#include <QTest>

using namespace sandbox;

namespace {

const QString baseImage = QStringLiteral("signalbox-base:test");

} // namespace

class TestDockerProvider : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void containerIsClosedOff();
    void workerSpeaksOverBothWays();
    void sessionsDoNotSeeEachOther();
    void generationsAreFenced();
    void foreignContainerIsNotTouched();
    void missingImageIsNamed();
    void pauseFreezesAndResumeContinues();
    void volumeOutlivesTheContainer();
    void outOfMemoryIsTold();
    void killedContainerIsStopped();
    void leftoversAreListedAndRemoved();
    void engineKilledInTheMiddle();

private:
    Computer ensure(const QString &session, int generation = 1);
    std::unique_ptr<Channel> open(const Computer &computer, quint64 epoch, Offsets received = {});
    QByteArray run(const QString &session, const QString &script, int *exitCode = nullptr);

    std::unique_ptr<TestDockerd> m_dockerd;
    std::unique_ptr<DockerProvider> m_provider;
    quint64 m_epoch = 0;
    Error m_error;
};

void TestDockerProvider::initTestCase()
{
    m_dockerd = std::make_unique<TestDockerd>();
    QVERIFY2(m_dockerd->start(), qPrintable(m_dockerd->error()));
    QVERIFY2(m_dockerd->importBase(baseImage), qPrintable(m_dockerd->error()));
}

void TestDockerProvider::init()
{
    DockerOptions options;
    options.socket = m_dockerd->socketPath();
    options.workerProgram = QStringLiteral(BINARY_DIR "/bin/signalbox-worker");
    options.installId = QStringLiteral("test");
    options.defaultImage = baseImage;
    m_provider = std::make_unique<DockerProvider>(options);
}

// Whatever a test did: nothing of it is left.
void TestDockerProvider::cleanup()
{
    if (!m_dockerd->isRunning())
        QVERIFY2(m_dockerd->start(), qPrintable(m_dockerd->error()));
    const auto found = QCoro::waitFor(m_provider->leftovers());
    QVERIFY2(found, found ? "" : qPrintable(found.error().message));
    for (const Leftover::Kind kind : {Leftover::Kind::Container, Leftover::Kind::Volume}) {
        for (const Leftover &one : *found) {
            if (one.kind == kind)
                QCoro::waitFor(m_provider->remove(one));
        }
    }
    const auto left = QCoro::waitFor(m_provider->leftovers());
    QVERIFY(left);
    for (const Leftover &one : *left)
        QVERIFY2(one.name.startsWith(QLatin1String("signalbox-worker-")), qPrintable(one.name));
    m_provider.reset();
}

Computer TestDockerProvider::ensure(const QString &session, int generation)
{
    ComputerSpec spec;
    spec.sessionId = session;
    spec.generation = generation;
    spec.limits.memoryBytes = 256 * 1024 * 1024;
    spec.limits.processes = 64;
    spec.limits.cpus = 1;
    spec.limits.temporaryBytes = 64 * 1024 * 1024;
    const auto made = QCoro::waitFor(m_provider->ensure(spec));
    if (!made) {
        m_error = made.error();
        qWarning("ensure: %s\n%s", qPrintable(made.error().message), qPrintable(made.error().detail));
    }
    return made.value_or(Computer{});
}

std::unique_ptr<Channel> TestDockerProvider::open(const Computer &computer, quint64 epoch, Offsets received)
{
    auto opened = QCoro::waitFor(m_provider->open(computer, epoch, received));
    if (!opened) {
        m_error = opened.error();
        qWarning("open: %s\n%s", qPrintable(opened.error().message), qPrintable(opened.error().detail));
        return nullptr;
    }
    return std::move(*opened);
}

// What a shell in the session's container prints.
QByteArray TestDockerProvider::run(const QString &session, const QString &script, int *exitCode)
{
    const std::unique_ptr<Channel> channel = open(ensure(session), ++m_epoch);
    if (!channel)
        return {};
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(script));
    if (!QTest::qWaitFor([&] { return !heard.exits.isEmpty() || !heard.launchFailures.isEmpty(); }, 30000) ||
        heard.exits.isEmpty())
        return "no exit: " + heard.launchFailures.join(u' ').toUtf8();
    if (exitCode)
        *exitCode = heard.exits.first();
    return heard.output + heard.errorOutput;
}

// B43: asked for, read back from the engine, and seen from inside.
void TestDockerProvider::containerIsClosedOff()
{
    const Computer computer = ensure(QStringLiteral("s1"));
    QCOMPARE(int(computer.state), int(ComputerState::Running));
    const auto items = QCoro::waitFor(m_provider->checklist(computer));
    QVERIFY(items);
    QVERIFY(items->size() > 20);
    for (const HardeningItem &item : *items)
        QVERIFY2(item.holds, qPrintable(QStringLiteral("%1: asked for %2, found %3").arg(item.key, item.wanted, item.found)));
    const QByteArray inside =
        run(QStringLiteral("s1"), QStringLiteral("id -u; touch /etc/x 2>&1; mkdir /x 2>&1; ls /var/run/docker.sock 2>&1; "
                                                 "cat /proc/net/route | wc -l; unshare -U true 2>&1; kill -9 1; echo alive; "
                                                 "cat /proc/1/environ 2>&1 | head -c 100; ls -l /proc/1/fd 2>&1 | head -2"));
    QVERIFY2(inside.startsWith("1000\n"), inside.constData());
    QVERIFY2(inside.contains("touch: cannot touch '/etc/x': Read-only file system"), inside.constData());
    QVERIFY2(inside.contains("docker.sock': No such file"), inside.constData());
    QVERIFY2(inside.contains("unshare: unshare failed: Operation not permitted"), inside.constData());
    QVERIFY2(inside.contains("alive"), inside.constData());
    QVERIFY2(inside.contains("/proc/1/environ: Permission denied"), inside.constData());
}

// The first channel runs over the container's own streams, the second one through the relay; both speak to one worker.
void TestDockerProvider::workerSpeaksOverBothWays()
{
    const Computer computer = ensure(QStringLiteral("s1"));
    std::unique_ptr<Channel> first = open(computer, ++m_epoch);
    QVERIFY(first);
    Heard heard;
    heard.listen(first.get());
    first->launch(shell(QStringLiteral("echo hello; while read line; do echo got $line; done")));
    EVENTUALLY_EQUAL(heard.output, QByteArray("hello\n"));
    first->send(QStringLiteral("a"), "one\n");
    EVENTUALLY_EQUAL(heard.output, QByteArray("hello\ngot one\n"));

    std::unique_ptr<Channel> second = open(computer, ++m_epoch, {heard.outputEnd, 0});
    QVERIFY(second);
    EVENTUALLY_EQUAL(heard.closed.size(), 1);
    QCOMPARE(int(heard.closed.first().failure), int(Failure::Stale));
    QCOMPARE(second->welcome().lastInputId, QStringLiteral("a"));
    Heard later;
    later.listen(second.get(), {heard.outputEnd, 0});
    second->send(QStringLiteral("a"), "one\n"); // applied once
    second->send(QStringLiteral("b"), "two\n");
    EVENTUALLY_EQUAL(later.output, QByteArray("got two\n"));
    QVERIFY(!later.gap);

    // A channel that is just dropped leaves the harness alone, and its output is kept.
    second.reset();
    std::unique_ptr<Channel> third = open(computer, ++m_epoch, {later.outputEnd, 0});
    QVERIFY(third);
    Heard last;
    last.listen(third.get(), {later.outputEnd, 0});
    third->send(QStringLiteral("c"), "three\n");
    EVENTUALLY_EQUAL(last.output, QByteArray("got three\n"));
}

// B45
void TestDockerProvider::sessionsDoNotSeeEachOther()
{
    QCOMPARE(run(QStringLiteral("s1"), QStringLiteral("echo secret > /session/workspace/note; ls /session/workspace")), QByteArray("note\n"));
    QCOMPARE(run(QStringLiteral("s2"), QStringLiteral("ls -A /session/workspace; find / -name note 2>/dev/null | grep -v ^/proc")), QByteArray());
    const auto computers = QCoro::waitFor(m_provider->list());
    QVERIFY(computers);
    QCOMPARE(computers->size(), 2);
}

void TestDockerProvider::generationsAreFenced()
{
    const Computer first = ensure(QStringLiteral("s1"), 1);
    QCOMPARE(ensure(QStringLiteral("s1"), 1).id, first.id); // idempotent
    const Computer second = ensure(QStringLiteral("s1"), 2);
    QVERIFY(second.id != first.id);
    const auto gone = QCoro::waitFor(m_provider->find(QStringLiteral("s1"), 1));
    QVERIFY(gone);
    QVERIFY(!gone->has_value());
    ComputerSpec older;
    older.sessionId = QStringLiteral("s1");
    const auto refused = QCoro::waitFor(m_provider->ensure(older));
    QVERIFY(!refused);
    QCOMPARE(int(refused.error().failure), int(Failure::Stale));
}

// B99: a container of the same name that is not ours.
void TestDockerProvider::foreignContainerIsNotTouched()
{
    DockerRequest create;
    create.method = "POST";
    create.path = QStringLiteral("/containers/create");
    create.query.addQueryItem(QStringLiteral("name"), containerName(QStringLiteral("s9"), 1));
    create.body = "{\"Image\":\"" + baseImage.toUtf8() + "\",\"Cmd\":[\"/bin/sleep\",\"60\"],\"NetworkDisabled\":true}";
    QVERIFY(QCoro::waitFor(m_provider->engine()));
    const auto foreign = QCoro::waitFor(m_provider->client()->request(create));
    QVERIFY(foreign);
    QCOMPARE(foreign->status, 201);
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s9");
    const auto refused = QCoro::waitFor(m_provider->ensure(spec));
    QVERIFY(!refused);
    QCOMPARE(int(refused.error().failure), int(Failure::Refused));
    QVERIFY2(refused.error().message.contains(QLatin1String("does not belong to this Signalbox")), qPrintable(refused.error().message));
    Computer asked;
    asked.sessionId = QStringLiteral("s9");
    asked.generation = 1;
    QVERIFY(!QCoro::waitFor(m_provider->destroy(asked)));
    DockerRequest look;
    look.path = QStringLiteral("/containers/%1/json").arg(containerName(QStringLiteral("s9"), 1));
    QCOMPARE(QCoro::waitFor(m_provider->client()->request(look))->status, 200);
    DockerRequest remove;
    remove.method = "DELETE";
    remove.path = QStringLiteral("/containers/%1").arg(containerName(QStringLiteral("s9"), 1));
    QCOMPARE(QCoro::waitFor(m_provider->client()->request(remove))->status, 204);
}

// B98
void TestDockerProvider::missingImageIsNamed()
{
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s1");
    spec.image = QStringLiteral("nowhere:1");
    const auto refused = QCoro::waitFor(m_provider->ensure(spec));
    QVERIFY(!refused);
    QCOMPARE(int(refused.error().failure), int(Failure::Refused));
    QVERIFY2(refused.error().message.contains(QLatin1String("nowhere:1")), qPrintable(refused.error().message));
    QVERIFY(QCoro::waitFor(m_provider->list())->isEmpty());
}

// B52
void TestDockerProvider::pauseFreezesAndResumeContinues()
{
    const Computer computer = ensure(QStringLiteral("s1"));
    const std::unique_ptr<Channel> channel = open(computer, ++m_epoch);
    QVERIFY(channel);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done")));
    EVENTUALLY(heard.output.size() > 10);
    QVERIFY(QCoro::waitFor(m_provider->pause(computer)));
    QVERIFY(QCoro::waitFor(m_provider->pause(computer))); // twice is success
    QTest::qWait(200);                                    // what was under way arrives
    const qsizetype frozen = heard.output.size();
    QTest::qWait(400);
    QCOMPARE(heard.output.size(), frozen);
    QCOMPARE(int(QCoro::waitFor(m_provider->find(QStringLiteral("s1"), 1))->value().state), int(ComputerState::Paused));
    QVERIFY(QCoro::waitFor(m_provider->resume(computer)));
    EVENTUALLY(heard.output.size() > frozen);
    QVERIFY(!heard.gap);
    // A paused one that is asked for is resumed.
    QVERIFY(QCoro::waitFor(m_provider->pause(computer)));
    QCOMPARE(ensure(QStringLiteral("s1")).id, computer.id);
    const qsizetype before = heard.output.size();
    EVENTUALLY(heard.output.size() > before);
}

void TestDockerProvider::volumeOutlivesTheContainer()
{
    QVERIFY(run(QStringLiteral("s1"), QStringLiteral("echo kept > /session/home/fact")).isEmpty());
    QVERIFY(QCoro::waitFor(m_provider->destroy(ensure(QStringLiteral("s1")))));
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s1");
    spec.generation = 2;
    const auto again = QCoro::waitFor(m_provider->ensure(spec));
    QVERIFY(again);
    const std::unique_ptr<Channel> channel = open(*again, ++m_epoch);
    QVERIFY(channel);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("cat /session/home/fact")));
    EVENTUALLY_EQUAL(heard.output, QByteArray("kept\n"));
    channel->closeInput();
    QVERIFY(QCoro::waitFor(m_provider->forget(QStringLiteral("s1"))));
    QVERIFY(QCoro::waitFor(m_provider->list())->isEmpty());
}

// B98: a child that takes too much memory dies, the worker and the session go on.
void TestDockerProvider::outOfMemoryIsTold()
{
    int code = 0;
    run(QStringLiteral("s1"), QStringLiteral("head -c 1000000000 /dev/zero | tail -c 900000000 > /dev/null; exit ${?}"), &code);
    QVERIFY(code != 0);
    QCOMPARE(run(QStringLiteral("s1"), QStringLiteral("echo still here")), QByteArray("still here\n"));
    // /tmp has its own limit.
    const QByteArray full = run(QStringLiteral("s1"), QStringLiteral("head -c 100000000 /dev/zero 2>&1 > /tmp/big; ls -s /tmp/big | cut -d' ' -f1"));
    QVERIFY2(full.contains("No space left on device"), full.constData());
}

void TestDockerProvider::killedContainerIsStopped()
{
    const Computer computer = ensure(QStringLiteral("s1"));
    const std::unique_ptr<Channel> channel = open(computer, ++m_epoch);
    QVERIFY(channel);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("sleep 60")));
    EVENTUALLY_EQUAL(heard.launches.size(), 1);
    DockerRequest kill;
    kill.method = "POST";
    kill.path = QStringLiteral("/containers/%1/kill").arg(computer.id);
    QCOMPARE(QCoro::waitFor(m_provider->client()->request(kill))->status, 204);
    EVENTUALLY_EQUAL(heard.closed.size(), 1);
    QCOMPARE(int(heard.closed.first().failure), int(Failure::Unreachable));
    const auto found = QCoro::waitFor(m_provider->find(QStringLiteral("s1"), 1));
    QVERIFY(found && found->has_value());
    QCOMPARE(int((*found)->state), int(ComputerState::Stopped));
    QCOMPARE((*found)->why, QStringLiteral("it was killed"));
    QVERIFY(!QCoro::waitFor(m_provider->open(computer, ++m_epoch, {})));
    // Asked for again, it is made anew.
    QVERIFY(ensure(QStringLiteral("s1")).id != computer.id);
}

// B99
void TestDockerProvider::leftoversAreListedAndRemoved()
{
    ensure(QStringLiteral("s1"));
    const auto found = QCoro::waitFor(m_provider->leftovers());
    QVERIFY(found);
    QStringList names;
    for (const Leftover &one : *found)
        names.append(one.name);
    names.sort();
    QCOMPARE(names.size(), 3);
    QCOMPARE(names.at(0), sessionVolumeName(QStringLiteral("s1")));
    QCOMPARE(names.at(1), containerName(QStringLiteral("s1"), 1));
    QVERIFY(names.at(2).startsWith(QLatin1String("signalbox-worker-")));
}

// B98, B54: the daemon dies in the middle of a stream. With live-restore the container goes on, nothing is lost or
// doubled, and while it is away nobody says "absent".
void TestDockerProvider::engineKilledInTheMiddle()
{
    const Computer computer = ensure(QStringLiteral("s1"));
    std::unique_ptr<Channel> channel = open(computer, ++m_epoch);
    QVERIFY(channel);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i; sleep 0.02; done; exit 3")));
    EVENTUALLY(heard.output.size() > 50);
    QVERIFY(m_dockerd->kill());
    EVENTUALLY_EQUAL(heard.closed.size(), 1);
    QCOMPARE(int(heard.closed.first().failure), int(Failure::Unreachable));
    const auto away = QCoro::waitFor(m_provider->find(QStringLiteral("s1"), 1));
    QVERIFY(!away);
    QCOMPARE(int(away.error().failure), int(Failure::Unavailable));
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("s1");
    QVERIFY(!QCoro::waitFor(m_provider->ensure(spec)));
    QVERIFY2(m_dockerd->start(), qPrintable(m_dockerd->error()));
    channel = open(computer, ++m_epoch, {heard.outputEnd, 0});
    QVERIFY(channel);
    Heard rest;
    rest.listen(channel.get(), {heard.outputEnd, 0});
    EVENTUALLY_EQUAL(rest.exits, QList<int>{3});
    QVERIFY(!rest.gap);
    QCOMPARE(heard.output + rest.output, sequence(400));
}

QTEST_GUILESS_MAIN(TestDockerProvider)
#include "tst_dockerprovider.moc"
