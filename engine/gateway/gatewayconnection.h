#pragma once

#include "engine/gateway/gateway.h"
#include "engine/gateway/requestcheck.h"
#include "engine/gateway/requestparser.h"
#include "engine/gateway/usagemeter.h"

#include <QElapsedTimer>
#include <QNetworkReply>
#include <QTimer>

namespace engine {

// One connection of the harness: its requests one after the other, each with its answer before the next is parsed.
// States: engine/gateway/README.md. Owned by its Gateway.
class GatewayConnection final : public QObject
{
    Q_OBJECT

public:
    GatewayConnection(Gateway &gateway, quint32 stream, QObject *parent);
    ~GatewayConnection() override;

    void receive(const QByteArray &bytes);
    void clientEnded();
    // The client takes bytes again.
    void resume();
    // The stream is gone: what is under way is aborted and told as such.
    void abandon();
    qint64 heldBytes() const { return m_held; }

private:
    enum class State { Reading, AskingKey, Forwarding, Closing };

    void parse();
    bool takeHead();
    void takeWhole();
    static QCoro::Task<void> askKey(QPointer<GatewayConnection> self,
                                    std::function<QCoro::Task<Result<QByteArray>>()> credential);
    void forward(const Result<QByteArray> &key);
    QNetworkRequest upstreamRequest(const QByteArray &key) const;
    void passHead();
    void passBody();
    void replyFinished();
    Refusal refusalOf(const QNetworkReply &reply) const;
    void refuse(const Refusal &refusal, bool close);
    void endAnswer();
    void endRequest(int status, bool complete);
    void dropReply();
    void send(const QByteArray &bytes);
    void payCredit(qint64 bytes);
    void startClosing();
    void reset();

    Gateway &m_gateway;
    quint32 m_stream;
    State m_state = State::Reading;
    RequestParser m_parser;
    HttpRequest m_request;
    UsageMeter m_meter;
    ModelRequest m_record;
    QElapsedTimer m_time;
    QTimer m_linger;
    QPointer<QNetworkReply> m_reply;
    QNetworkAccessManager *m_manager = nullptr;
    qint64 m_held = 0;
    bool m_headPassed = false;
    bool m_chunked = false;
    bool m_clientEnded = false;
    bool m_parsing = false;
};

} // namespace engine
