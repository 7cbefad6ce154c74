#include "app/doors/controlclient.h"
#include "app/doors/controlserver.h"
#include "tests/app/recordingconsole.h"
#include "tests/support/fakeengineclient.h"

#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <sys/stat.h>

using app::ControlMessage;
using app::ExitCode;

class TestControl : public QObject
{
    Q_OBJECT

private slots:
    void messagesSurviveTheWire_data();
    void messagesSurviveTheWire();
    void brokenLinesAreRefused();
    void commandsAreCarriedOut();
    void badCommandLineEndsWith2();
    void thePersonAtTheOtherEndIsAsked();
    void nobodyListening();
    void aSocketLeftBehindIsReplaced();
    void theSocketIsPrivate();
    void aHungInstanceIsNamed();
    void anInstanceThatEndsIsReported();
    void secondWindowRaisesTheFirst();
    void headlessHasNoWindowToRaise();
    void garbageDoesNotHarm();

private:
    struct Called
    {
        int code = -1;
        bool unavailable = false;
        RecordingConsole console;
    };
    void call(const QString &path, const QStringList &words, Called &called, bool canAsk = false);
};

void TestControl::call(const QString &path, const QStringList &words, Called &called, bool canAsk)
{
    ControlMessage request;
    request.kind = ControlMessage::Kind::Request;
    request.words = words;
    request.workingFolder = QStringLiteral("/");
    request.canAsk = canAsk;
    app::ControlClient client(path, request, called.console);
    client.setPatience(std::chrono::milliseconds(300));
    QSignalSpy finished(&client, &app::ControlClient::finished);
    QSignalSpy unavailable(&client, &app::ControlClient::unavailable);
    client.start();
    QTRY_VERIFY(!finished.isEmpty() || !unavailable.isEmpty());
    called.unavailable = !unavailable.isEmpty();
    called.code = finished.isEmpty() ? -1 : int(finished.first().first().value<ExitCode>());
}

void TestControl::messagesSurviveTheWire_data()
{
    QTest::addColumn<int>("kind");
    for (int kind = 0; kind <= int(ControlMessage::Kind::Exit); ++kind)
        QTest::addRow("kind %d", kind) << kind;
}

void TestControl::messagesSurviveTheWire()
{
    QFETCH(int, kind);
    ControlMessage message;
    message.kind = ControlMessage::Kind(kind);
    message.text = QStringLiteral("two\nlines, \"quotes\", 漢字 \x1b");
    message.number = 6;
    if (message.kind == ControlMessage::Kind::Request) {
        message.words = QStringList{QStringLiteral("run"), QStringLiteral("a b\nc")};
        message.workingFolder = QStringLiteral("/tmp");
        message.input = QStringLiteral("{}\n");
        message.canAsk = true;
    }
    const QByteArray line = app::encode(message);
    QCOMPARE(line.count('\n'), 1);
    const auto back = app::decodeControl(line.chopped(1));
    QVERIFY(back.has_value());
    QVERIFY(*back == message);
}

void TestControl::brokenLinesAreRefused()
{
    for (const char *line : {"", "x", "[]", "{}", "{\"kind\":\"dance\"}", "{\"kind\":5}",
                             "{\"kind\":\"request\",\"words\":[1]}", "{\"kind\":\"request\""})
        QVERIFY2(!app::decodeControl(line), line);
}

void TestControl::commandsAreCarriedOut()
{
    const QTemporaryDir folder;
    FakeEngineClient engine;
    engine::Agent agent;
    agent.id = {QStringLiteral("a-1")};
    agent.name = QStringLiteral("Claude");
    engine.putAgent(agent);
    app::ControlServer server(engine, QStringLiteral("headless"));
    QVERIFY(server.listen(folder.filePath(QStringLiteral("control"))));
    Called agents;
    call(folder.filePath(QStringLiteral("control")), {"agents"}, agents);
    QCOMPARE(agents.code, 0);
    QVERIFY(agents.console.output.contains(QStringLiteral("Claude")));
    Called missing;
    call(folder.filePath(QStringLiteral("control")), {"sessions", "show", "s-9"}, missing);
    QCOMPARE(missing.code, 4);
    QVERIFY(!missing.console.errors.isEmpty());
}

void TestControl::badCommandLineEndsWith2()
{
    const QTemporaryDir folder;
    FakeEngineClient engine;
    app::ControlServer server(engine, QStringLiteral("headless"));
    QVERIFY(server.listen(folder.filePath(QStringLiteral("control"))));
    Called called;
    call(folder.filePath(QStringLiteral("control")), {"--bogus"}, called);
    QCOMPARE(called.code, 2);
}

void TestControl::thePersonAtTheOtherEndIsAsked()
{
    const QTemporaryDir folder;
    FakeEngineClient engine;
    engine::Approval approval;
    approval.id = {QStringLiteral("p-1")};
    approval.digest = {QStringLiteral("d1")};
    approval.expiresAt = QDateTime::currentDateTimeUtc().addSecs(900);
    engine.putApproval(approval);
    app::ControlServer server(engine, QStringLiteral("window"));
    QVERIFY(server.listen(folder.filePath(QStringLiteral("control"))));
    Called called;
    called.console.answer = QStringLiteral("yes");
    call(folder.filePath(QStringLiteral("control")), {"approvals", "resolve", "p-1", "--deny"}, called, true);
    QCOMPARE(called.code, 0);
    QVERIFY(called.console.questions.contains(QStringLiteral("Deny")));
    QCOMPARE(engine.decisions.size(), 1);
    QVERIFY(engine.decisions.first().verdict == engine::Verdict::Deny);
}

void TestControl::nobodyListening()
{
    const QTemporaryDir folder;
    Called called;
    call(folder.filePath(QStringLiteral("control")), {"agents"}, called);
    QVERIFY(called.unavailable);
}

void TestControl::aSocketLeftBehindIsReplaced()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("control"));
    QFile left(path);
    QVERIFY(left.open(QIODevice::WriteOnly));
    left.close();
    Called before;
    call(path, {"agents"}, before);
    QVERIFY(before.unavailable);
    FakeEngineClient engine;
    app::ControlServer server(engine, QStringLiteral("headless"));
    QVERIFY(server.listen(path));
    Called after;
    call(path, {"agents"}, after);
    QCOMPARE(after.code, 0);
}

void TestControl::theSocketIsPrivate()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("control"));
    FakeEngineClient engine;
    app::ControlServer server(engine, QStringLiteral("headless"));
    QVERIFY(server.listen(path));
    struct stat status;
    QCOMPARE(stat(QFile::encodeName(path).constData(), &status), 0);
    QCOMPARE(int(status.st_mode & 077), 0);
}

void TestControl::aHungInstanceIsNamed()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("control"));
    QLocalServer hung; // listens and never answers
    QVERIFY(hung.listen(path));
    Called called;
    call(path, {"agents"}, called);
    QCOMPARE(called.code, 7);
    QVERIFY2(called.console.errors.contains(QString::number(QCoreApplication::applicationPid())),
             qPrintable(called.console.errors));
}

void TestControl::anInstanceThatEndsIsReported()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("control"));
    FakeEngineClient engine;
    engine.hold();
    auto server = std::make_unique<app::ControlServer>(engine, QStringLiteral("window"));
    QVERIFY(server->listen(path));
    // The answer is held back; the instance goes away meanwhile.
    QTimer::singleShot(100, server.get(), [&server] { server.reset(); });
    Called called;
    call(path, {"agents"}, called);
    QCOMPARE(called.code, 7);
    QVERIFY(!called.console.errors.isEmpty());
}

void TestControl::secondWindowRaisesTheFirst()
{
    const QTemporaryDir folder;
    FakeEngineClient engine;
    app::ControlServer server(engine, QStringLiteral("window"));
    QVERIFY(server.listen(folder.filePath(QStringLiteral("control"))));
    QSignalSpy raised(&server, &app::ControlServer::raiseRequested);
    Called called;
    call(folder.filePath(QStringLiteral("control")), {"--raise"}, called);
    QCOMPARE(called.code, 0);
    QCOMPARE(raised.size(), 1);
}

void TestControl::headlessHasNoWindowToRaise()
{
    const QTemporaryDir folder;
    FakeEngineClient engine;
    app::ControlServer server(engine, QStringLiteral("headless"));
    QVERIFY(server.listen(folder.filePath(QStringLiteral("control"))));
    Called called;
    call(folder.filePath(QStringLiteral("control")), {"--raise"}, called);
    QCOMPARE(called.code, 7);
    QVERIFY(called.console.errors.contains(QString::number(QCoreApplication::applicationPid())));
}

void TestControl::garbageDoesNotHarm()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("control"));
    FakeEngineClient engine;
    app::ControlServer server(engine, QStringLiteral("headless"));
    QVERIFY(server.listen(path));
    QLocalSocket socket;
    socket.connectToServer(path);
    socket.write("\x00\xff garbage\n{}\n", 13);
    QSignalSpy disconnected(&socket, &QLocalSocket::disconnected);
    QTRY_VERIFY(!disconnected.isEmpty());
    Called called;
    call(path, {"agents"}, called);
    QCOMPARE(called.code, 0);
}

QTEST_GUILESS_MAIN(TestControl)
#include "tst_control.moc"
