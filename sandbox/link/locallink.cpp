#include "sandbox/link/locallink.h"

namespace sandbox {

namespace {

// Bounds what piles up while nobody reads; the worker keeps the rest.
constexpr qint64 readBufferBytes = 4 * 1024 * 1024;

} // namespace

LocalLink::LocalLink(const QString &socketPath) : m_path(socketPath)
{
    connect(&m_socket, &QLocalSocket::connected, this, [this] {
        m_wasOpen = true;
        emit opened();
    });
    connect(&m_socket, &QLocalSocket::readyRead, this, &ByteLink::readyRead);
    connect(&m_socket, &QLocalSocket::disconnected, this, &LocalLink::end);
    // A connection that never came to be ends without `disconnected`; the socket still says "connecting" at this moment.
    connect(&m_socket, &QLocalSocket::errorOccurred, this, [this] {
        if (!m_wasOpen)
            end();
    });
    m_socket.setReadBufferSize(readBufferBytes);
}

LocalLink::~LocalLink()
{
    disconnect(&m_socket, nullptr, this, nullptr);
    m_socket.flush();
    m_socket.abort();
}

void LocalLink::open()
{
    m_socket.connectToServer(m_path);
}

void LocalLink::write(const char *bytes, qint64 count)
{
    m_socket.write(bytes, count);
    m_socket.flush();
}

void LocalLink::abort()
{
    m_ended = true;
    m_socket.flush();
    m_socket.abort();
}

void LocalLink::end()
{
    if (std::exchange(m_ended, true))
        return;
    emit ended();
}

} // namespace sandbox
