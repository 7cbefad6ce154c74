#include "engine/gateway/gateway.h"

#include "engine/gateway/gatewayconnection.h"

#include <QNetworkCookieJar>
#include <QRandomGenerator>

namespace engine {

namespace {

constexpr int requestsPerManager = 6;
constexpr qint64 minuteMs = 60 * 1000;

} // namespace

QByteArray newGatewayToken()
{
    QByteArray bytes(32, Qt::Uninitialized);
    for (char &byte : bytes)
        byte = char(QRandomGenerator::system()->bounded(256));
    return "sbx-" + bytes.toHex();
}

Gateway::Gateway(GatewayOptions options, sandbox::Channel *channel, QObject *parent)
    : QObject(parent), m_options(std::move(options)), m_channel(channel)
{
    connectChannel();
}

Gateway::~Gateway()
{
    // They end their requests, which give back their managers.
    const QList<GatewayConnection *> living = m_connections.values();
    m_connections.clear();
    qDeleteAll(living);
}

void Gateway::connectChannel()
{
    connect(m_channel, &sandbox::Channel::gatewayOpened, this, &Gateway::open);
    connect(m_channel, &sandbox::Channel::gatewayData, this, [this](quint32 stream, const QByteArray &bytes) {
        if (GatewayConnection *connection = m_connections.value(stream))
            connection->receive(bytes);
    });
    connect(m_channel, &sandbox::Channel::gatewayEnded, this, [this](quint32 stream) {
        if (GatewayConnection *connection = m_connections.value(stream))
            connection->clientEnded();
    });
    connect(m_channel, &sandbox::Channel::gatewayWritable, this, [this](quint32 stream) {
        if (GatewayConnection *connection = m_connections.value(stream))
            connection->resume();
    });
    connect(m_channel, &sandbox::Channel::gatewayWasReset, this, &Gateway::close);
    connect(m_channel, &sandbox::Channel::closed, this, [this] {
        const QList<quint32> streams = m_connections.keys();
        for (const quint32 stream : streams)
            close(stream);
    });
}

void Gateway::open(quint32 stream)
{
    m_connections.insert(stream, new GatewayConnection(*this, stream, this));
}

void Gateway::close(quint32 stream)
{
    if (GatewayConnection *connection = m_connections.take(stream)) {
        connection->abandon();
        connection->deleteLater();
    }
}

void Gateway::setRun(const RunId &run, qint64 tokensUsed)
{
    m_run = run;
    m_tokensUsed = tokensUsed;
}

QString Gateway::admit()
{
    const GatewayBudget &budget = m_options.budget;
    if (budget.maxTokensPerRun > 0 && m_tokensUsed >= budget.maxTokensPerRun)
        return QStringLiteral("Budget of run reached: it used %1 of %2 tokens. Raise the agent's token budget, or "
                              "start a new run.")
            .arg(m_tokensUsed)
            .arg(budget.maxTokensPerRun);
    const qint64 now = m_options.clock->now().toMSecsSinceEpoch();
    while (!m_recent.isEmpty() && m_recent.first() <= now - minuteMs)
        m_recent.removeFirst();
    if (budget.maxRequestsPerMinute > 0 && m_recent.size() >= budget.maxRequestsPerMinute)
        return QStringLiteral("Budget of requests reached: the agent allows %1 model requests a minute. Wait, or "
                              "raise the agent's limit.")
            .arg(budget.maxRequestsPerMinute);
    if (budget.maxRequestsPerMinute > 0)
        m_recent.append(now);
    return {};
}

// What was read from a cache counts too: Anthropic tells it apart from its input tokens, OpenAI within them.
void Gateway::finished(const ModelRequest &request)
{
    const bool apart = m_options.api == ApiKind::Anthropic;
    if (request.run == m_run)
        m_tokensUsed += request.inputTokens + request.outputTokens +
                        (apart ? request.cacheRead + request.cacheWrite : 0);
    emit requestFinished(request);
}

QNetworkAccessManager *Gateway::takeManager()
{
    for (auto at = m_managers.begin(); at != m_managers.end(); ++at) {
        if (at.value() < requestsPerManager) {
            ++at.value();
            return at.key();
        }
    }
    auto *manager = new QNetworkAccessManager(this);
    manager->setRedirectPolicy(QNetworkRequest::ManualRedirectPolicy);
    m_managers.insert(manager, 1);
    return manager;
}

void Gateway::giveBack(QNetworkAccessManager *manager)
{
    const auto at = m_managers.find(manager);
    if (at != m_managers.end())
        --at.value();
}

qint64 Gateway::heldBytes() const
{
    qint64 held = 0;
    for (const GatewayConnection *connection : m_connections)
        held += connection->heldBytes();
    return held;
}

} // namespace engine
