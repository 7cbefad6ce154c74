#include "engine/gateway/gateway.h"

#include "engine/gateway/gatewayconnection.h"

#include <QMessageAuthenticationCode>

namespace engine {

namespace {

constexpr qint64 minuteMs = 60 * 1000;

} // namespace

QByteArray gatewayToken(const QByteArray &secret, const SessionId &session)
{
    return "sb-" + QMessageAuthenticationCode::hash(session.value.toUtf8(), secret, QCryptographicHash::Sha256).toHex();
}

Gateway::Gateway(GatewayOptions options, sandbox::Channel &channel, QNetworkAccessManager &network, QObject *parent)
    : QObject(parent), m_options(std::move(options)), m_channel(channel), m_network(network)
{
    m_clock.start();
    connect(&channel, &sandbox::Channel::gatewayOpened, this, [this](quint32 stream) {
        m_connections[stream] = std::make_unique<GatewayConnection>(*this, stream);
    });
    connect(&channel, &sandbox::Channel::gatewayReceived, this, [this](quint32 stream, const QByteArray &bytes) {
        if (const auto at = m_connections.find(stream); at != m_connections.end())
            at->second->receive(bytes);
    });
    connect(&channel, &sandbox::Channel::gatewayEnded, this, [this](quint32 stream) {
        if (const auto at = m_connections.find(stream); at != m_connections.end())
            at->second->clientEnded();
    });
    connect(&channel, &sandbox::Channel::gatewayWasReset, this, [this](quint32 stream) { drop(stream); });
    connect(&channel, &sandbox::Channel::gatewayWritable, this, [this](quint32 stream) {
        if (const auto at = m_connections.find(stream); at != m_connections.end())
            at->second->pump();
    });
}

Gateway::~Gateway() = default;

void Gateway::setRun(const RunId &run)
{
    if (run == m_run)
        return;
    m_run = run;
    m_runTokens = 0;
}

QString Gateway::overBudget()
{
    if (m_options.maxTokensPerRun > 0 && m_runTokens >= m_options.maxTokensPerRun)
        return tr("The token budget of this run (%1) is used up.").arg(m_options.maxTokensPerRun);
    const qint64 now = m_clock.elapsed();
    while (!m_recent.empty() && m_recent.front() <= now - minuteMs)
        m_recent.pop_front();
    if (m_options.maxRequestsPerMinute > 0 && m_recent.size() >= std::size_t(m_options.maxRequestsPerMinute))
        return tr("More than %1 model requests a minute are not allowed for this agent.").arg(m_options.maxRequestsPerMinute);
    m_recent.push_back(now);
    return {};
}

void Gateway::finished(ModelRequest request)
{
    request.run = m_run;
    m_runTokens += request.usage.total();
    emit requestFinished(request);
}

// Later: the connection may be in one of its own functions.
void Gateway::drop(quint32 stream)
{
    const auto at = m_connections.find(stream);
    if (at == m_connections.end())
        return;
    at->second->abandon();
    at->second.release()->deleteLater();
    m_connections.erase(at);
}

} // namespace engine
