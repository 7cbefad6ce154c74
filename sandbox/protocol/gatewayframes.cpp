#include "sandbox/protocol/gatewayframes.h"

#include "sandbox/protocol/bytes.h"

namespace sandbox {

bool GatewayPayload::decode(std::string_view payload, GatewayPayload &to)
{
    ByteReader reader(payload);
    to.stream = reader.u32();
    to.rest = reader.rest();
    return reader.ok();
}

bool GatewayPayload::number(std::uint32_t &to) const
{
    ByteReader reader(rest);
    to = reader.u32();
    return reader.done();
}

std::string encodeGatewayHead(std::uint32_t stream)
{
    return ByteWriter().u32(stream).bytes();
}

std::string encodeGatewayNumber(std::uint32_t stream, std::uint32_t number)
{
    return ByteWriter().u32(stream).u32(number).bytes();
}

} // namespace sandbox
