#include "sandbox/protocol/bytes.h"
#include "sandbox/protocol/frames.h"
#include "sandbox/protocol/messages.h"
#include "workerbench.h"

#include <QLocalServer>
#include <QLocalSocket>
#include <QRandomGenerator>

using namespace sandbox;

// Peers that do not keep to the protocol, on both sides. The harness must not notice.
class TestHostileFrames : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void beforeHello_data();
    void beforeHello();
    void otherVersionIsNamed();
    void afterHello_data();
    void afterHello();
    void randomBytes();
    void manySilentPeers();
    void askerThatNeverReads();
    void strangersShutdownIsRefused();
    void workerThatLies_data();
    void workerThatLies();

private:
    QByteArray answerTo(const QByteArray &bytes);
    void verifyHarnessLives();

    std::unique_ptr<WorkerBench> m_bench;
    Computer m_computer;
    qint64 m_pid = 0;
    quint64 m_epoch = 1;
};

static QByteArray toBytes(const std::string &text)
{
    return QByteArray(text.data(), qsizetype(text.size()));
}

static QByteArray frameBytes(FrameType type, const std::string &payload = {})
{
    return toBytes(makeFrame(type, payload));
}

static QByteArray helloBytes(quint64 epoch, quint16 version = protocolVersion)
{
    HelloPayload hello;
    hello.version = version;
    hello.session = "s1";
    hello.generation = 1;
    hello.epoch = epoch;
    return frameBytes(FrameType::Hello, hello.encode());
}

void TestHostileFrames::init()
{
    m_bench = std::make_unique<WorkerBench>();
    m_computer = m_bench->ensure();
    m_epoch = 1;
    auto channel = m_bench->open(m_computer, m_epoch);
    QVERIFY(channel);
    Heard heard;
    heard.listen(channel.get());
    channel->launch(shell(QStringLiteral("exec cat")));
    EVENTUALLY_EQUAL(heard.launches.size(), 1);
    m_pid = heard.launches[0];
}

void TestHostileFrames::cleanup()
{
    m_bench.reset();
}

// Everything that comes back until the worker ends the connection.
QByteArray TestHostileFrames::answerTo(const QByteArray &bytes)
{
    QLocalSocket socket;
    socket.connectToServer(m_bench->files(m_computer).socket);
    QByteArray answer;
    QObject::connect(&socket, &QLocalSocket::readyRead, &socket, [&] { answer += socket.readAll(); });
    socket.write(bytes);
    [&] { QTRY_COMPARE_WITH_TIMEOUT(socket.state(), QLocalSocket::UnconnectedState, 8000); }();
    return answer + socket.readAll();
}

void TestHostileFrames::verifyHarnessLives()
{
    auto channel = m_bench->open(m_computer, m_epoch += 1000);
    QVERIFY2(channel, qPrintable(m_bench->lastError.message));
    QCOMPARE(channel->welcome().pid, m_pid);
    QVERIFY(!channel->welcome().exited);
    Heard heard;
    heard.listen(channel.get());
    channel->send(QStringLiteral("alive%1").arg(m_epoch), "alive\n");
    EVENTUALLY_EQUAL(heard.output, QByteArray("alive\n"));
}

void TestHostileFrames::beforeHello_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("http") << QByteArray("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    QTest::newRow("huge length") << QByteArray("\xff\xff\xff\xff\x01", 5);
    QTest::newRow("over the greeting cap") << QByteArray("\x01\x00\x01\x00\x01", 5);
    QTest::newRow("launch first") << frameBytes(FrameType::Launch, LaunchPayload{{"/bin/true"}, {}, {}, {}}.encode());
    QTest::newRow("kill first") << frameBytes(FrameType::Kill);
    QTest::newRow("input first") << frameBytes(FrameType::Input, InputPayload::encodeHead("x") + "evil");
    QTest::newRow("short hello") << frameBytes(FrameType::Hello, "SGBX");
    QTest::newRow("hello with a tail") << frameBytes(FrameType::Hello, HelloPayload{}.encode() + "x");
    QTest::newRow("a worker's frame") << frameBytes(FrameType::Welcome, WelcomePayload{}.encode());
}

void TestHostileFrames::beforeHello()
{
    QFETCH(QByteArray, bytes);
    const QByteArray answer = answerTo(bytes);
    QVERIFY(answer.size() > 5);
    QCOMPARE(int(answer[4]), int(FrameType::Refused));
    verifyHarnessLives();
}

void TestHostileFrames::otherVersionIsNamed()
{
    const QByteArray answer = answerTo(helloBytes(50, 99));
    ReasonPayload refused;
    QCOMPARE(int(answer[4]), int(FrameType::Refused));
    QVERIFY(ReasonPayload::decode(std::string_view(answer.constData() + 5, std::size_t(answer.size() - 5)), refused));
    QCOMPARE(refused.reason, Reason::Version);
    QVERIFY(refused.text.find("version 99") != std::string::npos);
    QVERIFY(refused.text.find("version 1.") != std::string::npos);
}

void TestHostileFrames::afterHello_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("huge length") << QByteArray("\xff\xff\xff\xff\x03", 5);
    QTest::newRow("unknown type") << QByteArray("\x00\x00\x00\x00\xf0", 5);
    QTest::newRow("second hello") << helloBytes(900);
    QTest::newRow("input without id") << frameBytes(FrameType::Input, ByteWriter().text("").rest("x").bytes());
    QTest::newRow("input with a lying id") << frameBytes(FrameType::Input, ByteWriter().u32(1u << 31).bytes());
    QTest::newRow("launch with a lying count") << frameBytes(FrameType::Launch, ByteWriter().u32(~0u).bytes());
    QTest::newRow("kill with a tail is no kill") << frameBytes(FrameType::Signal, "12");
    QTest::newRow("ack cut short") << frameBytes(FrameType::Ack, "1234567");
    QTest::newRow("a worker's frame") << frameBytes(FrameType::Exit, LaunchNumber{1, 0}.encodeExit());
}

void TestHostileFrames::afterHello()
{
    QFETCH(QByteArray, bytes);
    const QByteArray answer = answerTo(helloBytes(++m_epoch) + bytes);
    QVERIFY(answer.size() > 5);
    QCOMPARE(int(answer[4]), int(FrameType::Welcome));
    QVERIFY(answer.contains("The worker received"));
    verifyHarnessLives();
}

void TestHostileFrames::randomBytes()
{
    QRandomGenerator random(99);
    for (int round = 0; round < 60; ++round) {
        QByteArray bytes = round % 2 ? helloBytes(++m_epoch) : QByteArray();
        for (int i = random.bounded(1, 4000); i > 0; --i)
            bytes += char(random.bounded(256));
        QLocalSocket socket;
        socket.connectToServer(m_bench->files(m_computer).socket);
        socket.write(bytes);
        socket.flush();
        if (round % 3 == 0)
            EVENTUALLY_EQUAL(socket.state(), QLocalSocket::UnconnectedState);
    }
    verifyHarnessLives();
}

void TestHostileFrames::manySilentPeers()
{
    QList<QLocalSocket *> sockets;
    QObject owner;
    for (int i = 0; i < 31; ++i) {
        auto *socket = new QLocalSocket(&owner);
        socket->connectToServer(m_bench->files(m_computer).socket);
        QCOMPARE(socket->state(), QLocalSocket::ConnectedState);
        sockets.append(socket);
    }
    verifyHarnessLives();
}

void TestHostileFrames::askerThatNeverReads()
{
    QLocalSocket socket;
    socket.setReadBufferSize(1);
    socket.connectToServer(m_bench->files(m_computer).socket);
    const QByteArray ping = frameBytes(FrameType::Ping, ByteWriter().u64(1).bytes());
    socket.write(ping.repeated(2000000)); // 26 MB of questions
    EVENTUALLY(socket.bytesToWrite() < 26000000);
    verifyHarnessLives();
    QFile status(QStringLiteral("/proc/%1/status").arg(m_bench->files(m_computer).workerPid()));
    QVERIFY(status.open(QIODevice::ReadOnly));
    const QByteArray text = status.readAll();
    const QByteArray rss = text.mid(text.indexOf("VmRSS:") + 6).trimmed().split(' ').value(0);
    QVERIFY2(rss.toInt() < 64 * 1024, rss.constData()); // KiB
}

void TestHostileFrames::strangersShutdownIsRefused()
{
    ShutdownPayload shutdown;
    shutdown.session = "another";
    shutdown.generation = 1;
    const QByteArray answer = answerTo(frameBytes(FrameType::Shutdown, shutdown.encode()));
    QCOMPARE(int(answer[4]), int(FrameType::Refused));
    verifyHarnessLives();
}

void TestHostileFrames::workerThatLies_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<bool>("welcomed");
    const QByteArray welcome = frameBytes(FrameType::Welcome, WelcomePayload{}.encode());
    QTest::newRow("garbage") << QByteArray("no worker at all, something else") << false;
    QTest::newRow("output first") << frameBytes(FrameType::Output, std::string(16, '\0')) << false;
    QTest::newRow("short welcome") << frameBytes(FrameType::Welcome, "SGBX") << false;
    QTest::newRow("huge output") << welcome + QByteArray("\x00\x00\x20\x00\x25", 5) << true;
    QTest::newRow("short exit") << welcome + frameBytes(FrameType::Exit, "1") << true;
    QTest::newRow("a console's frame") << welcome + frameBytes(FrameType::Kill) << true;
}

void TestHostileFrames::workerThatLies()
{
    QFETCH(QByteArray, bytes);
    QFETCH(bool, welcomed);
    // Takes the place of the real socket while the real worker's lock says that it lives.
    const QString path = m_bench->files(m_computer).socket;
    QVERIFY(QFile::rename(path, path + QStringLiteral(".real")));
    {
        QLocalServer server;
        QVERIFY(server.listen(path));
        QObject::connect(&server, &QLocalServer::newConnection, &server,
                         [&] { server.nextPendingConnection()->write(bytes); });
        auto channel = m_bench->open(m_computer, 77);
        QCOMPARE(channel != nullptr, welcomed);
        if (welcomed) {
            Heard heard;
            heard.listen(channel.get());
            EVENTUALLY_EQUAL(heard.closed.size(), 1);
            QCOMPARE(heard.closed[0].failure, Failure::Protocol);
            QVERIFY(heard.exits.isEmpty());
        } else {
            QCOMPARE(m_bench->lastError.failure, Failure::Protocol);
        }
    }
    QVERIFY(QFile::rename(path + QStringLiteral(".real"), path));
    verifyHarnessLives();
}

QTEST_GUILESS_MAIN(TestHostileFrames)
#include "tst_hostileframes.moc"
