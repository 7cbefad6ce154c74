#pragma once

#include "engine/gateway/gateway.h"
#include "tests/sandbox/workerbench.h"

#include <QSslServer>
#include <QTcpServer>
#include <QTcpSocket>

namespace engine {

inline QCoro::Task<Result<QByteArray>> fixedKey()
{
    co_return QByteArray("sk-real-secret");
}

// A model host: notes whole requests and writes what the test tells it.
class Upstream : public QObject
{
public:
    explicit Upstream(QTcpServer *server) : m_server(server)
    {
        m_server->setParent(this);
        m_server->listen(QHostAddress::LocalHost);
        connect(m_server, &QTcpServer::pendingConnectionAvailable, this, &Upstream::accept);
    }

    void accept()
    {
        while (QTcpSocket *socket = m_server->nextPendingConnection()) {
            ++connections;
            last = socket;
            auto buffer = std::make_shared<QByteArray>(); // shared by the slots of this connection only
            connect(socket, &QTcpSocket::readyRead, this, [this, socket, buffer] {
                buffer->append(socket->readAll());
                take(socket, *buffer);
            });
            connect(socket, &QTcpSocket::disconnected, this, [this] { ++lost; });
        }
    }

    void take(QTcpSocket *socket, QByteArray &buffer)
    {
        for (;;) {
            const qsizetype end = buffer.indexOf("\r\n\r\n");
            if (end < 0)
                return;
            const QByteArray lower = buffer.left(end + 2).toLower();
            const qsizetype at = lower.indexOf("\r\ncontent-length:");
            const qsizetype size =
                at < 0 ? 0 : lower.mid(at + 17, lower.indexOf("\r\n", at + 2) - at - 17).trimmed().toLongLong();
            if (buffer.size() < end + 4 + size)
                return;
            requests.append(buffer.left(end + 4 + size));
            buffer.remove(0, end + 4 + size);
            if (!answer.isEmpty())
                socket->write(answer);
            if (closeAfter)
                socket->disconnectFromHost();
        }
    }

    QUrl url(const QString &scheme = QStringLiteral("http")) const
    {
        return QUrl(scheme + QStringLiteral("://127.0.0.1:%1").arg(m_server->serverPort()));
    }

    QByteArray answer; // to every request; empty: the test writes it
    bool closeAfter = false;
    QByteArrayList requests;
    QPointer<QTcpSocket> last;
    int connections = 0;
    int lost = 0;

private:
    QTcpServer *m_server;
};

inline QByteArray jsonAnswer(const QByteArray &body, const QByteArray &more = {})
{
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + more +
           "Content-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

// A harness's connection to the gateway's port, byte for byte.
class Client
{
public:
    explicit Client(int port)
    {
        QObject::connect(&socket, &QTcpSocket::readyRead, &socket, [this] { got += socket.readAll(); });
        QObject::connect(&socket, &QTcpSocket::disconnected, &socket, [this] { closed = true; });
        socket.connectToHost(QHostAddress::LocalHost, quint16(port));
    }
    QTcpSocket socket;
    QByteArray got;
    bool closed = false;
};

} // namespace engine
