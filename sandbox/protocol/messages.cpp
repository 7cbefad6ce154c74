#include "sandbox/protocol/messages.h"

#include "sandbox/protocol/bytes.h"

namespace sandbox {

std::string HelloPayload::encode() const
{
    return ByteWriter()
        .u32(protocolMagic)
        .u16(version)
        .text(session)
        .u32(generation)
        .u64(epoch)
        .u64(receivedOutput)
        .u64(receivedError)
        .bytes();
}

bool HelloPayload::decode(std::string_view payload, HelloPayload &to)
{
    ByteReader reader(payload);
    if (reader.u32() != protocolMagic)
        return false;
    to.version = reader.u16();
    if (to.version != protocolVersion)
        return reader.ok();
    to.session = reader.text();
    to.generation = reader.u32();
    to.epoch = reader.u64();
    to.receivedOutput = reader.u64();
    to.receivedError = reader.u64();
    return reader.done();
}

std::string WelcomePayload::encode() const
{
    return ByteWriter()
        .u32(protocolMagic)
        .u16(version)
        .texts(capabilities)
        .u32(generation)
        .u8(launched)
        .u8(exited)
        .u32(static_cast<std::uint32_t>(exitCode))
        .u64(static_cast<std::uint64_t>(pid))
        .u64(launch)
        .text(lastInputId)
        .u64(endOutput)
        .u64(endError)
        .u64(oldestOutput)
        .u64(oldestError)
        .bytes();
}

bool WelcomePayload::decode(std::string_view payload, WelcomePayload &to)
{
    ByteReader reader(payload);
    if (reader.u32() != protocolMagic)
        return false;
    to.version = reader.u16();
    to.capabilities = reader.texts();
    to.generation = reader.u32();
    to.launched = reader.u8() != 0;
    to.exited = reader.u8() != 0;
    to.exitCode = static_cast<std::int32_t>(reader.u32());
    to.pid = static_cast<std::int64_t>(reader.u64());
    to.launch = reader.u64();
    to.lastInputId = reader.text();
    to.endOutput = reader.u64();
    to.endError = reader.u64();
    to.oldestOutput = reader.u64();
    to.oldestError = reader.u64();
    return reader.done();
}

std::string LaunchPayload::encode() const
{
    ByteWriter writer;
    writer.texts(argv).u32(static_cast<std::uint32_t>(environment.size()));
    for (const auto &[name, value] : environment)
        writer.text(name).text(value);
    return writer.text(workingFolder).text(lockFile).bytes();
}

bool LaunchPayload::decode(std::string_view payload, LaunchPayload &to)
{
    ByteReader reader(payload);
    to.argv = reader.texts();
    const std::uint32_t count = reader.u32();
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        std::string name(reader.text());
        std::string value(reader.text());
        to.environment.emplace_back(std::move(name), std::move(value));
    }
    to.workingFolder = reader.text();
    to.lockFile = reader.text();
    return reader.done();
}

std::string AckPayload::encode() const
{
    return ByteWriter().u64(launch).u64(output).u64(errorOutput).bytes();
}

bool AckPayload::decode(std::string_view payload, AckPayload &to)
{
    ByteReader reader(payload);
    to.launch = reader.u64();
    to.output = reader.u64();
    to.errorOutput = reader.u64();
    return reader.done();
}

std::string ShutdownPayload::encode() const
{
    return ByteWriter().u32(protocolMagic).u16(version).text(session).u32(generation).bytes();
}

bool ShutdownPayload::decode(std::string_view payload, ShutdownPayload &to)
{
    ByteReader reader(payload);
    if (reader.u32() != protocolMagic)
        return false;
    to.version = reader.u16();
    to.session = reader.text();
    to.generation = reader.u32();
    return reader.done();
}

std::string StatusPayload::encode() const
{
    return ByteWriter()
        .u16(version)
        .text(session)
        .u32(generation)
        .u64(static_cast<std::uint64_t>(workerPid))
        .u8(launched)
        .u8(exited)
        .bytes();
}

bool StatusPayload::decode(std::string_view payload, StatusPayload &to)
{
    ByteReader reader(payload);
    to.version = reader.u16();
    to.session = reader.text();
    to.generation = reader.u32();
    to.workerPid = static_cast<std::int64_t>(reader.u64());
    to.launched = reader.u8() != 0;
    to.exited = reader.u8() != 0;
    return reader.done();
}

std::string ReasonPayload::encode() const
{
    return ByteWriter().u16(static_cast<std::uint16_t>(reason)).text(text).bytes();
}

bool ReasonPayload::decode(std::string_view payload, ReasonPayload &to)
{
    ByteReader reader(payload);
    to.reason = static_cast<Reason>(reader.u16());
    to.text = reader.text();
    return reader.done();
}

std::string LaunchNumber::encodeLaunched() const
{
    return ByteWriter().u64(launch).u64(static_cast<std::uint64_t>(number)).bytes();
}

std::string LaunchNumber::encodeExit() const
{
    return ByteWriter().u64(launch).u32(static_cast<std::uint32_t>(number)).bytes();
}

bool LaunchNumber::decodeLaunched(std::string_view payload, LaunchNumber &to)
{
    ByteReader reader(payload);
    to.launch = reader.u64();
    to.number = static_cast<std::int64_t>(reader.u64());
    return reader.done();
}

bool LaunchNumber::decodeExit(std::string_view payload, LaunchNumber &to)
{
    ByteReader reader(payload);
    to.launch = reader.u64();
    to.number = static_cast<std::int32_t>(reader.u32());
    return reader.done();
}

std::string ChunkPayload::encodeHead() const
{
    return ByteWriter().u64(launch).u64(offset).bytes();
}

bool ChunkPayload::decode(std::string_view payload, ChunkPayload &to)
{
    ByteReader reader(payload);
    to.launch = reader.u64();
    to.offset = reader.u64();
    to.bytes = reader.rest();
    return reader.done();
}

std::string InputPayload::encodeHead(std::string_view id)
{
    return ByteWriter().text(id).bytes();
}

bool InputPayload::decode(std::string_view payload, InputPayload &to)
{
    ByteReader reader(payload);
    to.id = reader.text();
    to.rest = reader.rest();
    return reader.done() && !to.id.empty();
}

std::string encodeProbe()
{
    return ByteWriter().u32(protocolMagic).u16(protocolVersion).bytes();
}

bool decodeProbe(std::string_view payload, std::uint16_t &version)
{
    ByteReader reader(payload);
    const bool magic = reader.u32() == protocolMagic;
    version = reader.u16();
    return magic && reader.done();
}

} // namespace sandbox
