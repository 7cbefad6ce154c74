#include "sandbox/protocol/bytes.h"

namespace sandbox {

namespace {

void appendNumber(std::string &to, std::uint64_t value, std::size_t width)
{
    for (std::size_t i = 0; i < width; ++i)
        to.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

} // namespace

ByteWriter &ByteWriter::u8(std::uint8_t value)
{
    appendNumber(m_bytes, value, 1);
    return *this;
}

ByteWriter &ByteWriter::u16(std::uint16_t value)
{
    appendNumber(m_bytes, value, 2);
    return *this;
}

ByteWriter &ByteWriter::u32(std::uint32_t value)
{
    appendNumber(m_bytes, value, 4);
    return *this;
}

ByteWriter &ByteWriter::u64(std::uint64_t value)
{
    appendNumber(m_bytes, value, 8);
    return *this;
}

ByteWriter &ByteWriter::text(std::string_view value)
{
    u32(static_cast<std::uint32_t>(value.size()));
    return rest(value);
}

ByteWriter &ByteWriter::texts(const std::vector<std::string> &values)
{
    u32(static_cast<std::uint32_t>(values.size()));
    for (const std::string &value : values)
        text(value);
    return *this;
}

ByteWriter &ByteWriter::rest(std::string_view value)
{
    m_bytes.append(value);
    return *this;
}

std::string_view ByteReader::take(std::size_t count)
{
    if (!m_ok || count > m_bytes.size()) {
        m_ok = false;
        return {};
    }
    const std::string_view taken = m_bytes.substr(0, count);
    m_bytes.remove_prefix(count);
    return taken;
}

std::uint64_t ByteReader::number(std::size_t width)
{
    const std::string_view taken = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
        value |= std::uint64_t(static_cast<unsigned char>(taken[i])) << (8 * i);
    return value;
}

std::uint8_t ByteReader::u8()
{
    return static_cast<std::uint8_t>(number(1));
}

std::uint16_t ByteReader::u16()
{
    return static_cast<std::uint16_t>(number(2));
}

std::uint32_t ByteReader::u32()
{
    return static_cast<std::uint32_t>(number(4));
}

std::uint64_t ByteReader::u64()
{
    return number(8);
}

std::string_view ByteReader::text()
{
    const std::uint32_t size = u32();
    return take(size);
}

std::vector<std::string> ByteReader::texts()
{
    std::vector<std::string> values;
    const std::uint32_t count = u32();
    // The count is not trusted: each item takes at least four bytes, so a lie ends at the payload's end.
    for (std::uint32_t i = 0; i < count && m_ok; ++i)
        values.emplace_back(text());
    if (!m_ok)
        values.clear();
    return values;
}

std::string_view ByteReader::rest()
{
    return take(m_bytes.size());
}

} // namespace sandbox
