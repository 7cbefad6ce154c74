#pragma once

#include "engine/gateway/modelrequest.h"
#include "engine/types/clock.h"
#include "engine/types/error.h"
#include "sandbox/channel.h"

#include <QCoroTask>
#include <QHash>
#include <QNetworkAccessManager>
#include <QPointer>
#include <QSslCertificate>
#include <QUrl>
#include <chrono>

namespace engine {

class GatewayConnection;

struct GatewayOptions
{
    ApiKind api = ApiKind::Anthropic;
    QUrl upstream;    // https, or http on this machine; the only host that is ever asked
    QByteArray token; // newGatewayToken(), what the harness presents instead of a key
    std::function<QCoro::Task<Result<QByteArray>>()> credential; // asked for each request, so that a new key counts
    bool bearer = false; // the key goes out as Authorization: Bearer; OpenAI's always does
    GatewayBudget budget;
    Clock *clock = nullptr; // outlives the gateway
    std::chrono::milliseconds silence{10 * 60 * 1000}; // of the upstream, then 504
    qint64 maxBodyBytes = 64 * 1024 * 1024;
    qint64 maxHeldBytes = 256 * 1024 * 1024; // of all requests' bodies together
    QList<QSslCertificate> extraAuthorities; // beside the system's
};

// 32 random bytes, as text; of one session and launch.
QByteArray newGatewayToken();

// The engine's end of one channel's model gateway: takes the harness's requests, checks them, adds the key, forwards
// them and meters the answers. States, limits and failures: engine/gateway/README.md. Engine thread; the channel
// outlives it or ends it.
class Gateway final : public QObject
{
    Q_OBJECT

public:
    Gateway(GatewayOptions options, sandbox::Channel *channel, QObject *parent);
    ~Gateway() override;

    // Counts what is finished from now on for this run; a run that comes back starts at zero again, so the caller
    // gives what it used before.
    void setRun(const RunId &run, qint64 tokensUsed = 0);
    qint64 tokensUsed() const { return m_tokensUsed; }
    void setBudget(const GatewayBudget &budget) { m_options.budget = budget; }

signals:
    void requestFinished(const engine::ModelRequest &request);

private:
    friend class GatewayConnection;

    void connectChannel();
    void open(quint32 stream);
    void close(quint32 stream);
    // What forbids another request now; nothing: it was counted.
    QString admit();
    void finished(const ModelRequest &request);
    QNetworkAccessManager *takeManager();
    void giveBack(QNetworkAccessManager *manager);
    qint64 heldBytes() const;

    GatewayOptions m_options;
    QPointer<sandbox::Channel> m_channel;
    QHash<quint32, GatewayConnection *> m_connections;
    QHash<QNetworkAccessManager *, int> m_managers; // and how many requests each serves: it makes six connections
    QList<qint64> m_recent;                         // times of the last minute's requests
    RunId m_run;
    qint64 m_tokensUsed = 0;
};

} // namespace engine
