#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {

// Builds a frame's payload; numbers are little endian (sandbox/README.md).
class ByteWriter
{
public:
    ByteWriter &u8(std::uint8_t value);
    ByteWriter &u16(std::uint16_t value);
    ByteWriter &u32(std::uint32_t value);
    ByteWriter &u64(std::uint64_t value);
    ByteWriter &text(std::string_view value);
    ByteWriter &texts(const std::vector<std::string> &values);
    ByteWriter &rest(std::string_view value);
    const std::string &bytes() const { return m_bytes; }

private:
    std::string m_bytes;
};

// Reads a payload that may be hostile: past the end every read gives zero and ok() stays false.
class ByteReader
{
public:
    explicit ByteReader(std::string_view bytes) : m_bytes(bytes) {}
    std::uint8_t u8();
    std::uint16_t u16();
    std::uint32_t u32();
    std::uint64_t u64();
    std::string_view text();
    std::vector<std::string> texts();
    std::string_view rest();
    bool ok() const { return m_ok; }
    // Everything was read and nothing is left over.
    bool done() const { return m_ok && m_bytes.empty(); }

private:
    std::string_view take(std::size_t count);
    std::uint64_t number(std::size_t width);

    std::string_view m_bytes;
    bool m_ok = true;
};

} // namespace sandbox
