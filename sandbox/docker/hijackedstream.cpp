#include "sandbox/docker/hijackedstream.h"

#include "sandbox/docker/httpconnection.h"

#include <QPromise>
#include <QTimer>
#include <cstring>
#include <sys/socket.h>

namespace sandbox {

namespace {

constexpr qsizetype streamHeadBytes = 8;
constexpr qint64 unreadBytes = 4 * 1024 * 1024; // the engine stops at what is not taken
constexpr qint64 pieceBytes = 512 * 1024;
constexpr qsizetype complaintBytes = 64 * 1024;
constexpr int errorStream = 2;

} // namespace

HijackedStream::HijackedStream(const QString &socketPath, const QByteArray &request, const QString &peerName)
    : m_path(socketPath), m_request(request), m_peerName(peerName)
{
    m_socket.setReadBufferSize(unreadBytes);
    connect(&m_socket, &QLocalSocket::connected, this, [this] {
        m_state = State::Head;
        m_socket.write(m_request);
        m_socket.flush();
    });
    connect(&m_socket, &QLocalSocket::readyRead, this, &HijackedStream::receive);
    connect(&m_socket, &QLocalSocket::disconnected, this, [this] {
        m_gone = true;
        receive();
    });
    connect(&m_socket, &QLocalSocket::errorOccurred, this, [this](QLocalSocket::LocalSocketError error) {
        if (m_state == State::Connecting) // the socket itself says so, too, at this moment
            end(connectFailure(m_path, error, m_socket.errorString()).message);
    });
    m_parser.setOnBody([this](const char *bytes, qsizetype count) {
        if (m_parser.status() == 200)
            demultiplex(bytes, count);
        else
            m_refusal.append(bytes, count);
    });
}

HijackedStream::~HijackedStream()
{
    disconnect(&m_socket, nullptr, this, nullptr);
    m_socket.flush();
    m_socket.abort();
}

void HijackedStream::open()
{
    if (m_state == State::Open || m_state == State::Ended) {
        QMetaObject::invokeMethod(
            this,
            [this] {
                if (m_state == State::Open)
                    emit opened();
                else
                    emit ended();
                if (m_state == State::Open && bytesAvailable() > 0)
                    emit readyRead();
            },
            Qt::QueuedConnection);
        return;
    }
    if (m_state != State::Closed)
        return;
    m_state = State::Connecting;
    m_socket.connectToServer(m_path);
}

QFuture<bool> HijackedStream::openNow(std::chrono::milliseconds limit)
{
    const auto promise = std::make_shared<QPromise<bool>>();
    promise->start();
    auto *watch = new QObject(this);
    const auto answer = [promise, watch](bool isOpen) {
        if (promise->future().isFinished())
            return;
        watch->deleteLater();
        promise->addResult(isOpen);
        promise->finish();
    };
    QTimer::singleShot(limit, watch, [answer] { answer(false); });
    connect(this, &ByteLink::opened, watch, [answer] { answer(true); });
    connect(this, &ByteLink::ended, watch, [answer] { answer(false); });
    open();
    return promise->future();
}

void HijackedStream::receive()
{
    while (m_state == State::Head || m_state == State::Open) {
        // A reader that does not take it leaves it to the engine, and so to the process.
        if (bytesAvailable() >= unreadBytes)
            return;
        const QByteArray bytes = m_socket.read(pieceBytes);
        if (bytes.isEmpty())
            break;
        const qint64 before = bytesAvailable();
        if (m_state == State::Head) {
            if (!receiveHead(bytes))
                return;
        } else if (m_parser.isUpgrade()) {
            demultiplex(bytes.constData(), bytes.size());
        } else {
            m_parser.feed(bytes.constData(), bytes.size());
        }
        if (bytesAvailable() > before && m_state == State::Open)
            emit readyRead();
    }
    // A stream within a reply that has an end of its own.
    const bool isOver = m_state == State::Open && !m_parser.isUpgrade() && m_parser.state() == HttpReplyParser::State::Done;
    if (m_gone && m_state == State::Head && m_parser.headComplete()) {
        DockerReply refusal;
        refusal.status = m_parser.status();
        refusal.body = m_refusal;
        end(refusal.message());
        return;
    }
    if (isOver || (m_gone && m_socket.bytesAvailable() == 0))
        end(m_state == State::Open ? QStringLiteral("the stream ended") : QStringLiteral("the engine closed the connection"));
}

// False when it ended.
bool HijackedStream::receiveHead(const QByteArray &bytes)
{
    const qsizetype used = m_parser.feed(bytes.constData(), bytes.size());
    if (m_parser.state() == HttpReplyParser::State::Broken) {
        end(m_parser.error());
        return false;
    }
    if (!m_parser.headComplete())
        return true;
    if (m_parser.status() == 101 || m_parser.status() == 200) {
        m_state = State::Open;
        emit opened();
        if (m_parser.isUpgrade() && used < bytes.size() && m_state == State::Open)
            demultiplex(bytes.constData() + used, bytes.size() - used);
        return m_state == State::Open;
    }
    if (m_parser.state() == HttpReplyParser::State::Done) {
        DockerReply reply;
        reply.status = m_parser.status();
        reply.body = m_refusal;
        end(reply.message());
        return false;
    }
    return true;
}

// Frames: stream number, three zero bytes, length in network order, that many bytes. They do not follow the writes.
void HijackedStream::demultiplex(const char *bytes, qsizetype count)
{
    while (count > 0) {
        if (m_frameLeft == 0) {
            const qsizetype wanted = qMin(streamHeadBytes - m_frameHead.size(), count);
            m_frameHead.append(bytes, wanted);
            bytes += wanted;
            count -= wanted;
            if (m_frameHead.size() < streamHeadBytes)
                return;
            const auto *head = reinterpret_cast<const uchar *>(m_frameHead.constData());
            m_frameStream = head[0];
            m_frameLeft = quint32(head[4]) << 24 | quint32(head[5]) << 16 | quint32(head[6]) << 8 | quint32(head[7]);
            m_frameHead.clear();
            continue;
        }
        const qsizetype here = qMin<qsizetype>(m_frameLeft, count);
        take(bytes, here);
        m_frameLeft -= quint32(here);
        bytes += here;
        count -= here;
    }
}

void HijackedStream::take(const char *bytes, qsizetype count)
{
    if (m_frameStream == errorStream) {
        m_complaint.append(bytes, qMin(count, complaintBytes - m_complaint.size()));
        return;
    }
    if (m_read > unreadBytes) {
        m_output.remove(0, m_read);
        m_read = 0;
    }
    if (m_read == m_output.size()) {
        m_output.resize(0); // keeps its room
        m_read = 0;
    }
    m_output.append(bytes, count);
}

qint64 HijackedStream::read(char *to, qint64 atMost)
{
    const qint64 count = qMin<qint64>(atMost, bytesAvailable());
    if (count <= 0)
        return 0;
    std::memcpy(to, m_output.constData() + m_read, size_t(count));
    m_read += count;
    // There is room again for what waits in the socket; not from here, where a reader is in its own loop.
    if ((m_socket.bytesAvailable() > 0 || m_gone) && bytesAvailable() < unreadBytes / 2)
        QMetaObject::invokeMethod(this, &HijackedStream::receive, Qt::QueuedConnection);
    return count;
}

void HijackedStream::write(const char *bytes, qint64 count)
{
    if (m_state != State::Open)
        return;
    m_socket.write(bytes, count);
    m_socket.flush();
}

void HijackedStream::shutdownWrite()
{
    if (m_state != State::Open)
        return;
    if (m_socket.bytesToWrite() > 0) {
        connect(&m_socket, &QLocalSocket::bytesWritten, this, &HijackedStream::shutdownWrite, Qt::UniqueConnection);
        m_socket.flush();
        return;
    }
    ::shutdown(int(m_socket.socketDescriptor()), SHUT_WR); // Qt closes both directions only
}

void HijackedStream::abort()
{
    m_state = State::Ended;
    m_socket.flush();
    m_socket.abort();
}

void HijackedStream::end(const QString &why)
{
    if (m_state == State::Ended || m_state == State::Closed)
        return;
    m_state = State::Ended;
    m_error = m_complaint.isEmpty() ? why : why + QStringLiteral("; it said: ") + QString::fromUtf8(m_complaint).trimmed();
    emit ended();
}

} // namespace sandbox
