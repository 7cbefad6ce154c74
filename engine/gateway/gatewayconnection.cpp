#include "engine/gateway/gatewayconnection.h"

#include <QSslConfiguration>

namespace engine {

namespace {

constexpr qint64 replyBufferBytes = 256 * 1024;
constexpr qint64 passAtOnceBytes = 64 * 1024;
constexpr int lingerMs = 10 * 1000;

bool isLoopback(const QUrl &url)
{
    const QString host = url.host();
    return host == u"127.0.0.1" || host == u"localhost" || host == u"::1";
}

} // namespace

GatewayConnection::GatewayConnection(Gateway &gateway, quint32 stream, QObject *parent)
    : QObject(parent), m_gateway(gateway), m_stream(stream), m_parser(gateway.m_options.maxBodyBytes)
{
    m_linger.setSingleShot(true);
    connect(&m_linger, &QTimer::timeout, this, &GatewayConnection::reset);
}

GatewayConnection::~GatewayConnection()
{
    dropReply();
    if (m_gateway.m_channel)
        m_gateway.m_channel->gatewayReset(m_stream);
}

void GatewayConnection::receive(const QByteArray &bytes)
{
    if (m_state == State::Closing) {
        payCredit(bytes.size()); // thrown away, so that the client gets to read the answer
        return;
    }
    m_parser.feed(bytes);
    parse();
}

void GatewayConnection::clientEnded()
{
    m_clientEnded = true;
    if (m_state == State::AskingKey || m_state == State::Forwarding)
        reset(); // harnesses do not half-close: it has gone and nobody wants the answer
    else if (m_state == State::Closing)
        m_gateway.close(m_stream);
    else
        startClosing();
}

// Not entered twice: an answer given while parsing goes on with the loop that is running.
void GatewayConnection::parse()
{
    if (m_parsing)
        return;
    m_parsing = true;
    while (m_state == State::Reading) {
        const RequestParser::Step step = m_parser.next();
        m_held = m_parser.request().body.size();
        if (step == RequestParser::Step::Head && takeHead())
            continue;
        if (step == RequestParser::Step::Whole)
            takeWhole();
        else if (step == RequestParser::Step::Broken)
            refuse({400, QStringLiteral("The model gateway cannot read the request: %1.")
                             .arg(QString::fromLatin1(m_parser.error()))},
                   true);
        else if (step == RequestParser::Step::TooLarge)
            refuse({413, QStringLiteral("The model gateway does not take the request: %1.")
                             .arg(QString::fromLatin1(m_parser.error()))},
                   true);
        else if (m_gateway.heldBytes() > m_gateway.m_options.maxHeldBytes)
            refuse({413, QStringLiteral("The model gateway holds too many large requests at once. Try again.")}, true);
        else
            break;
    }
    payCredit(m_state == State::Closing ? m_parser.discard() : m_parser.takeUsed());
    m_parsing = false;
    if (m_clientEnded && m_state == State::Reading)
        startClosing();
}

// True when the request may go on to its body.
bool GatewayConnection::takeHead()
{
    const HttpRequest &request = m_parser.request();
    const auto refusal = checkRequest(m_gateway.m_options.api, m_gateway.m_options.token, request);
    if (refusal) {
        m_request = request;
        refuse(*refusal, true);
        return false;
    }
    const QByteArray expected = request.header("expect").toLower();
    if (expected == "100-continue" && !request.http10 && request.body.isEmpty())
        send("HTTP/1.1 100 Continue\r\n\r\n");
    return true;
}

void GatewayConnection::takeWhole()
{
    m_request = std::move(m_parser.request());
    m_parser.request() = {};
    m_held = m_request.body.size();
    m_record = {};
    m_record.run = m_gateway.m_run;
    m_record.path = QString::fromLatin1(m_request.target.left(m_request.target.indexOf('?') < 0
                                                                  ? m_request.target.size()
                                                                  : m_request.target.indexOf('?')));
    const QUrl &upstream = m_gateway.m_options.upstream;
    const bool safe = upstream.scheme() == u"https" || (upstream.scheme() == u"http" && isLoopback(upstream));
    if (!safe || upstream.host().isEmpty()) {
        refuse({502, QStringLiteral("The model address %1 is not one that a key may be sent to: it must begin with "
                                    "https://. Change it in the agent's settings.")
                         .arg(upstream.toDisplayString(QUrl::RemoveUserInfo | QUrl::RemoveQuery))},
               false);
        return;
    }
    const QString forbidden = m_gateway.admit();
    if (!forbidden.isEmpty()) {
        refuse({429, forbidden}, false);
        return;
    }
    m_time.start();
    m_meter = {};
    m_record.model = modelOf(m_request.body);
    m_state = State::AskingKey;
    askKey(this, m_gateway.m_options.credential);
}

QCoro::Task<void> GatewayConnection::askKey(QPointer<GatewayConnection> self,
                                            std::function<QCoro::Task<Result<QByteArray>>()> credential)
{
    auto asking = credential();
    const Result<QByteArray> key = co_await asking;
    if (self)
        self->forward(key);
}

QNetworkRequest GatewayConnection::upstreamRequest(const QByteArray &key) const
{
    const GatewayOptions &options = m_gateway.m_options;
    QNetworkRequest request(upstreamUrl(options.upstream, m_request.target));
    for (const auto &[name, value] : m_request.headers) {
        if (isForwardedToUpstream(name))
            request.setRawHeader(name, value);
    }
    // Compressed answers could not be metered.
    request.setRawHeader("accept-encoding", "identity");
    if (options.bearer || options.api == ApiKind::OpenAi)
        request.setRawHeader("authorization", "Bearer " + key);
    else
        request.setRawHeader("x-api-key", key);
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
    request.setAttribute(QNetworkRequest::CacheSaveControlAttribute, false);
    request.setTransferTimeout(int(options.silence.count()));
    if (!options.extraAuthorities.isEmpty()) {
        QSslConfiguration tls = QSslConfiguration::defaultConfiguration();
        tls.addCaCertificates(options.extraAuthorities);
        request.setSslConfiguration(tls);
    }
    return request;
}

void GatewayConnection::forward(const Result<QByteArray> &key)
{
    if (m_state != State::AskingKey)
        return;
    if (!key || key->isEmpty() || key->contains('\n') || key->contains('\r')) {
        refuse({503, key ? QStringLiteral("The stored model key is empty or not one line. Store it anew.")
                         : key.error().message},
               false);
        return;
    }
    m_state = State::Forwarding;
    m_headPassed = m_chunked = false;
    m_manager = m_gateway.takeManager();
    const QNetworkRequest request = upstreamRequest(*key);
    m_reply = m_request.method == "GET" ? m_manager->get(request) : m_manager->post(request, m_request.body);
    m_reply->setReadBufferSize(replyBufferBytes);
    m_request.body.clear();
    m_held = 0;
    connect(m_reply, &QNetworkReply::readyRead, this, &GatewayConnection::passBody);
    connect(m_reply, &QNetworkReply::finished, this, &GatewayConnection::replyFinished);
}

void GatewayConnection::passHead()
{
    const int status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    QByteArray reason = m_reply->attribute(QNetworkRequest::HttpReasonPhraseAttribute).toByteArray();
    if (reason.isEmpty() || reason.contains('\r') || reason.contains('\n'))
        reason = reasonPhrase(status);
    QByteArray head = "HTTP/1.1 " + QByteArray::number(status) + ' ' + reason + "\r\n";
    QByteArray length;
    for (const auto &[name, value] : m_reply->rawHeaderPairs()) {
        const QByteArray lower = name.toLower();
        if (lower == "content-length")
            length = value;
        else if (isForwardedToClient(lower) && !value.contains('\n') && !value.contains('\r'))
            head += name + ": " + value + "\r\n";
    }
    const bool bodyless = status == 204 || status == 304;
    m_chunked = !bodyless && length.isEmpty() && !m_request.http10;
    if (!bodyless && !length.isEmpty())
        head += "content-length: " + length + "\r\n";
    if (m_chunked)
        head += "transfer-encoding: chunked\r\n";
    if (m_request.http10 && length.isEmpty())
        m_request.keepAlive = false;
    head += m_request.keepAlive ? "connection: keep-alive\r\n\r\n" : "connection: close\r\n\r\n";
    m_headPassed = true;
    m_record.firstByteMs = m_time.elapsed();
    m_record.status = status;
    m_meter.begin(m_reply->rawHeader("content-type"));
    send(head);
}

void GatewayConnection::passBody()
{
    if (m_state != State::Forwarding || !m_reply)
        return;
    const int status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (status == 0 || (status >= 300 && status < 400 && status != 304))
        return; // a redirect is refused at its end
    if (!m_headPassed)
        passHead();
    while (m_gateway.m_channel && m_gateway.m_channel->gatewayPending(m_stream) == 0 && m_reply->bytesAvailable() > 0) {
        const QByteArray bytes = m_reply->read(passAtOnceBytes);
        if (bytes.isEmpty())
            break;
        m_record.bytes += bytes.size();
        m_meter.feed(bytes);
        send(m_chunked ? QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n" : bytes);
    }
}

void GatewayConnection::resume()
{
    if (m_state != State::Forwarding || !m_reply)
        return;
    passBody();
    if (m_reply && m_reply->isFinished())
        replyFinished();
}

// Called again by resume() until everything that was received is passed on.
void GatewayConnection::replyFinished()
{
    if (m_state != State::Forwarding || !m_reply)
        return;
    const int status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    const bool redirect = status >= 300 && status < 400 && status != 304;
    // Errors of the model itself (4xx, 5xx) are its answer; those below have none or a broken one.
    const QNetworkReply::NetworkError error = m_reply->error();
    const bool broken = error != QNetworkReply::NoError &&
                        (status < 400 || error < QNetworkReply::ContentAccessDenied);
    if (redirect || status == 0 || (broken && !m_headPassed)) {
        refuse(refusalOf(*m_reply), false);
        return;
    }
    passBody();
    if (!m_reply || m_reply->bytesAvailable() > 0)
        return;
    if (broken) {
        reset(); // cut for the client as it was cut for us: it must not take it for the whole
        return;
    }
    endAnswer();
}

Refusal GatewayConnection::refusalOf(const QNetworkReply &reply) const
{
    const QString host = m_gateway.m_options.upstream.host();
    const int status = reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (status >= 300 && status < 400)
        return {502, QStringLiteral("The model's host %1 answered with a redirect (%2), which is not followed: a key "
                                    "is sent to the configured host only. Change the agent's model address.")
                         .arg(host)
                         .arg(status)};
    switch (reply.error()) {
    case QNetworkReply::OperationCanceledError:
    case QNetworkReply::TimeoutError:
        return {504, QStringLiteral("The model's host %1 did not answer for %2 seconds.")
                         .arg(host)
                         .arg(double(m_gateway.m_options.silence.count()) / 1000)};
    case QNetworkReply::SslHandshakeFailedError:
        return {502, QStringLiteral("The model's host %1 could not prove who it is (TLS: its certificate is not "
                                    "trusted). Nothing was sent to it.")
                         .arg(host)};
    case QNetworkReply::HostNotFoundError:
        return {502, QStringLiteral("The model's host %1 was not found. Check the network and the agent's model "
                                    "address.")
                         .arg(host)};
    case QNetworkReply::ConnectionRefusedError:
        return {502, QStringLiteral("The model's host %1 refused the connection.").arg(host)};
    default:
        return {502, QStringLiteral("The connection to the model's host %1 failed before it answered.").arg(host)};
    }
}

void GatewayConnection::refuse(const Refusal &refusal, bool close)
{
    const bool wasForwarded = m_state == State::Forwarding || m_state == State::AskingKey;
    dropReply();
    if (close)
        m_request.keepAlive = false;
    const QByteArray body = errorBody(m_gateway.m_options.api, refusal);
    send("HTTP/1.1 " + QByteArray::number(refusal.status) + ' ' + reasonPhrase(refusal.status) +
         "\r\ncontent-type: application/json\r\ncontent-length: " + QByteArray::number(body.size()) +
         "\r\nconnection: " + (m_request.keepAlive ? "keep-alive" : "close") + "\r\n\r\n" +
         (m_request.method == "HEAD" ? QByteArray() : body));
    if (wasForwarded)
        endRequest(refusal.status, false);
    m_state = State::Reading;
    if (!m_request.keepAlive)
        startClosing();
    else if (wasForwarded)
        parse();
}

void GatewayConnection::endAnswer()
{
    if (m_chunked)
        send("0\r\n\r\n");
    dropReply();
    endRequest(m_record.status, true);
    m_state = State::Reading;
    if (m_request.keepAlive)
        parse();
    else
        startClosing();
}

void GatewayConnection::endRequest(int status, bool complete)
{
    m_meter.finish(m_record);
    m_record.status = status;
    m_record.complete = complete;
    m_record.totalMs = m_time.isValid() ? m_time.elapsed() : 0;
    m_held = 0;
    m_gateway.finished(m_record);
}

void GatewayConnection::dropReply()
{
    if (m_reply) {
        disconnect(m_reply, nullptr, this, nullptr);
        m_reply->abort();
        m_reply->deleteLater();
        m_reply = nullptr;
    }
    if (m_manager)
        m_gateway.giveBack(std::exchange(m_manager, nullptr));
}

void GatewayConnection::abandon()
{
    const bool underWay = m_state == State::AskingKey || m_state == State::Forwarding;
    m_state = State::Closing;
    dropReply();
    if (underWay)
        endRequest(m_record.status, false);
}

void GatewayConnection::send(const QByteArray &bytes)
{
    if (m_gateway.m_channel)
        m_gateway.m_channel->gatewaySend(m_stream, bytes);
}

void GatewayConnection::payCredit(qint64 bytes)
{
    if (m_gateway.m_channel && bytes > 0)
        m_gateway.m_channel->gatewayCredit(m_stream, quint32(bytes));
}

// The answer's end is told; what the client still sends is thrown away for a while, or it would see a reset instead.
void GatewayConnection::startClosing()
{
    m_state = State::Closing;
    if (m_gateway.m_channel)
        m_gateway.m_channel->gatewayEnd(m_stream);
    if (m_clientEnded)
        m_linger.start(0);
    else
        m_linger.start(lingerMs);
}

void GatewayConnection::reset()
{
    if (m_gateway.m_channel)
        m_gateway.m_channel->gatewayReset(m_stream);
    m_gateway.close(m_stream);
}

} // namespace engine
