#pragma once

#include "sandbox/link/bytelink.h"

#include <QLocalSocket>

namespace sandbox {

// Over a Unix socket of this machine.
class LocalLink final : public ByteLink
{
    Q_OBJECT

public:
    explicit LocalLink(const QString &socketPath);
    ~LocalLink() override;

    void open() override;
    qint64 bytesAvailable() const override { return m_socket.bytesAvailable(); }
    qint64 read(char *to, qint64 atMost) override { return m_socket.read(to, atMost); }
    void write(const char *bytes, qint64 count) override;
    void abort() override;
    QString peerName() const override { return m_path; }
    QString errorText() const override { return m_socket.errorString(); }

private:
    void end();

    QString m_path;
    QLocalSocket m_socket;
    bool m_wasOpen = false;
    bool m_ended = false;
};

} // namespace sandbox
