#include <QSignalSpy>
#include "workerbench.h"

#include "sandbox/protocol/frames.h"
#include "sandbox/protocol/gatewayframes.h"
#include "sandbox/protocol/messages.h"

#include <QLocalSocket>
#include <QTcpSocket>

using namespace sandbox;

// The worker's loopback entrance of the model gateway (B96).
class TestWorkerGateway : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void exactBothWaysAndHalfClose();
    void slowReaderIsBounded();
    void resetReachesTheClient();
    void moreThanSixtyFourWait();
    void takeOverResets();
    void withoutGatewayTheyAreReset();
    void moreThanTheCreditEndsTheChannel();

private:
    void listen();
    std::unique_ptr<QTcpSocket> client();

    std::unique_ptr<WorkerBench> m_bench;
    Computer m_computer;
    std::unique_ptr<Channel> m_channel;
    QList<quint32> m_opened;
    QList<quint32> m_ended;
    QHash<quint32, QByteArray> m_data;
    bool m_pay = true;
    int m_port = 0;
};

void TestWorkerGateway::init()
{
    m_bench = std::make_unique<WorkerBench>();
    m_computer = m_bench->ensure();
    m_channel = m_bench->open(m_computer, 1);
    QVERIFY(m_channel);
    m_port = m_channel->welcome().gatewayPort;
    QVERIFY(m_port > 0);
    m_pay = true;
}

void TestWorkerGateway::cleanup()
{
    m_channel.reset();
    m_bench.reset();
    m_opened.clear();
    m_ended.clear();
    m_data.clear();
}

void TestWorkerGateway::listen()
{
    connect(m_channel.get(), &Channel::gatewayOpened, this, [this](quint32 stream) { m_opened.append(stream); });
    connect(m_channel.get(), &Channel::gatewayEnded, this, [this](quint32 stream) { m_ended.append(stream); });
    connect(m_channel.get(), &Channel::gatewayData, this, [this](quint32 stream, const QByteArray &bytes) {
        m_data[stream] += bytes;
        if (m_pay)
            m_channel->gatewayCredit(stream, quint32(bytes.size()));
    });
}

std::unique_ptr<QTcpSocket> TestWorkerGateway::client()
{
    auto socket = std::make_unique<QTcpSocket>();
    socket->connectToHost(QHostAddress::LocalHost, quint16(m_port));
    return socket;
}

void TestWorkerGateway::exactBothWaysAndHalfClose()
{
    listen();
    const QByteArray large = sequence(6000000); // 47 MB
    auto socket = client();
    EVENTUALLY_EQUAL(m_opened.size(), 1);
    QByteArray got;
    connect(socket.get(), &QTcpSocket::readyRead, this, [&] { got += socket->readAll(); });
    m_channel->gatewaySend(m_opened[0], large);
    m_channel->gatewayEnd(m_opened[0]); // half: the other way goes on
    QTRY_VERIFY_WITH_TIMEOUT(got.size() == large.size(), 60000);
    QVERIFY(got == large);
    QCOMPARE(m_channel->gatewayPending(m_opened[0]), 0);
    auto back = client();
    EVENTUALLY_EQUAL(m_opened.size(), 2);
    back->write(large);
    back->disconnectFromHost();
    QTRY_VERIFY_WITH_TIMEOUT(m_ended.contains(m_opened[1]), 60000);
    QVERIFY(m_data[m_opened[1]] == large);
}

void TestWorkerGateway::slowReaderIsBounded()
{
    m_pay = false;
    listen();
    auto socket = client();
    socket->write(QByteArray(4 * 1024 * 1024, 'x'));
    EVENTUALLY(m_opened.size() == 1 && m_data[m_opened[0]].size() == int(gatewayCreditBytes));
    auto other = client(); // goes on beside it
    other->write("y");
    EVENTUALLY(m_opened.size() == 2 && m_data[m_opened[1]] == "y");
    QCOMPARE(m_data[m_opened[0]].size(), qsizetype(gatewayCreditBytes));
    m_channel->gatewayCredit(m_opened[0], 1000);
    EVENTUALLY_EQUAL(m_data[m_opened[0]].size(), qsizetype(gatewayCreditBytes) + 1000);
}

void TestWorkerGateway::resetReachesTheClient()
{
    listen();
    auto socket = client();
    EVENTUALLY_EQUAL(m_opened.size(), 1);
    m_channel->gatewayReset(m_opened[0]);
    EVENTUALLY_EQUAL(socket->state(), QAbstractSocket::UnconnectedState);
}

void TestWorkerGateway::moreThanSixtyFourWait()
{
    listen();
    std::vector<std::unique_ptr<QTcpSocket>> sockets;
    for (int i = 0; i < 70; ++i) {
        sockets.push_back(client());
        sockets.back()->write("z");
    }
    EVENTUALLY_EQUAL(m_opened.size(), 64);
    EVENTUALLY_EQUAL(m_data.size(), 64);
    for (int i = 0; i < 6; ++i)
        m_channel->gatewayReset(m_opened[i]);
    EVENTUALLY_EQUAL(m_opened.size(), 70);
    EVENTUALLY_EQUAL(m_data.size(), 70);
}

void TestWorkerGateway::takeOverResets()
{
    listen();
    auto socket = client();
    EVENTUALLY_EQUAL(m_opened.size(), 1);
    auto old = std::move(m_channel);
    m_channel = m_bench->open(m_computer, 2);
    QVERIFY(m_channel);
    EVENTUALLY_EQUAL(socket->state(), QAbstractSocket::UnconnectedState);
    listen();
    auto next = client();
    EVENTUALLY_EQUAL(m_opened.size(), 2);
    QVERIFY(m_opened[1] > m_opened[0]);
}

void TestWorkerGateway::withoutGatewayTheyAreReset()
{
    Heard heard;
    heard.listen(m_channel.get());
    auto socket = client();
    // Heard, not looked at: both may have happened between two looks.
    QSignalSpy connected(socket.get(), &QAbstractSocket::connected);
    QSignalSpy ended(socket.get(), &QAbstractSocket::disconnected);
    EVENTUALLY_EQUAL(ended.size(), 1);
    QCOMPARE(connected.size(), 1);
}

// An engine that breaks the protocol loses its channel; the worker goes on.
void TestWorkerGateway::moreThanTheCreditEndsTheChannel()
{
    auto socket = client();
    QLocalSocket raw;
    raw.connectToServer(m_bench->files(m_computer).socket);
    HelloPayload hello;
    hello.session = "s1";
    hello.generation = 1;
    hello.epoch = 5;
    const std::string greeting = makeFrame(FrameType::Hello, hello.encode());
    raw.write(greeting.data(), qint64(greeting.size()));
    QByteArray got;
    connect(&raw, &QLocalSocket::readyRead, this, [&] { got += raw.readAll(); });
    EVENTUALLY(got.contains("gateway="));
    const std::string lie = makeFrame(FrameType::GatewayData,
                                      encodeGatewayHead(1) + std::string(gatewayCreditBytes + 1, 'x'));
    raw.write(lie.data(), qint64(lie.size()));
    EVENTUALLY_EQUAL(raw.state(), QLocalSocket::UnconnectedState);
    m_channel = m_bench->open(m_computer, 6);
    QVERIFY(m_channel);
}

QTEST_GUILESS_MAIN(TestWorkerGateway)
#include "tst_workergateway.moc"
