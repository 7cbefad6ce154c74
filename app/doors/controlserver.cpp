#include "app/doors/controlserver.h"

#include "app/doors/controlconnection.h"

#include <sys/socket.h>
#include <unistd.h>

namespace app {

namespace {

bool isSameUser(qintptr descriptor)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(int(descriptor), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

} // namespace

ControlServer::ControlServer(engine::EngineClient &engine, const QString &kind) : m_engine(engine), m_kind(kind)
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, &ControlServer::accept);
}

engine::Result<void> ControlServer::listen(const QString &path)
{
    QLocalServer::removeServer(path);
    if (m_server.listen(path))
        return {};
    return engine::fail(
        engine::ErrorCode::Internal,
        QStringLiteral("The command line cannot reach this instance: the socket %1 could not be made.").arg(path),
        m_server.errorString());
}

void ControlServer::accept()
{
    while (QLocalSocket *socket = m_server.nextPendingConnection()) {
        if (!isSameUser(socket->socketDescriptor())) {
            socket->abort();
            socket->deleteLater();
            continue;
        }
        auto *connection = new ControlConnection(socket, m_engine, m_kind, this);
        connect(connection, &ControlConnection::raiseRequested, this, &ControlServer::raiseRequested);
    }
}

} // namespace app
