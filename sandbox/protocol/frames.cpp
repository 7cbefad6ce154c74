#include "sandbox/protocol/frames.h"

#include <cstring>

namespace sandbox {

namespace {

constexpr std::size_t keptCapacity = 4 * 1024 * 1024; // a larger buffer is given back once it is empty

void appendHeader(std::string &to, FrameType type, std::size_t size)
{
    for (int shift = 0; shift < 32; shift += 8)
        to.push_back(static_cast<char>((size >> shift) & 0xff));
    to.push_back(static_cast<char>(type));
}

} // namespace

bool isKnown(std::uint8_t type)
{
    return (type >= std::uint8_t(FrameType::Hello) && type <= std::uint8_t(FrameType::FilesChange)) ||
           (type >= std::uint8_t(FrameType::Welcome) && type <= std::uint8_t(FrameType::FilesDone));
}

void appendFrame(std::string &to, FrameType type, std::string_view payload)
{
    appendFrame(to, type, payload, {});
}

void appendFrame(std::string &to, FrameType type, std::string_view head, std::string_view tail)
{
    appendHeader(to, type, head.size() + tail.size());
    to.append(head);
    to.append(tail);
}

std::string makeFrame(FrameType type, std::string_view payload)
{
    std::string frame;
    frame.reserve(frameHeaderBytes + payload.size());
    appendFrame(frame, type, payload);
    return frame;
}

char *FrameDecoder::space(std::size_t count)
{
    if (m_begin == m_end) {
        m_begin = m_end = 0;
        if (m_capacity > keptCapacity && count <= keptCapacity) {
            m_buffer.reset();
            m_capacity = 0;
        }
    }
    if (m_capacity - m_end >= count)
        return m_buffer.get() + m_end;
    const std::size_t held = m_end - m_begin;
    if (held + count > m_capacity) {
        std::size_t wanted = m_capacity ? m_capacity * 2 : 64 * 1024;
        while (wanted < held + count)
            wanted *= 2;
        std::unique_ptr<char[]> larger(new char[wanted]);
        if (held)
            std::memcpy(larger.get(), m_buffer.get() + m_begin, held);
        m_buffer = std::move(larger);
        m_capacity = wanted;
    } else {
        std::memmove(m_buffer.get(), m_buffer.get() + m_begin, held);
    }
    m_begin = 0;
    m_end = held;
    return m_buffer.get() + m_end;
}

void FrameDecoder::filled(std::size_t count)
{
    m_end += count;
}

void FrameDecoder::feed(std::string_view bytes)
{
    if (bytes.empty())
        return;
    std::memcpy(space(bytes.size()), bytes.data(), bytes.size());
    filled(bytes.size());
}

FrameDecoder::Step FrameDecoder::next(Frame &frame)
{
    if (!m_error.empty())
        return Step::Broken;
    if (m_end - m_begin < frameHeaderBytes)
        return Step::NeedMore;
    const auto *head = reinterpret_cast<const unsigned char *>(m_buffer.get() + m_begin);
    const std::uint32_t size = std::uint32_t(head[0]) | std::uint32_t(head[1]) << 8 | std::uint32_t(head[2]) << 16 |
                               std::uint32_t(head[3]) << 24;
    if (!isKnown(head[4])) {
        m_error = "a frame of unknown type " + std::to_string(int(head[4]));
        return Step::Broken;
    }
    if (size > m_cap) {
        m_error = "a frame of " + std::to_string(size) + " bytes, at most " + std::to_string(m_cap) + " are allowed";
        return Step::Broken;
    }
    if (m_end - m_begin - frameHeaderBytes < size)
        return Step::NeedMore;
    frame.type = static_cast<FrameType>(head[4]);
    frame.payload = std::string_view(m_buffer.get() + m_begin + frameHeaderBytes, size);
    m_begin += frameHeaderBytes + size;
    return Step::Ready;
}

} // namespace sandbox
