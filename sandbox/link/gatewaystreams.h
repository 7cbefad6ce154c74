#pragma once

#include "sandbox/channel.h"
#include "sandbox/protocol/frames.h"
#include "sandbox/protocol/gatewayframes.h"

#include <QHash>
#include <functional>

namespace sandbox {

// The engine's half of the gateway streams of one channel: keeps to the worker's credit. Engine thread.
class GatewayStreams
{
public:
    using Write = std::function<void(FrameType, std::string_view, std::string_view)>;

    GatewayStreams(Channel &channel, Write write) : m_channel(channel), m_write(std::move(write)) {}

    void send(quint32 stream, const QByteArray &bytes);
    void end(quint32 stream);
    void reset(quint32 stream);
    void credit(quint32 stream, quint32 bytes);
    qint64 pending(quint32 stream) const { return m_streams.value(stream).waiting.size(); }
    // False when the worker broke the protocol. The channel may be gone afterwards.
    bool apply(const Frame &frame);

private:
    struct Stream
    {
        QByteArray waiting;                   // not covered by credit yet
        quint32 sendCredit = gatewayCreditBytes;
        quint32 owed = 0; // received and not paid back
        bool endAsked = false;
        bool endSent = false;
        bool peerEnded = false;
    };

    void flush(quint32 id, Stream &stream);
    bool opened(quint32 id);
    bool taken(quint32 id, quint32 bytes);

    Channel &m_channel;
    Write m_write;
    QHash<quint32, Stream> m_streams;
};

} // namespace sandbox
