#pragma once

#include "sandbox/docker/dockerclient.h"
#include "sandbox/docker/httpparser.h"

#include <QFuture>
#include <QLocalSocket>
#include <QPromise>
#include <QTimer>

namespace sandbox {

// One connection to the engine's socket; one exchange at a time. Engine thread.
class HttpConnection final : public QObject
{
    Q_OBJECT

public:
    explicit HttpConnection(const QString &socketPath);
    ~HttpConnection() override;

    // `head` ends with an empty line. Answers once.
    QFuture<Result<DockerReply>> exchange(const QByteArray &head, const DockerRequest &request);
    // May take another exchange.
    bool isReusable() const;
    // It was used before, and ended without a byte of this reply: the engine had closed it meanwhile.
    bool wasStale() const { return m_stale; }

private:
    void write();
    void pumpUpload();
    void receive();
    void ended();
    void fail(Failure failure, const QString &message);
    void answer(const Result<DockerReply> &result);

    QString m_path;
    QLocalSocket m_socket;
    QTimer m_limit;
    HttpReplyParser m_parser;
    DockerRequest m_request;
    QByteArray m_head;
    DockerReply m_reply;
    std::unique_ptr<QPromise<Result<DockerReply>>> m_promise;
    int m_exchanges = 0;
    bool m_wasOpen = false;
    bool m_anyByte = false;
    bool m_stale = false;
    bool m_uploading = false;
    bool m_surplus = false; // something came behind a reply: the two sides are out of step
};

// Why no connection came to be, with the way out.
Error connectFailure(const QString &socketPath, QLocalSocket::LocalSocketError error, const QString &text);

} // namespace sandbox
