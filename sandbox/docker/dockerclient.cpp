#include "sandbox/docker/dockerclient.h"

#include "sandbox/docker/httpconnection.h"

#include <QCoroFuture>
#include <QIODevice>
#include <QVersionNumber>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

// What this client was written and tested for.
constexpr auto ownVersion = "1.47";
constexpr auto oldestVersion = "1.40";
constexpr std::size_t keptConnections = 4;

QVersionNumber version(const QString &text)
{
    return QVersionNumber::fromString(text);
}

QString jsonText(const json &object, const char *key)
{
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? QString::fromStdString(at->get<std::string>()) : QString();
}

QByteArray headOf(const QByteArray &method, const QByteArray &target, const QByteArray &rest)
{
    return method + ' ' + target + " HTTP/1.1\r\nHost: docker\r\nUser-Agent: signalbox\r\n" + rest + "\r\n";
}

void readEngine(const json &told, const json &info, DockerEngine &to)
{
    to.name = QStringLiteral("Docker");
    const auto components = told.find("Components");
    for (const json &component : components != told.end() && components->is_array() ? *components : json::array()) {
        if (component.is_object() && jsonText(component, "Name").startsWith(QLatin1String("Podman")))
            to.name = QStringLiteral("Podman");
    }
    to.version = jsonText(told, "Version");
    to.minApiVersion = jsonText(told, "MinAPIVersion");
    const auto flag = [&info](const char *key) { return info.contains(key) && info[key].is_boolean() && info[key].get<bool>(); };
    const auto number = [&info](const char *key) { return info.contains(key) && info[key].is_number() ? info[key].get<qint64>() : 0; };
    to.liveRestore = flag("LiveRestoreEnabled");
    to.cgroupVersion = jsonText(info, "CgroupVersion");
    to.storageDriver = jsonText(info, "Driver");
    to.operatingSystem = jsonText(info, "OperatingSystem");
    to.cpus = int(number("NCPU"));
    to.memoryBytes = number("MemTotal");
    const auto options = info.find("SecurityOptions");
    if (options != info.end() && options->is_array()) {
        for (const json &option : *options)
            to.rootless = to.rootless || option == "name=rootless" || option == "rootless";
    }
}

} // namespace

QString DockerReply::message() const
{
    const json parsed = json::parse(body.begin(), body.end(), nullptr, false);
    if (parsed.is_object()) {
        for (const char *key : {"message", "cause"}) {
            if (const QString text = jsonText(parsed, key); !text.isEmpty())
                return text;
        }
    }
    const QString text = QString::fromUtf8(body.left(1000)).trimmed();
    return text.isEmpty() ? QStringLiteral("HTTP status %1").arg(status) : text;
}

void DockerCancel::cancel()
{
    if (std::exchange(m_cancelled, true))
        return;
    emit cancelled();
}

DockerClient::DockerClient(QString socketPath) : m_socketPath(std::move(socketPath)) {}

DockerClient::~DockerClient() = default;

std::unique_ptr<HttpConnection> DockerClient::takeConnection()
{
    while (!m_idle.empty()) {
        std::unique_ptr<HttpConnection> connection = std::move(m_idle.back());
        m_idle.pop_back();
        if (connection->isReusable())
            return connection;
    }
    return std::make_unique<HttpConnection>(m_socketPath);
}

void DockerClient::keep(std::unique_ptr<HttpConnection> connection)
{
    if (connection->isReusable() && m_idle.size() < keptConnections)
        m_idle.push_back(std::move(connection));
    else
        connection.release()->deleteLater(); // it may be in one of its own slots
}

QByteArray DockerClient::targetOf(const QString &path, const QUrlQuery &query) const
{
    const bool isGreeting = path == QLatin1String("/version"); // the one call without a version
    QByteArray target = m_engine && !isGreeting ? QByteArray("/v" + m_engine->apiVersion.toLatin1()) : QByteArray();
    target += path.toUtf8();
    const QString asked = query.toString(QUrl::FullyEncoded);
    return asked.isEmpty() ? target : target + '?' + asked.toLatin1();
}

QCoro::Task<Result<DockerReply>> DockerClient::request(DockerRequest request)
{
    QByteArray rest;
    if (request.upload)
        rest = "Content-Type: " + request.contentType + "\r\nTransfer-Encoding: chunked\r\n";
    else if (!request.body.isEmpty())
        rest = "Content-Type: " + request.contentType + "\r\nContent-Length: " + QByteArray::number(request.body.size()) + "\r\n";
    else if (request.method == "POST" || request.method == "PUT")
        rest = "Content-Length: 0\r\n";
    const QByteArray head = headOf(request.method, targetOf(request.path, request.query), rest);
    for (bool again = true; again;) {
        again = false;
        std::unique_ptr<HttpConnection> connection = takeConnection();
        const QFuture<Result<DockerReply>> exchanged = connection->exchange(head, request);
        const Result<DockerReply> reply = co_await exchanged;
        // A connection that was kept had been closed meanwhile. Only what may be done twice is done again.
        const bool mayRepeat = request.method == "GET" || request.method == "HEAD" || request.method == "DELETE";
        if (!reply && connection->wasStale() && mayRepeat) {
            again = true;
            connection.release()->deleteLater();
            continue;
        }
        keep(std::move(connection));
        // Another engine may answer next time; connect() asks it anew. What is under way goes on with the old version.
        if (!reply && reply.error().failure == Failure::Unreachable)
            m_agreed = false;
        co_return reply;
    }
    co_return tl::unexpected<Error>(Error{});
}

QCoro::Task<Result<DockerEngine>> DockerClient::connect()
{
    if (m_engine && m_agreed)
        co_return DockerEngine(*m_engine); // a copy: the coroutine's result moves from what it is given
    const Result<DockerEngine> agreed = co_await agree();
    if (agreed) {
        m_engine = *agreed;
        m_agreed = true;
    }
    co_return agreed;
}

// The highest version that both understand. The first two calls are made without one.
QCoro::Task<Result<DockerEngine>> DockerClient::agree()
{
    DockerRequest ask;
    ask.path = QStringLiteral("/version");
    ask.limit = std::chrono::seconds(20);
    const Result<DockerReply> told = co_await request(ask);
    if (!told)
        co_return tl::unexpected<Error>(told.error());
    const json parsed = json::parse(told->body.begin(), told->body.end(), nullptr, false);
    if (told->status != 200 || !parsed.is_object() || jsonText(parsed, "ApiVersion").isEmpty())
        co_return tl::unexpected<Error>(
            Error{Failure::Protocol,
                  QStringLiteral("What answers at %1 is no container engine (%2). Name the engine's own socket.")
                      .arg(m_socketPath, told->message().left(200)),
                  {}});
    const QString theirs = jsonText(parsed, "ApiVersion");
    const QString theirOldest = jsonText(parsed, "MinAPIVersion");
    if (version(theirs) < version(QLatin1String(oldestVersion)))
        co_return tl::unexpected<Error>(
            Error{Failure::Refused,
                  QStringLiteral("The container engine at %1 is too old: it speaks version %2 of its API, and at least %3 is "
                                 "needed. Update it (Docker 19.03 or newer).")
                      .arg(m_socketPath, theirs, QLatin1String(oldestVersion)),
                  {}});
    if (!theirOldest.isEmpty() && version(theirOldest) > version(QLatin1String(ownVersion)))
        co_return tl::unexpected<Error>(
            Error{Failure::Refused,
                  QStringLiteral("The container engine at %1 is too new: it takes versions of its API from %2 on, and this "
                                 "Signalbox speaks up to %3. Update Signalbox.")
                      .arg(m_socketPath, theirOldest, QLatin1String(ownVersion)),
                  {}});
    ask.path = QStringLiteral("/info");
    const Result<DockerReply> info = co_await request(ask);
    if (!info)
        co_return tl::unexpected<Error>(info.error());
    const json facts = json::parse(info->body.begin(), info->body.end(), nullptr, false);
    DockerEngine engine;
    readEngine(parsed, facts.is_object() ? facts : json::object(), engine);
    engine.apiVersion = version(theirs) < version(QLatin1String(ownVersion)) ? theirs : QString::fromLatin1(ownVersion);
    co_return engine;
}

std::unique_ptr<HijackedStream> DockerClient::hijack(const QString &path, const QUrlQuery &query, const QByteArray &body,
                                                     const QString &peerName) const
{
    const QByteArray rest = "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Type: application/json\r\nContent-Length: " +
                            QByteArray::number(body.size()) + "\r\n";
    return std::make_unique<HijackedStream>(m_socketPath, headOf("POST", targetOf(path, query), rest) + body, peerName);
}

} // namespace sandbox
