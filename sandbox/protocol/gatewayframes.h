#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sandbox {

inline constexpr std::uint32_t gatewayCreditBytes = 256 * 1024; // of each direction of a stream
inline constexpr std::size_t gatewayChunkBytes = 64 * 1024;
inline constexpr const char *gatewayCapability = "gateway="; // followed by the port, in WELCOME

// Payload of every gateway frame: the stream, then nothing, a number or bytes.
struct GatewayPayload
{
    std::uint32_t stream = 0;
    std::string_view rest;

    static bool decode(std::string_view payload, GatewayPayload &to);
    // False when the rest is not exactly one number.
    bool number(std::uint32_t &to) const;
};
std::string encodeGatewayHead(std::uint32_t stream);
std::string encodeGatewayNumber(std::uint32_t stream, std::uint32_t number);

} // namespace sandbox
