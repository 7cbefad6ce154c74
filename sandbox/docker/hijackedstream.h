#pragma once

#include "sandbox/docker/httpparser.h"
#include "sandbox/link/bytelink.h"

#include <QByteArray>
#include <QFuture>
#include <QLocalSocket>
#include <chrono>

namespace sandbox {

// A connection that the engine turned into the standard streams of a process (attach, exec). Engine thread.
// What is read is standard output; what the process wrote to its error output is kept in complaint(). That the process
// exists is only known when it says something: a program that could not be run shows as text on standard output.
class HijackedStream final : public ByteLink
{
    Q_OBJECT

public:
    HijackedStream(const QString &socketPath, const QByteArray &request, const QString &peerName);
    ~HijackedStream() override;

    // Already open: opened() is emitted again, so that whoever comes later sees it too.
    void open() override;
    bool isOpen() const { return m_state == State::Open; }
    // open(), answered once: whether it is open. The stream must outlive it.
    QFuture<bool> openNow(std::chrono::milliseconds limit);
    qint64 bytesAvailable() const override { return m_output.size() - m_read; }
    qint64 read(char *to, qint64 atMost) override;
    void write(const char *bytes, qint64 count) override;
    // The process sees the end of its input; its output goes on.
    void shutdownWrite();
    void abort() override;
    QString peerName() const override { return m_peerName; }
    QString errorText() const override { return m_error; }
    QByteArray complaint() const { return m_complaint; }

private:
    enum class State { Closed, Connecting, Head, Open, Ended };

    void receive();
    bool receiveHead(const QByteArray &bytes);
    void demultiplex(const char *bytes, qsizetype count);
    void take(const char *bytes, qsizetype count);
    void end(const QString &why);

    QString m_path;
    QByteArray m_request;
    QString m_peerName;
    QLocalSocket m_socket;
    HttpReplyParser m_parser;
    State m_state = State::Closed;
    QByteArray m_refusal; // body of a reply that is no stream
    QByteArray m_frameHead;
    quint32 m_frameLeft = 0;
    int m_frameStream = 0;
    QByteArray m_output;
    qsizetype m_read = 0;
    QByteArray m_complaint;
    QString m_error;
    bool m_gone = false; // the peer ended; what it sent is still to be read
};

} // namespace sandbox
