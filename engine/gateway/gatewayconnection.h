#pragma once

#include "engine/gateway/gateway.h"
#include "engine/gateway/httprequestparser.h"

#include <QNetworkReply>

namespace engine {

// One connection of the harness: requests one after the other. Engine thread; owned by its Gateway.
class GatewayConnection final : public QObject
{
    Q_OBJECT

public:
    GatewayConnection(Gateway &gateway, quint32 stream);
    ~GatewayConnection() override;

    void receive(const QByteArray &bytes);
    void clientEnded();
    // There is room for more of the reply.
    void pump();
    // The stream is gone: a request under way is given up.
    void abandon();

private:
    void parse();
    void serve();
    // Empty: it may pass.
    bool isAllowed() const;
    bool hasToken() const;
    void forward(const QByteArray &credential);
    void startReply();
    void replyFinished();
    void writeHead(int status, const QByteArray &reason, const QList<std::pair<QByteArray, QByteArray>> &headers);
    void refuse(int status, const QString &message, bool close = false);
    void endRequest();
    void closeStream();

    Gateway &m_gateway;
    quint32 m_stream = 0;
    HttpRequestParser m_parser;
    QByteArray m_waiting; // received and not looked at: a request is being served
    HttpRequest m_request;
    ModelRequest m_told;
    UsageReader m_usage;
    QElapsedTimer m_timer;
    QNetworkReply *m_reply = nullptr;
    bool m_serving = false;
    bool m_headWritten = false;
    bool m_upstreamFinished = false;
    bool m_clientEnded = false;
    bool m_closed = false;
};

} // namespace engine
