#include "engine/gateway/requestcheck.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

bool presentsToken(const QByteArray &token, const HttpRequest &request)
{
    if (token.isEmpty())
        return false;
    QByteArray bearer = request.header("authorization");
    bearer = bearer.left(7).toLower() == "bearer " ? bearer.mid(7).trimmed() : QByteArray();
    const bool inKey = sameToken(request.header("x-api-key"), token);
    const bool inBearer = sameToken(bearer, token);
    return inKey || inBearer;
}

// Names of models and responses, as they stand behind a slash.
bool isPlainName(const QByteArray &text)
{
    if (text.isEmpty() || text.startsWith('.'))
        return false;
    for (const char c : text) {
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.' && c != ':')
            return false;
    }
    return !text.contains("..");
}

bool isModelsPath(const QByteArray &path)
{
    return path == "/v1/models" || (path.startsWith("/v1/models/") && isPlainName(path.mid(11)));
}

bool isAllowed(ApiKind api, const QByteArray &method, const QByteArray &path)
{
    if (method == "GET" && isModelsPath(path))
        return true;
    if (method != "POST")
        return false;
    switch (api) {
    case ApiKind::Anthropic:
        return path == "/v1/messages" || path == "/v1/messages/count_tokens";
    case ApiKind::OpenAi:
        return path == "/v1/responses" || path == "/v1/responses/compact" || path == "/v1/chat/completions";
    }
    return false;
}

bool isPlainTarget(const QByteArray &target)
{
    for (const char c : target) {
        if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '\\' || c == '#')
            return false;
    }
    const QByteArray path = target.left(target.indexOf('?') < 0 ? target.size() : target.indexOf('?'));
    return target.startsWith('/') && !path.startsWith("//") && !path.contains('%') && !path.contains("..");
}

QString errorType(int status)
{
    switch (status) {
    case 400:
        return QStringLiteral("invalid_request_error");
    case 401:
        return QStringLiteral("authentication_error");
    case 403:
        return QStringLiteral("permission_error");
    case 413:
        return QStringLiteral("request_too_large");
    case 429:
        return QStringLiteral("rate_limit_error");
    }
    return QStringLiteral("api_error");
}

} // namespace

bool sameToken(const QByteArray &a, const QByteArray &b)
{
    if (a.size() != b.size() || a.isEmpty())
        return false;
    unsigned char difference = 0;
    for (qsizetype i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

std::optional<Refusal> checkRequest(ApiKind api, const QByteArray &token, const HttpRequest &request)
{
    if (!presentsToken(token, request))
        return Refusal{401, QStringLiteral("The model gateway was not given this session's token. Only the session's "
                                           "own harness may use it.")};
    const qsizetype query = request.target.indexOf('?');
    const QByteArray path = query < 0 ? request.target : request.target.left(query);
    if (!isPlainTarget(request.target) || !isAllowed(api, request.method, path))
        return Refusal{403, QStringLiteral("The model gateway does not forward %1 %2: it is not one of the model "
                                           "API's calls that a harness needs.")
                                .arg(QString::fromLatin1(request.method),
                                     QString::fromLatin1(request.target.left(200).toPercentEncoding("/?&=:%\\#")))};
    return std::nullopt;
}

QUrl upstreamUrl(const QUrl &base, const QByteArray &target)
{
    QByteArray prefix = base.path(QUrl::FullyEncoded).toLatin1();
    while (prefix.endsWith('/'))
        prefix.chop(1);
    if (prefix.endsWith("/v1") && target.startsWith("/v1/"))
        prefix.chop(3);
    const qsizetype query = target.indexOf('?');
    QUrl url(base);
    url.setUserInfo(QString());
    url.setFragment(QString());
    url.setPath(QString::fromLatin1(prefix + (query < 0 ? target : target.left(query))), QUrl::StrictMode);
    url.setQuery(query < 0 ? QString() : QString::fromLatin1(target.mid(query + 1)));
    return url;
}

QByteArray errorBody(ApiKind api, const Refusal &refusal)
{
    const std::string type = errorType(refusal.status).toStdString();
    const std::string message = refusal.message.toStdString();
    const nlohmann::json body =
        api == ApiKind::Anthropic
            ? nlohmann::json{{"type", "error"}, {"error", {{"type", type}, {"message", message}}}}
            : nlohmann::json{
                  {"error", {{"message", message}, {"type", type}, {"code", std::to_string(refusal.status)}}}};
    return QByteArray::fromStdString(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

QByteArray reasonPhrase(int status)
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
        return "Content Too Large";
    case 429:
        return "Too Many Requests";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    }
    return "Status";
}

bool isForwardedToUpstream(const QByteArray &name)
{
    static const QList<QByteArray> kept = {"connection",       "proxy-connection", "keep-alive",
                                           "te",               "trailer",          "transfer-encoding",
                                           "upgrade",          "host",             "content-length",
                                           "expect",           "authorization",    "x-api-key",
                                           "accept-encoding",  "cookie",           "proxy-authorization",
                                           "x-forwarded-host", "forwarded",        "api-key"};
    return !kept.contains(name);
}

bool isForwardedToClient(const QByteArray &name)
{
    static const QList<QByteArray> kept = {"connection",  "proxy-connection",   "keep-alive",     "te",
                                           "trailer",     "transfer-encoding",  "upgrade",        "set-cookie",
                                           "alt-svc",     "proxy-authenticate", "content-length", "www-authenticate",
                                           "set-cookie2", "location"};
    return !kept.contains(name);
}

} // namespace engine
