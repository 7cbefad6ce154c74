#pragma once

#include "engine/gateway/modelusage.h"
#include "engine/types/error.h"
#include "engine/types/ids.h"
#include "sandbox/channel.h"

#include <QElapsedTimer>
#include <QNetworkAccessManager>
#include <QUrl>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

namespace engine {

class GatewayConnection;

enum class ModelApi { Anthropic, OpenAi };

struct GatewayOptions
{
    ModelApi api = ModelApi::Anthropic;
    QUrl upstream;      // scheme, host, port, and a path that goes before the request's own
    QByteArray token;   // what the harness must show; worth nothing anywhere else
    std::function<Result<QByteArray>()> credential; // asked anew for each request
    bool asBearer = false;      // the credential goes into Authorization instead of the API's own header
    qint64 maxTokensPerRun = 0; // 0: no limit
    int maxRequestsPerMinute = 0;
};

// One finished request to the model.
struct ModelRequest
{
    RunId run;
    QString path;
    int status = 0; // as the harness saw it
    ModelUsage usage;
    qint64 firstByteMs = -1; // until the reply began
    qint64 totalMs = 0;
    qint64 sentBytes = 0;
    qint64 receivedBytes = 0;
    QString failure; // of one that got no whole reply
};

// The engine's end of a computer's way to its model; see README.md. Engine thread. Lives as long as its channel.
class Gateway final : public QObject
{
    Q_OBJECT

public:
    Gateway(GatewayOptions options, sandbox::Channel &channel, QNetworkAccessManager &network, QObject *parent = nullptr);
    ~Gateway() override;

    // Whom requests are counted for from now on; another run has a budget of its own.
    void setRun(const RunId &run);
    const GatewayOptions &options() const { return m_options; }
    qint64 tokensOfRun() const { return m_runTokens; }

signals:
    void requestFinished(const engine::ModelRequest &request);

private:
    friend class GatewayConnection;

    // Empty: it may pass.
    QString overBudget();
    void finished(ModelRequest request);
    void drop(quint32 stream);

    GatewayOptions m_options;
    sandbox::Channel &m_channel;
    QNetworkAccessManager &m_network;
    RunId m_run;
    qint64 m_runTokens = 0;
    QElapsedTimer m_clock;
    std::deque<qint64> m_recent; // when requests of the last minute came
    std::unordered_map<quint32, std::unique_ptr<GatewayConnection>> m_connections;
};

// A token for one session that an engine after this one can tell again. `secret` is the installation's own.
QByteArray gatewayToken(const QByteArray &secret, const SessionId &session);

} // namespace engine
