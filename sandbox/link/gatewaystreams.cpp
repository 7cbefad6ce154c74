#include "sandbox/link/gatewaystreams.h"

namespace sandbox {

void GatewayStreams::send(quint32 id, const QByteArray &bytes)
{
    const auto at = m_streams.find(id);
    if (at == m_streams.end() || at->endAsked)
        return;
    at->waiting.append(bytes);
    flush(id, *at);
}

void GatewayStreams::end(quint32 id)
{
    const auto at = m_streams.find(id);
    if (at == m_streams.end() || at->endAsked)
        return;
    at->endAsked = true;
    flush(id, *at);
}

void GatewayStreams::reset(quint32 id)
{
    if (m_streams.remove(id))
        m_write(FrameType::GatewayReset, encodeGatewayHead(id), {});
}

void GatewayStreams::credit(quint32 id, quint32 bytes)
{
    const auto at = m_streams.find(id);
    if (at == m_streams.end() || at->peerEnded)
        return;
    const quint32 paid = qMin(bytes, at->owed);
    at->owed -= paid;
    if (paid > 0)
        m_write(FrameType::GatewayCredit, encodeGatewayNumber(id, paid), {});
}

// May remove the stream.
void GatewayStreams::flush(quint32 id, Stream &stream)
{
    const qsizetype now = qMin(stream.waiting.size(), qsizetype(stream.sendCredit));
    if (now > 0) {
        m_write(FrameType::GatewayData, encodeGatewayHead(id),
                std::string_view(stream.waiting.constData(), std::size_t(now)));
        stream.waiting.remove(0, now);
        stream.sendCredit -= quint32(now);
    }
    if (!stream.waiting.isEmpty() || !stream.endAsked || stream.endSent)
        return;
    stream.endSent = true;
    m_write(FrameType::GatewayEnd, encodeGatewayHead(id), {});
    if (stream.peerEnded)
        m_streams.remove(id);
}

bool GatewayStreams::opened(quint32 id)
{
    if (m_streams.contains(id))
        return false;
    m_streams.insert(id, {});
    if (!m_channel.hasGateway())
        reset(id); // nobody serves it: the client is told at once
    else
        emit m_channel.gatewayOpened(id);
    return true;
}

bool GatewayStreams::taken(quint32 id, quint32 bytes)
{
    const auto at = m_streams.find(id);
    if (at == m_streams.end())
        return true;
    if (bytes > gatewayCreditBytes - at->sendCredit)
        return false;
    at->sendCredit += bytes;
    const bool waited = !at->waiting.isEmpty();
    flush(id, *at);
    const auto after = m_streams.constFind(id);
    if (waited && after != m_streams.cend() && after->waiting.isEmpty())
        emit m_channel.gatewayWritable(id);
    return true;
}

bool GatewayStreams::apply(const Frame &frame)
{
    GatewayPayload payload;
    if (!GatewayPayload::decode(frame.payload, payload))
        return false;
    const quint32 id = payload.stream;
    quint32 number = 0;
    if (frame.type == FrameType::GatewayTaken)
        return payload.number(number) && taken(id, number);
    if (frame.type != FrameType::GatewayReceived && !payload.rest.empty())
        return false;
    if (frame.type == FrameType::GatewayOpened)
        return opened(id);
    const auto at = m_streams.find(id);
    if (at == m_streams.end())
        return true; // crossed with our reset
    if (frame.type == FrameType::GatewayWasReset) {
        m_streams.erase(at);
        emit m_channel.gatewayWasReset(id);
        return true;
    }
    if (at->peerEnded)
        return false;
    if (frame.type == FrameType::GatewayEnded) {
        at->peerEnded = true;
        if (at->endSent)
            m_streams.erase(at);
        emit m_channel.gatewayEnded(id);
        return true;
    }
    if (payload.rest.size() > gatewayCreditBytes - at->owed)
        return false;
    at->owed += quint32(payload.rest.size());
    emit m_channel.gatewayData(id, QByteArray(payload.rest.data(), qsizetype(payload.rest.size())));
    return true;
}

} // namespace sandbox
