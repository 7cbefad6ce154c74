#include "engine/gateway/gatewayconnection.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using nlohmann::json;

constexpr qint64 pendingBytes = 256 * 1024; // given to the channel and not taken by the harness yet
constexpr qint64 upstreamBuffer = 512 * 1024;
constexpr int upstreamSilenceMs = 10 * 60 * 1000; // a model may think for minutes without a byte

// By Content-Length or chunks, hop by hop, or ours to say.
bool isOwnHeader(const QByteArray &name)
{
    static const QList<QByteArray> own{"host",    "connection", "keep-alive",        "te",     "trailer",   "transfer-encoding",
                                       "upgrade", "expect",     "content-length",    "cookie", "x-api-key", "authorization",
                                       "set-cookie", "api-key"};
    const QByteArray lower = name.toLower();
    return own.contains(lower) || lower.startsWith("proxy-");
}

bool sameBytes(const QByteArray &shown, const QByteArray &wanted)
{
    // In a time that tells nothing of where they differ.
    quint8 difference = shown.size() == wanted.size() ? 0 : 1;
    for (qsizetype i = 0; i < wanted.size(); ++i)
        difference |= quint8(wanted[i]) ^ quint8(i < shown.size() ? shown[i] : 0);
    return difference == 0 && !wanted.isEmpty();
}

QByteArray errorType(int status)
{
    switch (status) {
    case 400:
    case 413:
        return "invalid_request_error";
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 429:
        return "rate_limit_error";
    default:
        return "api_error";
    }
}

QByteArray errorBody(ModelApi api, int status, const QString &message)
{
    const std::string text = "Signalbox gateway: " + message.toStdString();
    const std::string type = errorType(status).toStdString();
    const json body = api == ModelApi::Anthropic
                          ? json{{"type", "error"}, {"error", {{"type", type}, {"message", text}}}}
                          : json{{"error", {{"message", text}, {"type", type}, {"code", std::to_string(status)}}}};
    return QByteArray::fromStdString(body.dump(-1, ' ', false, json::error_handler_t::replace));
}

QByteArray reasonOf(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 413:
        return "Payload Too Large";
    case 429:
        return "Too Many Requests";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    default:
        return "Status";
    }
}

} // namespace

GatewayConnection::GatewayConnection(Gateway &gateway, quint32 stream) : m_gateway(gateway), m_stream(stream) {}

GatewayConnection::~GatewayConnection()
{
    abandon();
}

void GatewayConnection::receive(const QByteArray &bytes)
{
    m_waiting += bytes;
    parse();
}

// Credit for what was looked at: while a request is served the harness is not read beyond what is under way.
void GatewayConnection::parse()
{
    while (!m_serving && !m_closed && !m_waiting.isEmpty()) {
        const qsizetype used = m_parser.feed(m_waiting);
        m_waiting.remove(0, used);
        m_gateway.m_channel.gatewayCredit(m_stream, quint32(used));
        if (m_parser.expectsContinue() && m_parser.state() == HttpRequestParser::State::NeedMore) {
            m_parser.continued();
            m_gateway.m_channel.gatewaySend(m_stream, "HTTP/1.1 100 Continue\r\n\r\n");
        }
        switch (m_parser.state()) {
        case HttpRequestParser::State::NeedMore:
            if (used == 0)
                return;
            break;
        case HttpRequestParser::State::Ready:
            m_request = m_parser.take();
            serve();
            break;
        case HttpRequestParser::State::TooLarge:
            refuse(413, tr("the request is larger than a model request may be"), true);
            return;
        case HttpRequestParser::State::Broken:
            refuse(400, tr("this is no HTTP/1.1 request"), true);
            return;
        }
    }
    if (m_clientEnded && !m_serving && m_waiting.isEmpty())
        closeStream();
}

void GatewayConnection::clientEnded()
{
    m_clientEnded = true;
    parse();
}

bool GatewayConnection::hasToken() const
{
    const QByteArray key = m_request.header("x-api-key");
    const QByteArray bearer = m_request.header("authorization");
    const QByteArray shown = !key.isEmpty() ? key : bearer.startsWith("Bearer ") ? bearer.mid(7) : QByteArray();
    return sameBytes(shown, m_gateway.m_options.token);
}

bool GatewayConnection::isAllowed() const
{
    const QByteArray &target = m_request.target;
    const QByteArray path = target.left(target.indexOf('?') < 0 ? target.size() : target.indexOf('?'));
    // The upstream must not read another path out of it than we do.
    if (!path.startsWith('/') || path.contains("..") || path.contains("//") || path.contains('%') || path.contains('\\'))
        return false;
    const bool models = m_request.method == "GET" && (path == "/v1/models" || path.startsWith("/v1/models/"));
    if (m_gateway.m_options.api == ModelApi::Anthropic)
        return models || (m_request.method == "POST" && (path == "/v1/messages" || path == "/v1/messages/count_tokens"));
    return models || (m_request.method == "POST" && (path == "/v1/responses" || path == "/v1/chat/completions"));
}

void GatewayConnection::serve()
{
    m_serving = true;
    m_headWritten = m_upstreamFinished = false;
    m_timer.start();
    m_told = {};
    m_told.path = QString::fromLatin1(m_request.method + ' ' + m_request.target.left(200));
    m_told.sentBytes = m_request.body.size();
    // Claude Code looks whether somebody is there before it speaks; that needs no model.
    if (m_request.method == "HEAD" && m_request.target == "/") {
        writeHead(200, reasonOf(200), {{"Content-Length", "0"}});
        endRequest();
        return;
    }
    if (!hasToken())
        return refuse(401, tr("the token of this session is missing or wrong"));
    if (!isAllowed())
        return refuse(403, tr("%1 is not among the model requests that may pass").arg(m_told.path));
    if (const QString over = m_gateway.overBudget(); !over.isEmpty())
        return refuse(429, over);
    const Result<QByteArray> credential = m_gateway.m_options.credential();
    if (!credential)
        return refuse(503, credential.error().message);
    forward(*credential);
}

void GatewayConnection::forward(const QByteArray &credential)
{
    const GatewayOptions &options = m_gateway.m_options;
    QUrl url = options.upstream;
    const QByteArray &target = m_request.target;
    const qsizetype question = target.indexOf('?');
    url.setPath(url.path().chopped(url.path().endsWith(u'/') ? 1 : 0) + QString::fromLatin1(target.left(question < 0 ? target.size() : question)));
    if (question >= 0)
        url.setQuery(QString::fromLatin1(target.mid(question + 1)));
    QNetworkRequest request(url);
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
    request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
    request.setAttribute(QNetworkRequest::CacheSaveControlAttribute, false);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request.setTransferTimeout(upstreamSilenceMs);
    bool saysEncoding = false;
    for (const auto &[name, value] : std::as_const(m_request.headers)) {
        if (isOwnHeader(name))
            continue;
        saysEncoding = saysEncoding || name.compare("accept-encoding", Qt::CaseInsensitive) == 0;
        request.setRawHeader(name, value);
    }
    // Said by us or by the harness: else the library would ask for compression and undo it.
    if (!saysEncoding)
        request.setRawHeader("Accept-Encoding", "identity");
    if (options.api == ModelApi::Anthropic && !options.asBearer)
        request.setRawHeader("x-api-key", credential);
    else
        request.setRawHeader("Authorization", "Bearer " + credential);
    m_reply = m_request.method == "POST" ? m_gateway.m_network.post(request, m_request.body) : m_gateway.m_network.get(request);
    m_reply->setReadBufferSize(upstreamBuffer);
    connect(m_reply, &QNetworkReply::metaDataChanged, this, &GatewayConnection::startReply);
    connect(m_reply, &QNetworkReply::readyRead, this, &GatewayConnection::pump);
    connect(m_reply, &QNetworkReply::finished, this, &GatewayConnection::replyFinished);
}

void GatewayConnection::startReply()
{
    const int status = m_reply ? m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt() : 0;
    if (m_headWritten || status < 200)
        return;
    if (status >= 300 && status < 400) {
        abandon();
        refuse(502, tr("the model's address answers with a redirection, which is not followed"));
        return;
    }
    m_told.firstByteMs = m_timer.elapsed();
    QList<std::pair<QByteArray, QByteArray>> headers;
    for (const auto &[name, value] : m_reply->rawHeaderPairs()) {
        if (!isOwnHeader(name))
            headers.append({name, value});
    }
    headers.append(std::pair<QByteArray, QByteArray>("Transfer-Encoding", "chunked"));
    m_usage.begin(m_reply->rawHeader("content-type").startsWith("text/event-stream"));
    writeHead(status, m_reply->attribute(QNetworkRequest::HttpReasonPhraseAttribute).toByteArray(), headers);
}

void GatewayConnection::pump()
{
    if (!m_reply)
        return;
    startReply();
    while (m_reply && m_headWritten && m_gateway.m_channel.gatewayPending(m_stream) < pendingBytes) {
        const QByteArray bytes = m_reply->read(pendingBytes);
        if (bytes.isEmpty())
            break;
        m_told.receivedBytes += bytes.size();
        m_usage.feed(bytes);
        m_gateway.m_channel.gatewaySend(m_stream, QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n");
    }
    if (m_upstreamFinished && m_reply && m_reply->bytesAvailable() == 0) {
        m_usage.finish();
        m_told.usage = m_usage.usage();
        m_gateway.m_channel.gatewaySend(m_stream, "0\r\n\r\n");
        abandon();
        endRequest();
    }
}

void GatewayConnection::replyFinished()
{
    if (!m_reply)
        return;
    const QNetworkReply::NetworkError error = m_reply->error();
    const bool hasStatus = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt() >= 200;
    // A status of 400 or 500 is an error to the library and a reply like any other to us.
    const bool isReply = error == QNetworkReply::NoError || (hasStatus && error >= QNetworkReply::ContentAccessDenied);
    if (isReply) {
        m_upstreamFinished = true;
        pump();
        return;
    }
    const QString why = m_reply->errorString();
    const bool tooSlow = error == QNetworkReply::OperationCanceledError || error == QNetworkReply::TimeoutError;
    const bool begun = m_headWritten;
    abandon();
    m_told.failure = why;
    if (!begun) {
        refuse(tooSlow ? 504 : 502, tr("the model at %1 cannot be reached: %2").arg(m_gateway.m_options.upstream.host(), why));
        return;
    }
    // Half a reply must not look like a whole one.
    m_told.usage = m_usage.usage();
    m_gateway.finished(m_told);
    m_closed = true;
    m_gateway.m_channel.gatewayReset(m_stream);
    m_gateway.drop(m_stream);
}

void GatewayConnection::writeHead(int status, const QByteArray &reason, const QList<std::pair<QByteArray, QByteArray>> &headers)
{
    m_told.status = status;
    m_headWritten = true;
    QByteArray head = "HTTP/1.1 " + QByteArray::number(status) + ' ' + (reason.isEmpty() ? reasonOf(status) : reason) + "\r\n";
    for (const auto &[name, value] : headers)
        head += name + ": " + value + "\r\n";
    if (!m_request.keepAlive)
        head += "Connection: close\r\n";
    m_gateway.m_channel.gatewaySend(m_stream, head + "\r\n");
}

void GatewayConnection::refuse(int status, const QString &message, bool close)
{
    const QByteArray body = errorBody(m_gateway.m_options.api, status, message);
    if (close)
        m_request.keepAlive = false;
    m_told.failure = message;
    writeHead(status, reasonOf(status),
              {{"Content-Type", "application/json"}, {"Content-Length", QByteArray::number(body.size())}});
    m_gateway.m_channel.gatewaySend(m_stream, body);
    endRequest();
}

void GatewayConnection::endRequest()
{
    m_told.totalMs = m_timer.isValid() ? m_timer.elapsed() : 0;
    m_gateway.finished(m_told);
    const bool goesOn = m_request.keepAlive;
    m_request = {};
    m_serving = false;
    if (!goesOn) {
        closeStream();
        return;
    }
    // Not from within what called us: many requests that wait would pile up here.
    QMetaObject::invokeMethod(this, &GatewayConnection::parse, Qt::QueuedConnection);
}

void GatewayConnection::closeStream()
{
    if (std::exchange(m_closed, true))
        return;
    m_gateway.m_channel.gatewayEnd(m_stream);
    m_gateway.drop(m_stream);
}

void GatewayConnection::abandon()
{
    QNetworkReply *reply = std::exchange(m_reply, nullptr);
    if (!reply)
        return;
    disconnect(reply, nullptr, this, nullptr);
    reply->abort();
    reply->deleteLater();
}

} // namespace engine
