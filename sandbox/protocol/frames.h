#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sandbox {

// Types and layout of the worker protocol: sandbox/README.md.
enum class FrameType : std::uint8_t {
    Hello = 1,
    Launch = 2,
    Input = 3,
    CloseInput = 4,
    Ack = 5,
    Signal = 6,
    Kill = 7,
    Shutdown = 8,
    Ping = 9,
    Pong = 10,
    Probe = 11,
    GatewayData = 12,
    GatewayEnd = 13,
    GatewayReset = 14,
    GatewayCredit = 15,
    FilesList = 16,
    FilesHash = 17,
    FilesRead = 18,
    FilesCredit = 19,
    FilesCancel = 20,
    FilesPut = 21,
    FilesPutData = 22,
    FilesFinish = 23,
    FilesChange = 24,
    Welcome = 33,
    Refused = 34,
    Launched = 35,
    LaunchFailed = 36,
    Output = 37,
    ErrorOutput = 38,
    InputWritten = 39,
    InputRefused = 40,
    Exit = 41,
    Closed = 42,
    Status = 43,
    GatewayOpened = 44,
    GatewayReceived = 45,
    GatewayEnded = 46,
    GatewayWasReset = 47,
    GatewayTaken = 48,
    FilesListed = 49,
    FilesResults = 50,
    FilesData = 51,
    FilesTaken = 52,
    FilesDone = 53
};
bool isKnown(std::uint8_t type);

inline constexpr std::size_t frameHeaderBytes = 5;
inline constexpr std::uint32_t maxGreetingBytes = 64 * 1024;        // before HELLO
inline constexpr std::uint32_t maxToWorkerBytes = 64 * 1024 * 1024; // an input line with pictures fits
inline constexpr std::uint32_t maxFromWorkerBytes = 1024 * 1024;
inline constexpr std::size_t outputChunkBytes = 256 * 1024;

void appendFrame(std::string &to, FrameType type, std::string_view payload);
// For payloads of two parts, without joining them first.
void appendFrame(std::string &to, FrameType type, std::string_view head, std::string_view tail);
std::string makeFrame(FrameType type, std::string_view payload = {});

struct Frame
{
    FrameType type = FrameType::Ping;
    std::string_view payload; // valid until the decoder is given more bytes
};

// Incremental decoder. A frame over the cap or of an unknown type breaks it for good; a claimed length alone never
// makes it allocate.
class FrameDecoder
{
public:
    enum class Step { NeedMore, Ready, Broken };

    explicit FrameDecoder(std::uint32_t cap) : m_cap(cap) {}
    void setCap(std::uint32_t cap) { m_cap = cap; }
    // Where at least `count` bytes may be written, followed by filled(): saves a copy.
    char *space(std::size_t count);
    void filled(std::size_t count);
    void feed(std::string_view bytes);
    Step next(Frame &frame);
    const std::string &error() const { return m_error; }

private:
    std::unique_ptr<char[]> m_buffer;
    std::size_t m_capacity = 0;
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
    std::uint32_t m_cap = 0;
    std::string m_error;
};

} // namespace sandbox
