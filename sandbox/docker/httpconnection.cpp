#include "sandbox/docker/httpconnection.h"

#include <QFileInfo>
#include <QIODevice>
#include <QPointer>

namespace sandbox {

namespace {

constexpr qint64 uploadAtOnce = 256 * 1024;
constexpr qint64 uploadAhead = 1024 * 1024; // written and not taken by the system yet
constexpr qint64 httpReadBuffer = 4 * 1024 * 1024;

} // namespace

Error connectFailure(const QString &socketPath, QLocalSocket::LocalSocketError error, const QString &text)
{
    if (!QFileInfo::exists(socketPath))
        return {Failure::Unreachable,
                QStringLiteral("There is no container engine at %1: the socket does not exist. Install and start Docker (or "
                               "Podman's service), or name another socket in Settings or DOCKER_HOST.")
                    .arg(socketPath),
                text};
    if (error == QLocalSocket::SocketAccessError)
        return {Failure::Refused,
                QStringLiteral("The container engine at %1 may not be used by you. Join the group that owns the socket (often "
                               "\"docker\") and log in again, or use a rootless engine.")
                    .arg(socketPath),
                text};
    return {Failure::Unreachable,
            QStringLiteral("No container engine answers at %1 (%2). Start it, for example with \"systemctl start docker\".")
                .arg(socketPath, text),
            text};
}

HttpConnection::HttpConnection(const QString &socketPath) : m_path(socketPath)
{
    m_limit.setSingleShot(true);
    m_socket.setReadBufferSize(httpReadBuffer);
    connect(&m_limit, &QTimer::timeout, this, [this] {
        fail(Failure::Unreachable,
             QStringLiteral("The container engine at %1 did not answer %2 %3 within %4 s. Look whether it is overloaded; it can "
                            "be tried again.")
                 .arg(m_path, QString::fromLatin1(m_request.method), m_request.path)
                 .arg(m_request.limit.count() / 1000));
    });
    connect(&m_socket, &QLocalSocket::connected, this, [this] {
        m_wasOpen = true;
        write();
    });
    connect(&m_socket, &QLocalSocket::readyRead, this, &HttpConnection::receive);
    connect(&m_socket, &QLocalSocket::disconnected, this, &HttpConnection::ended);
    connect(&m_socket, &QLocalSocket::bytesWritten, this, [this] {
        m_limit.start();
        pumpUpload();
    });
    // A connection that never came to be ends without `disconnected`; the socket still says "connecting" at this moment.
    connect(&m_socket, &QLocalSocket::errorOccurred, this, [this](QLocalSocket::LocalSocketError error) {
        if (m_promise && !m_wasOpen)
            answer(tl::unexpected<Error>(connectFailure(m_path, error, m_socket.errorString())));
    });
    m_parser.setOnBody([this](const char *bytes, qsizetype count) {
        // Copied: what it calls may end this request.
        const auto onData = m_request.onData;
        if (onData && m_parser.status() == 200)
            onData(QByteArray(bytes, count));
        else
            m_reply.body.append(bytes, count);
    });
}

HttpConnection::~HttpConnection()
{
    disconnect(&m_socket, nullptr, this, nullptr);
    m_socket.abort();
    if (m_promise)
        answer(tl::unexpected<Error>(Error{Failure::Unreachable, QStringLiteral("The request was given up."), {}}));
}

bool HttpConnection::isReusable() const
{
    return m_socket.state() == QLocalSocket::ConnectedState && m_parser.state() == HttpReplyParser::State::Done &&
           m_parser.keepAlive() && !m_uploading && !m_surplus && m_socket.bytesAvailable() == 0;
}

QFuture<Result<DockerReply>> HttpConnection::exchange(const QByteArray &head, const DockerRequest &request)
{
    m_promise = std::make_unique<QPromise<Result<DockerReply>>>();
    m_promise->start();
    const QFuture<Result<DockerReply>> future = m_promise->future();
    m_request = request;
    m_head = head;
    m_reply = {};
    m_anyByte = m_stale = false;
    m_uploading = request.upload != nullptr;
    ++m_exchanges;
    m_parser.begin(request.method == "HEAD");
    m_limit.setInterval(request.limit);
    m_limit.start();
    if (request.cancel) {
        if (request.cancel->isCancelled()) {
            answer(tl::unexpected<Error>(Error{Failure::Refused, QStringLiteral("It was cancelled."), {}}));
            return future;
        }
        connect(request.cancel.get(), &DockerCancel::cancelled, this,
                [this] { fail(Failure::Refused, QStringLiteral("It was cancelled.")); });
    }
    if (m_socket.state() == QLocalSocket::ConnectedState)
        write();
    else
        m_socket.connectToServer(m_path);
    return future;
}

void HttpConnection::write()
{
    if (!m_promise)
        return;
    m_socket.write(m_head);
    if (!m_uploading)
        m_socket.write(m_request.body);
    m_socket.flush();
    pumpUpload();
}

void HttpConnection::pumpUpload()
{
    while (m_promise && m_uploading && m_socket.bytesToWrite() < uploadAhead) {
        const QByteArray piece = m_request.upload->read(uploadAtOnce);
        if (piece.isEmpty() && !m_request.upload->atEnd()) {
            fail(Failure::Refused, QStringLiteral("What was to be sent cannot be read (%1).").arg(m_request.upload->errorString()));
            return;
        }
        if (piece.isEmpty()) {
            m_uploading = false;
            m_socket.write("0\r\n\r\n");
            return;
        }
        m_socket.write(QByteArray::number(piece.size(), 16) + "\r\n");
        m_socket.write(piece);
        m_socket.write("\r\n");
    }
}

void HttpConnection::receive()
{
    while (m_promise && m_socket.bytesAvailable() > 0) {
        const QByteArray bytes = m_socket.read(uploadAtOnce);
        m_anyByte = true;
        m_limit.start();
        QPointer<HttpConnection> self(this);
        const bool hadHead = m_parser.headComplete();
        const qsizetype used = m_parser.feed(bytes.constData(), bytes.size());
        if (!self || !m_promise)
            return; // ended by what it was given to
        m_surplus = m_surplus || used < bytes.size();
        const auto onHead = m_request.onHead;
        if (!hadHead && m_parser.headComplete() && m_parser.status() == 200 && onHead)
            onHead();
        if (!self || !m_promise)
            return;
        if (m_parser.state() == HttpReplyParser::State::Broken) {
            fail(Failure::Protocol, QStringLiteral("What answers at %1 does not speak HTTP as a container engine does (%2). Name "
                                                   "the engine's own socket.")
                                        .arg(m_path, m_parser.error()));
            return;
        }
        if (m_parser.state() == HttpReplyParser::State::Done) {
            m_reply.status = m_parser.status();
            m_reply.headers = m_parser.headers();
            answer(m_reply);
        }
    }
}

void HttpConnection::ended()
{
    if (!m_promise)
        return;
    receive();
    if (!m_promise)
        return;
    m_stale = m_exchanges > 1 && !m_anyByte;
    if (m_anyByte && m_parser.headComplete()) {
        m_parser.finish();
        if (m_parser.state() == HttpReplyParser::State::Done) {
            m_reply.status = m_parser.status();
            m_reply.headers = m_parser.headers();
            answer(m_reply);
            return;
        }
    }
    fail(Failure::Unreachable, QStringLiteral("The container engine at %1 went away in the middle of %2 %3. It may have been "
                                              "restarted; what was asked may have been done or not.")
                                   .arg(m_path, QString::fromLatin1(m_request.method), m_request.path));
}

void HttpConnection::fail(Failure failure, const QString &message)
{
    if (!m_promise)
        return;
    const QString detail = m_socket.errorString();
    answer(tl::unexpected<Error>(Error{failure, message, detail}));
    m_socket.abort();
}

void HttpConnection::answer(const Result<DockerReply> &result)
{
    m_limit.stop();
    if (m_request.cancel)
        disconnect(m_request.cancel.get(), nullptr, this, nullptr);
    const auto promise = std::exchange(m_promise, {});
    promise->addResult(result);
    promise->finish();
}

} // namespace sandbox
