#include "gatewaybench.h"

#include <QProcess>
#include <QRandomGenerator>
#include <QSslKey>

using namespace engine;

// Requests of a harness through a real worker and a real HTTP upstream (B96).
class TestGateway : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void b96_keyIsAddedOutside();
    void b96_refused_data();
    void b96_refused();
    void b96_neverForwardedWithoutToken();
    void streamsPieceByPiece();
    void keepAliveAndPipelined();
    void chunkedBodyAndContinue();
    void tooLarge();
    void budgets();
    void metersOpenAi();
    void upstreamFailures_data();
    void upstreamFailures();
    void upstreamCutIsCut();
    void clientAbortEndsUpstream();
    void largeBothWays();
    void waitsForTheEngine();
    void tlsIsVerified();

private:
    void makeGateway(ApiKind api = ApiKind::Anthropic, GatewayBudget budget = {}, QUrl upstream = {},
                     QList<QSslCertificate> authorities = {});
    QByteArray post(const QByteArray &body, const QByteArray &more = {},
                    const QByteArray &target = "/v1/messages?beta=true") const;

    SystemClock m_clock;
    std::unique_ptr<Upstream> m_upstream;
    std::unique_ptr<sandbox::WorkerBench> m_bench;
    sandbox::Computer m_computer;
    std::unique_ptr<sandbox::Channel> m_channel;
    std::unique_ptr<Gateway> m_gateway;
    QByteArray m_token;
    QList<ModelRequest> m_finished;
};

void TestGateway::init()
{
    m_upstream = std::make_unique<Upstream>(new QTcpServer);
    m_bench = std::make_unique<sandbox::WorkerBench>();
    m_computer = m_bench->ensure();
    m_channel = m_bench->open(m_computer, 1);
    QVERIFY(m_channel);
    QVERIFY(m_channel->welcome().gatewayPort > 0);
    m_token = newGatewayToken();
    makeGateway();
}

void TestGateway::cleanup()
{
    m_gateway.reset();
    m_channel.reset();
    m_bench.reset();
    m_upstream.reset();
    m_finished.clear();
}

void TestGateway::makeGateway(ApiKind api, GatewayBudget budget, QUrl upstream, QList<QSslCertificate> authorities)
{
    GatewayOptions options;
    options.api = api;
    options.upstream = upstream.isEmpty() ? m_upstream->url() : upstream;
    options.token = m_token;
    options.credential = &fixedKey;
    options.budget = budget;
    options.clock = &m_clock;
    options.silence = std::chrono::milliseconds(1500);
    options.maxBodyBytes = 80 * 1024 * 1024;
    options.extraAuthorities = authorities;
    m_gateway = std::make_unique<Gateway>(options, m_channel.get(), nullptr);
    m_gateway->setRun({QStringLiteral("r-1")});
    connect(m_gateway.get(), &Gateway::requestFinished, this,
            [this](const ModelRequest &request) { m_finished.append(request); });
}

QByteArray TestGateway::post(const QByteArray &body, const QByteArray &more, const QByteArray &target) const
{
    return "POST " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: " + m_token + "\r\n" + more +
           "Content-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

void TestGateway::b96_keyIsAddedOutside()
{
    m_upstream->answer = jsonAnswer(R"({"model":"m-1","usage":{"input_tokens":7,"output_tokens":5,)"
                                    R"("cache_read_input_tokens":3,"cache_creation_input_tokens":2}})",
                                    "Set-Cookie: a=b\r\n");
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post(R"({"model":"asked"})", "anthropic-version: 2023-06-01\r\nCookie: x=y\r\n"));
    EVENTUALLY_EQUAL(m_finished.size(), 1);
    EVENTUALLY(client.got.contains("cache_creation"));
    const QByteArray sent = m_upstream->requests.value(0).toLower();
    QVERIFY(sent.startsWith("post /v1/messages?beta=true http/1.1"));
    QVERIFY(sent.contains("x-api-key: sk-real-secret"));
    QVERIFY(sent.contains("anthropic-version: 2023-06-01"));
    QVERIFY(sent.contains(QByteArray("host: 127.0.0.1:" + QByteArray::number(m_upstream->url().port()))));
    QVERIFY(!sent.contains(m_token));
    QVERIFY(!sent.contains("cookie"));
    QVERIFY(!client.got.contains("sk-real-secret"));
    QVERIFY(!client.got.toLower().contains("set-cookie"));
    const ModelRequest &record = m_finished[0];
    QCOMPARE(record.run.value, QStringLiteral("r-1"));
    QCOMPARE(record.path, QStringLiteral("/v1/messages"));
    QCOMPARE(record.model, QStringLiteral("m-1"));
    QVERIFY(record.metered && record.complete);
    QCOMPARE(record.inputTokens, 7);
    QCOMPARE(record.outputTokens, 5);
    QCOMPARE(record.cacheRead, 3);
    QCOMPARE(record.cacheWrite, 2);
    QCOMPARE(m_gateway->tokensUsed(), 17);
}

void TestGateway::b96_refused_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<bool>("withToken");
    QTest::addColumn<int>("status");
    QTest::newRow("no token") << QByteArray("GET /v1/models HTTP/1.1") << false << 401;
    QTest::newRow("no token, forbidden path") << QByteArray("GET /x HTTP/1.1") << false << 401;
    QTest::newRow("path") << QByteArray("GET /v1/files HTTP/1.1") << true << 403;
    QTest::newRow("method") << QByteArray("DELETE /v1/messages HTTP/1.1") << true << 403;
    QTest::newRow("other api") << QByteArray("POST /v1/responses HTTP/1.1") << true << 403;
    QTest::newRow("dots") << QByteArray("GET /v1/models/../files HTTP/1.1") << true << 403;
    QTest::newRow("encoded dots") << QByteArray("GET /v1/models/%2e%2e/files HTTP/1.1") << true << 403;
    QTest::newRow("encoded slash") << QByteArray("GET /v1/models/a%2Fb HTTP/1.1") << true << 403;
    QTest::newRow("double slash") << QByteArray("GET //evil/v1/models HTTP/1.1") << true << 403;
    QTest::newRow("absolute") << QByteArray("GET http://evil.example/v1/models HTTP/1.1") << true << 403;
    QTest::newRow("user part") << QByteArray("GET @evil.example/v1/models HTTP/1.1") << true << 400;
    QTest::newRow("malformed") << QByteArray("NONSENSE") << true << 400;
    QTest::newRow("old http") << QByteArray("GET /v1/models HTTP/0.9") << true << 400;
    QTest::newRow("two lengths")
        << QByteArray("POST /v1/messages HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2") << true << 400;
    QTest::newRow("length and chunks")
        << QByteArray("POST /v1/messages HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked") << true << 400;
    QTest::newRow("two hosts") << QByteArray("GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b") << true << 400;
    QTest::newRow("large head") << QByteArray("GET /v1/models HTTP/1.1\r\nx: " + QByteArray(70000, 'a')) << true << 413;
}

void TestGateway::b96_refused()
{
    QFETCH(QByteArray, line);
    QFETCH(bool, withToken);
    QFETCH(int, status);
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(line + "\r\nAuthorization: Bearer " + (withToken ? m_token : QByteArray("wrong")) + "\r\n\r\n");
    EVENTUALLY(client.closed);
    QVERIFY2(client.got.startsWith(QByteArray("HTTP/1.1 " + QByteArray::number(status))), client.got.left(300).constData());
    QVERIFY(client.got.contains(R"("type":"error")"));
    QCOMPARE(m_upstream->requests.size(), 0);
    QCOMPARE(m_finished.size(), 0);
}

// Truncated, doubled and changed bytes of a good request with a wrong token.
void TestGateway::b96_neverForwardedWithoutToken()
{
    QRandomGenerator random(20261201);
    QByteArray good = post("{}", "Accept: */*\r\n");
    good.replace(m_token, QByteArray(m_token).replace(10, 4, "zzzz"));
    for (int round = 0; round < 150; ++round) {
        QByteArray bytes = good;
        for (int change = random.bounded(4); change >= 0; --change) {
            const int at = random.bounded(int(bytes.size()));
            switch (random.bounded(4)) {
            case 0:
                bytes.truncate(at);
                break;
            case 1:
                bytes += bytes.mid(at);
                break;
            case 2:
                bytes[at] = char(random.bounded(256));
                break;
            default:
                bytes.insert(at, bytes.left(random.bounded(40)));
            }
            if (bytes.isEmpty())
                break;
        }
        Client client(m_channel->welcome().gatewayPort);
        client.socket.write(bytes);
        client.socket.disconnectFromHost();
        EVENTUALLY(client.closed);
        QVERIFY(!client.got.startsWith("HTTP/1.1 200"));
    }
    QCOMPARE(m_upstream->requests.size(), 0);
    m_upstream->answer = jsonAnswer("{}");
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY(client.got.startsWith("HTTP/1.1 200"));
}

void TestGateway::streamsPieceByPiece()
{
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY_EQUAL(m_upstream->requests.size(), 1);
    m_upstream->last->write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    const auto chunk = [this](const QByteArray &text) {
        m_upstream->last->write(QByteArray::number(text.size(), 16) + "\r\n" + text + "\r\n");
    };
    chunk("event: message_start\ndata: {\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":11,"
          "\"cache_read_input_tokens\":4,\"output_tokens\":1}}}\n\ndata: fir");
    EVENTUALLY(client.got.contains("data: fir"));
    QCOMPARE(m_finished.size(), 0); // the first piece came before the end
    chunk("st\n\ndata: {\"type\":\"message_delta\",\"us");
    chunk("age\":{\"output_tokens\":42}}\n\n");
    m_upstream->last->write("0\r\n\r\n");
    EVENTUALLY_EQUAL(m_finished.size(), 1);
    EVENTUALLY(client.got.endsWith("0\r\n\r\n"));
    QCOMPARE(m_finished[0].inputTokens, 11);
    QCOMPARE(m_finished[0].outputTokens, 42);
    QCOMPARE(m_finished[0].cacheRead, 4);
    QVERIFY(m_finished[0].firstByteMs >= 0);
}

void TestGateway::keepAliveAndPipelined()
{
    m_upstream->answer = jsonAnswer("{\"n\":1}");
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}") + post("{\"a\":1}") + post("{\"b\":2}", {}, "/v1/messages/count_tokens"));
    EVENTUALLY_EQUAL(client.got.count("HTTP/1.1 200"), 3);
    QVERIFY(m_upstream->requests[0].endsWith("\r\n\r\n{}"));
    QVERIFY(m_upstream->requests[1].endsWith("{\"a\":1}"));
    QVERIFY(m_upstream->requests[2].startsWith("POST /v1/messages/count_tokens"));
    client.socket.write("GET /v1/models HTTP/1.1\r\nx-api-key: " + m_token + "\r\nConnection: close\r\n\r\n");
    EVENTUALLY(client.closed);
    QCOMPARE(client.got.count("HTTP/1.1 200"), 4);
}

void TestGateway::chunkedBodyAndContinue()
{
    m_upstream->answer = jsonAnswer("{}");
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write("POST /v1/messages HTTP/1.1\r\nx-api-key: " + m_token +
                        "\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    EVENTUALLY(client.got == "HTTP/1.1 100 Continue\r\n\r\n");
    client.socket.write("3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: no\r\n\r\n");
    EVENTUALLY(client.got.contains("HTTP/1.1 200"));
    QVERIFY(m_upstream->requests[0].endsWith("\r\n\r\nabcdefg"));
}

void TestGateway::tooLarge()
{
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write("POST /v1/messages HTTP/1.1\r\nx-api-key: " + m_token +
                        "\r\nContent-Length: 90000000\r\n\r\n");
    EVENTUALLY(client.closed);
    QVERIFY(client.got.startsWith("HTTP/1.1 413"));
    QVERIFY(client.got.contains("request_too_large"));
}

void TestGateway::budgets()
{
    m_upstream->answer = jsonAnswer(R"({"usage":{"input_tokens":90,"output_tokens":20}})");
    makeGateway(ApiKind::Anthropic, {100, 0});
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY(client.got.contains("HTTP/1.1 200"));
    client.socket.write(post("{}"));
    EVENTUALLY(client.got.contains("HTTP/1.1 429"));
    EVENTUALLY(client.got.contains("Budget of run reached"));
    QCOMPARE(m_upstream->requests.size(), 1);
    m_gateway->setRun({QStringLiteral("r-2")});
    client.socket.write(post("{}"));
    EVENTUALLY_EQUAL(m_upstream->requests.size(), 2);
    m_gateway->setBudget({0, 1});
    client.got.clear();
    client.socket.write(post("{}") + post("{}"));
    EVENTUALLY(client.got.contains("Budget of requests reached"));
    QCOMPARE(m_upstream->requests.size(), 3);
}

void TestGateway::metersOpenAi()
{
    makeGateway(ApiKind::OpenAi);
    m_upstream->answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                         "data: {\"type\":\"response.completed\",\"response\":{\"model\":\"g\",\"usage\":"
                         "{\"input_tokens\":20,\"input_tokens_details\":{\"cached_tokens\":8},\"output_tokens\":6}}}\n\n";
    m_upstream->closeAfter = true;
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write("POST /v1/responses HTTP/1.1\r\nAuthorization: Bearer " + m_token +
                        "\r\nContent-Length: 2\r\n\r\n{}");
    EVENTUALLY_EQUAL(m_finished.size(), 1);
    QVERIFY(m_upstream->requests[0].toLower().contains("authorization: bearer sk-real-secret"));
    QCOMPARE(m_finished[0].inputTokens, 20);
    QCOMPARE(m_finished[0].outputTokens, 6);
    QCOMPARE(m_finished[0].cacheRead, 8);
    QCOMPARE(m_gateway->tokensUsed(), 26);
    client.socket.write("POST /v1/messages HTTP/1.1\r\nAuthorization: Bearer " + m_token + "\r\n\r\n");
    EVENTUALLY(client.got.contains("\"code\":\"403\""));
}

void TestGateway::upstreamFailures_data()
{
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<bool>("closes");
    QTest::addColumn<int>("status");
    QTest::newRow("slow") << QByteArray() << false << 504;
    QTest::newRow("closes") << QByteArray() << true << 502;
    QTest::newRow("redirect") << QByteArray("HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n"
                                            "Content-Length: 0\r\n\r\n")
                              << false << 502;
    QTest::newRow("overloaded") << QByteArray("HTTP/1.1 529 Overloaded\r\nContent-Length: 2\r\n\r\n{}") << false << 529;
    QTest::newRow("wrong key") << QByteArray("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n"
                                             "Content-Length: 2\r\n\r\n{}")
                               << false << 401;
}

void TestGateway::upstreamFailures()
{
    QFETCH(QByteArray, answer);
    QFETCH(bool, closes);
    QFETCH(int, status);
    m_upstream->answer = answer;
    m_upstream->closeAfter = closes;
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY(client.got.startsWith(QByteArray("HTTP/1.1 " + QByteArray::number(status))));
    QVERIFY(!client.got.contains("sk-real-secret"));
    QVERIFY(!client.got.toLower().contains("location:"));
    QCOMPARE(m_finished.size(), 1);
    QCOMPARE(m_finished[0].status, status);
    QVERIFY(!client.closed); // the connection goes on
}

// A stream that the model's host broke off must not look whole.
void TestGateway::upstreamCutIsCut()
{
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY_EQUAL(m_upstream->requests.size(), 1);
    m_upstream->last->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    EVENTUALLY(client.got.contains("hello"));
    m_upstream->last->abort();
    EVENTUALLY(client.closed);
    QVERIFY(!client.got.endsWith("0\r\n\r\n"));
    QCOMPARE(m_finished.size(), 1);
    QVERIFY(!m_finished[0].complete);
}

void TestGateway::clientAbortEndsUpstream()
{
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY_EQUAL(m_upstream->requests.size(), 1);
    client.socket.abort();
    EVENTUALLY_EQUAL(m_upstream->lost, 1);
    EVENTUALLY_EQUAL(m_finished.size(), 1);
    QVERIFY(!m_finished[0].complete);
}

void TestGateway::largeBothWays()
{
    const QByteArray large(50 * 1000 * 1000, 'q');
    m_upstream->answer = jsonAnswer(large);
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post(large));
    QTRY_COMPARE_WITH_TIMEOUT(m_finished.size(), 1, 60000);
    QCOMPARE(m_finished[0].bytes, large.size());
    QVERIFY(m_upstream->requests[0].endsWith(QByteArray("\r\n\r\n" + large)));
    QTRY_VERIFY_WITH_TIMEOUT(client.got.endsWith(QByteArray("\r\n\r\n" + large)), 60000);
}

void TestGateway::waitsForTheEngine()
{
    m_upstream->answer = jsonAnswer("{}");
    const int port = m_channel->welcome().gatewayPort;
    m_gateway.reset();
    m_channel.reset();
    Client client(port);
    client.socket.write(post("{}"));
    EVENTUALLY(client.socket.state() == QAbstractSocket::ConnectedState);
    m_channel = m_bench->open(m_computer, 2);
    QVERIFY(m_channel);
    makeGateway();
    EVENTUALLY(client.got.startsWith("HTTP/1.1 200"));
}

void TestGateway::tlsIsVerified()
{
    QTemporaryDir folder;
    const QString key = folder.filePath(QStringLiteral("key.pem")), pem = folder.filePath(QStringLiteral("cert.pem"));
    QCOMPARE(QProcess::execute(QStringLiteral("openssl"),
                               {QStringLiteral("req"), QStringLiteral("-x509"), QStringLiteral("-newkey"),
                                QStringLiteral("rsa:2048"), QStringLiteral("-nodes"), QStringLiteral("-keyout"), key,
                                QStringLiteral("-out"), pem, QStringLiteral("-days"), QStringLiteral("2"),
                                QStringLiteral("-subj"), QStringLiteral("/CN=127.0.0.1"), QStringLiteral("-addext"),
                                QStringLiteral("subjectAltName=IP:127.0.0.1")}),
             0);
    QFile keyFile(key);
    QVERIFY(keyFile.open(QIODevice::ReadOnly));
    const QList<QSslCertificate> certificates = QSslCertificate::fromPath(pem);
    QCOMPARE(certificates.size(), 1);
    auto *server = new QSslServer;
    QSslConfiguration tls = QSslConfiguration::defaultConfiguration();
    tls.setLocalCertificate(certificates[0]);
    tls.setPrivateKey(QSslKey(&keyFile, QSsl::Rsa));
    server->setSslConfiguration(tls);
    Upstream upstream(server);
    upstream.answer = jsonAnswer("{}");
    makeGateway(ApiKind::Anthropic, {}, upstream.url(QStringLiteral("https")));
    Client client(m_channel->welcome().gatewayPort);
    client.socket.write(post("{}"));
    EVENTUALLY(client.got.startsWith("HTTP/1.1 502"));
    QVERIFY(client.got.contains("certificate"));
    QCOMPARE(upstream.requests.size(), 0);
    makeGateway(ApiKind::Anthropic, {}, upstream.url(QStringLiteral("https")), certificates);
    Client trusted(m_channel->welcome().gatewayPort);
    trusted.socket.write(post("{}"));
    EVENTUALLY(trusted.got.startsWith("HTTP/1.1 200"));
    QCOMPARE(upstream.requests.size(), 1);
}

QTEST_GUILESS_MAIN(TestGateway)
#include "tst_gateway.moc"
