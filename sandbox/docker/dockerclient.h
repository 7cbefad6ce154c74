#pragma once

#include "sandbox/docker/hijackedstream.h"
#include "sandbox/sandbox.h"

#include <QMap>
#include <QUrlQuery>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

class QIODevice;

namespace sandbox {

class HttpConnection;

// Who answers at the socket, after the version of the API was agreed on.
struct DockerEngine
{
    QString name; // "Docker" or "Podman"
    QString version;
    QString apiVersion;    // what is spoken
    QString minApiVersion; // what the engine still understands
    bool liveRestore = false;
    bool rootless = false;
    QString cgroupVersion;
    QString storageDriver;
    QString operatingSystem;
    int cpus = 0;
    qint64 memoryBytes = 0;
};

struct DockerReply
{
    int status = 0;
    QByteArray body;
    QMap<QByteArray, QByteArray> headers; // names in lower case

    // What the engine says went wrong: JSON's "message", Podman's "cause", or the text as it came.
    QString message() const;
};

// Ends a request from outside; may be shared by several.
class DockerCancel final : public QObject
{
    Q_OBJECT

public:
    void cancel();
    bool isCancelled() const { return m_cancelled; }

signals:
    void cancelled();

private:
    bool m_cancelled = false;
};

struct DockerRequest
{
    QByteArray method = "GET";
    QString path; // without the version: "/containers/create"
    QUrlQuery query;
    QByteArray body;
    QByteArray contentType = "application/json";
    QIODevice *upload = nullptr; // instead of body; not owned, read to its end
    std::chrono::milliseconds limit = std::chrono::seconds(60); // without any byte in either direction
    std::function<void()> onHead;                   // its status is known and is 200
    std::function<void(const QByteArray &)> onData; // given the body of a 200 as it comes; it is not collected then
    std::shared_ptr<DockerCancel> cancel;
};

// The Engine API (Docker's, and Podman's compatible one) over a Unix socket. Engine thread. Idle connections are kept;
// any number of requests may be under way. The wire format is HTTP/1.1 as the Docker Engine API reference describes it.
class DockerClient final : public QObject
{
    Q_OBJECT

public:
    explicit DockerClient(QString socketPath);
    ~DockerClient() override;

    // Asks once per connection loss; a refusal names both versions and what to update.
    QCoro::Task<Result<DockerEngine>> connect();
    // Any status is a reply. An error is a request without one: Unreachable for an engine that does not answer (no
    // socket, refused, gone in the middle, too slow), Refused for missing rights, Protocol for what is no HTTP.
    QCoro::Task<Result<DockerReply>> request(DockerRequest request);
    // Not open yet.
    std::unique_ptr<HijackedStream> hijack(const QString &path, const QUrlQuery &query, const QByteArray &body,
                                           const QString &peerName) const;
    const QString &socketPath() const { return m_socketPath; }
    // The next request agrees on the version again.
    void forgetEngine() { m_agreed = false; }

private:
    QCoro::Task<Result<DockerEngine>> agree();
    std::unique_ptr<HttpConnection> takeConnection();
    void keep(std::unique_ptr<HttpConnection> connection);
    QByteArray targetOf(const QString &path, const QUrlQuery &query) const;

    QString m_socketPath;
    std::optional<DockerEngine> m_engine; // the last one that answered
    bool m_agreed = false;                // it still does, as far as is known
    std::vector<std::unique_ptr<HttpConnection>> m_idle;
};

} // namespace sandbox
