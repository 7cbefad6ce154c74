#pragma once

#include "engine/gateway/modelrequest.h"
#include "engine/gateway/requestparser.h"

#include <QUrl>
#include <optional>

namespace engine {

// An answer of the gateway itself, in place of the model's.
struct Refusal
{
    int status = 500;
    QString message;
};

// Pure checks of a request's head, fail closed: first the token, then method and path. Nothing: it may be forwarded.
std::optional<Refusal> checkRequest(ApiKind api, const QByteArray &token, const HttpRequest &request);
// The same time for every wrong token of the same length.
bool sameToken(const QByteArray &a, const QByteArray &b);
// The configured base address with the request's path; never another host.
QUrl upstreamUrl(const QUrl &base, const QByteArray &target);
// JSON in the shape of the API.
QByteArray errorBody(ApiKind api, const Refusal &refusal);
QByteArray reasonPhrase(int status);
// Passed to the other side; all others stay with the gateway.
bool isForwardedToUpstream(const QByteArray &lowerName);
bool isForwardedToClient(const QByteArray &lowerName);

} // namespace engine
