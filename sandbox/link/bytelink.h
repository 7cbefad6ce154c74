#pragma once

#include <QObject>
#include <QString>

namespace sandbox {

// A full-duplex byte stream to a worker. Engine thread. open() is answered by opened() or ended(); ended() comes once,
// after everything that the peer sent can be read.
class ByteLink : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    virtual void open() = 0;
    virtual qint64 bytesAvailable() const = 0;
    // How much was read; 0 when nothing is there.
    virtual qint64 read(char *to, qint64 atMost) = 0;
    // Never blocks and never refuses: what the peer does not take yet waits in memory. Sent at once, not at the next
    // turn of the event loop.
    virtual void write(const char *bytes, qint64 count) = 0;
    // Ends it at once; nothing is emitted any more.
    virtual void abort() = 0;
    // For messages: what is at the other end, and why it ended.
    virtual QString peerName() const = 0;
    virtual QString errorText() const = 0;

signals:
    void opened();
    void readyRead();
    void ended();
};

} // namespace sandbox
