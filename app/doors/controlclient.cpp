#include "app/doors/controlclient.h"

#include <sys/socket.h>

namespace app {

using Kind = ControlMessage::Kind;

namespace {

qint64 peerPid(qintptr descriptor)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(int(descriptor), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

} // namespace

ControlClient::ControlClient(const QString &path, ControlMessage request, Console &console)
    : m_path(path), m_request(std::move(request)), m_console(console)
{
    m_patience.setSingleShot(true);
    m_patience.setInterval(std::chrono::seconds(5));
    connect(&m_patience, &QTimer::timeout, this, &ControlClient::giveUp);
    connect(&m_socket, &QLocalSocket::connected, this, [this] { m_socket.write(encode(m_request)); });
    connect(&m_socket, &QLocalSocket::readyRead, this, &ControlClient::read);
    connect(&m_socket, &QLocalSocket::disconnected, this, &ControlClient::lose);
    connect(&m_socket, &QLocalSocket::errorOccurred, this, &ControlClient::lose);
}

void ControlClient::start()
{
    m_patience.start();
    m_socket.connectToServer(m_path);
}

void ControlClient::read()
{
    m_buffer += m_socket.readAll();
    for (qsizetype end = m_buffer.indexOf('\n'); end >= 0 && !m_ended; end = m_buffer.indexOf('\n')) {
        const QByteArray line = m_buffer.left(end);
        m_buffer.remove(0, end + 1);
        if (const auto message = decodeControl(line))
            take(*message);
    }
}

void ControlClient::take(const ControlMessage &message)
{
    switch (message.kind) {
    case Kind::Hello:
        m_greeted = true;
        m_patience.stop();
        break;
    case Kind::Out:
        m_console.out(message.text);
        break;
    case Kind::Err:
        m_console.err(message.text);
        break;
    case Kind::Ask:
        m_console.ask(message.text, [this](const QString &text) {
            ControlMessage answer;
            answer.kind = Kind::Answer;
            answer.text = text;
            m_socket.write(encode(answer));
        });
        break;
    case Kind::Exit:
        m_ended = true;
        emit finished(ExitCode(message.number));
        break;
    case Kind::Request:
    case Kind::Answer:
        break;
    }
}

void ControlClient::giveUp()
{
    if (m_ended || m_greeted)
        return;
    m_ended = true;
    const qint64 pid = peerPid(m_socket.socketDescriptor());
    const QString process = pid > 0 ? QStringLiteral("process %1").arg(pid) : QStringLiteral("another process");
    m_console.err(QStringLiteral("signalbox: Signalbox (%1) holds this data folder but does not answer. Wait and try "
                                 "again, or end that process; its agents go on and are found again.\n")
                      .arg(process));
    emit finished(ExitCode::Unavailable);
}

void ControlClient::lose()
{
    if (m_ended)
        return;
    m_patience.stop();
    m_ended = true;
    if (!m_greeted) {
        emit unavailable();
        return;
    }
    m_console.err(
        QStringLiteral("signalbox: the running Signalbox ended before the command did. What it had begun goes "
                       "on; look with `signalbox sessions`.\n"));
    emit finished(ExitCode::Unavailable);
}

} // namespace app
