// The gateway's streams on a worker channel: credit in both directions.
#include "sandbox/link/workerchannel.h"

#include "sandbox/protocol/bytes.h"

namespace sandbox {

namespace {

constexpr qsizetype gatewayFrameBytes = 64 * 1024; // so that output and decisions are not held up behind one stream

} // namespace

void WorkerChannel::gatewaySend(quint32 stream, const QByteArray &bytes)
{
    const auto at = m_gateway.find(stream);
    if (at == m_gateway.end() || at->ending)
        return;
    at->waiting += bytes;
    flushGateway(stream);
}

void WorkerChannel::gatewayEnd(quint32 stream)
{
    const auto at = m_gateway.find(stream);
    if (at == m_gateway.end() || at->ending)
        return;
    at->ending = true;
    flushGateway(stream);
}

void WorkerChannel::gatewayReset(quint32 stream)
{
    if (m_gateway.remove(stream) > 0)
        write(FrameType::GatewayReset, ByteWriter().u32(stream).bytes());
}

void WorkerChannel::gatewayCredit(quint32 stream, quint32 bytes)
{
    if (m_gateway.contains(stream) && bytes > 0)
        write(FrameType::GatewayCredit, ByteWriter().u32(stream).u32(bytes).bytes());
}

qint64 WorkerChannel::gatewayPending(quint32 stream) const
{
    return m_gateway.value(stream).waiting.size();
}

void WorkerChannel::flushGateway(quint32 stream)
{
    GatewayStream &state = m_gateway[stream];
    qsizetype sent = 0;
    while (state.credit > 0 && sent < state.waiting.size()) {
        const qsizetype count = qMin(qMin<qsizetype>(state.credit, gatewayFrameBytes), state.waiting.size() - sent);
        write(FrameType::GatewayData, ByteWriter().u32(stream).bytes(),
              std::string_view(state.waiting.constData() + sent, std::size_t(count)));
        state.credit -= quint32(count);
        sent += count;
    }
    state.waiting.remove(0, sent);
    if (state.ending && state.waiting.isEmpty()) {
        write(FrameType::GatewayEnd, ByteWriter().u32(stream).bytes());
        m_gateway.remove(stream); // what the harness still says on it is nobody's any more
    }
}

bool WorkerChannel::applyGateway(const Frame &frame)
{
    ByteReader reader(frame.payload);
    const quint32 stream = reader.u32();
    if (frame.payload.size() < 4)
        return false;
    switch (frame.type) {
    case FrameType::GatewayOpen:
        m_gateway.insert(stream, {});
        emit gatewayOpened(stream);
        return true;
    case FrameType::GatewayData:
        if (m_gateway.contains(stream))
            emit gatewayReceived(stream, QByteArray(frame.payload.data() + 4, qsizetype(frame.payload.size()) - 4));
        return true;
    case FrameType::GatewayEnd:
        if (m_gateway.contains(stream))
            emit gatewayEnded(stream);
        return true;
    case FrameType::GatewayReset:
        if (m_gateway.remove(stream) > 0)
            emit gatewayWasReset(stream);
        return true;
    case FrameType::GatewayCredit: {
        const quint32 bytes = reader.u32();
        if (!reader.done())
            return false;
        const auto at = m_gateway.find(stream);
        if (at == m_gateway.end())
            return true;
        at->credit = quint32(qMin<quint64>(quint64(at->credit) + bytes, gatewayWindowBytes));
        flushGateway(stream);
        if (m_gateway.contains(stream))
            emit gatewayWritable(stream);
        return true;
    }
    default:
        return false;
    }
}

} // namespace sandbox
