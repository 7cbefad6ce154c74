#pragma once

#include "sandbox/channel.h"
#include "sandbox/link/bytelink.h"
#include "sandbox/link/channelfiles.h"
#include "sandbox/link/gatewaystreams.h"
#include "sandbox/protocol/frames.h"

#include <QFuture>
#include <QPromise>
#include <QTimer>
#include <chrono>
#include <memory>

namespace sandbox {

// Channel to a worker over any full-duplex byte stream. Engine thread. Nothing is emitted before something is connected to it.
class WorkerChannel final : public Channel
{
    Q_OBJECT

public:
    explicit WorkerChannel(std::unique_ptr<ByteLink> link);
    ~WorkerChannel() override;

    // Answers after WELCOME, a refusal, a failure or the time limit. Once per channel.
    QFuture<Result<void>> attach(const QString &sessionId, int generation, quint64 epoch, Offsets received,
                                 std::chrono::milliseconds limit);

    const Welcome &welcome() const override { return m_welcome; }
    void launch(const LaunchSpec &spec) override;
    void send(const QString &id, const QByteArray &bytes) override;
    void closeInput() override;
    void acknowledge(Offsets stored) override;
    void signalHarness(int signal) override;
    void killHarness() override;
    FileAccess *files() override;
    void gatewaySend(quint32 stream, const QByteArray &bytes) override { m_gateway.send(stream, bytes); }
    void gatewayEnd(quint32 stream) override { m_gateway.end(stream); }
    void gatewayReset(quint32 stream) override { m_gateway.reset(stream); }
    void gatewayCredit(quint32 stream, quint32 bytes) override { m_gateway.credit(stream, bytes); }
    qint64 gatewayPending(quint32 stream) const override { return m_gateway.pending(stream); }

protected:
    void connectNotify(const QMetaMethod &signal) override;

private:
    void write(FrameType type, std::string_view head = {}, std::string_view tail = {});
    void receive();
    void dispatch();
    bool greeted(const Frame &frame);
    bool apply(const Frame &frame);
    bool applyChunk(const Frame &frame, Stream stream);
    bool applyLaunched(const Frame &frame);
    bool applyExit(const Frame &frame);
    bool applyInput(const Frame &frame);
    void fail(Failure failure, const QString &message, const QString &detail = {});
    void slurp();
    void linkEnded();
    void emitClosed();

    std::unique_ptr<ByteLink> m_link;
    QTimer m_limit;
    FrameDecoder m_decoder{maxFromWorkerBytes};
    std::unique_ptr<QPromise<Result<void>>> m_attaching;
    Welcome m_welcome;
    GatewayStreams m_gateway{*this, [this](FrameType type, std::string_view head, std::string_view tail) {
                                 write(type, head, tail);
                             }};
    ChannelFiles m_files{[this](FrameType type, std::string_view head, std::string_view tail) {
        write(type, head, tail);
    }};
    Error m_error;
    quint64 m_launch = 0;     // output and exits of other launches are late and dropped
    bool m_launching = false; // asked and not yet answered
    bool m_harnessLives = false;
    bool m_welcomed = false;
    bool m_started = false;    // somebody listens
    bool m_linkGone = false; // everything the peer sent is in the decoder
    bool m_ended = false;      // nothing more is read or handled
    bool m_closed = false;     // closed() was emitted
    bool m_dispatching = false;
};

} // namespace sandbox
