#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sandbox {

// Payloads of the worker protocol as plain structs. Each encode() gives a payload; each decode() refuses what is
// short, longer or malformed.
inline constexpr std::uint32_t protocolMagic = 0x58424753; // "SGBX"
inline constexpr std::uint16_t protocolVersion = 1;
// In every harness's environment: the socket of its worker, by which left-overs of a killed worker are found.
inline constexpr const char *workerVariable = "SIGNALBOX_WORKER";

enum class Reason : std::uint16_t {
    Version = 1,
    Stale = 2,
    NotOwner = 3,
    Protocol = 4,
    TakenOver = 5,
    ShuttingDown = 6
};

struct HelloPayload
{
    std::uint16_t version = protocolVersion;
    std::string session;
    std::uint32_t generation = 0;
    std::uint64_t epoch = 0;
    std::uint64_t receivedOutput = 0;
    std::uint64_t receivedError = 0;

    std::string encode() const;
    // With another version only `version` is filled in and true is returned.
    static bool decode(std::string_view payload, HelloPayload &to);
};

struct WelcomePayload
{
    std::uint16_t version = protocolVersion;
    std::vector<std::string> capabilities;
    std::uint32_t generation = 0;
    bool launched = false;
    bool exited = false;
    std::int32_t exitCode = 0;
    std::int64_t pid = 0;
    std::uint64_t launch = 0;
    std::string lastInputId;
    std::uint64_t endOutput = 0;
    std::uint64_t endError = 0;
    std::uint64_t oldestOutput = 0;
    std::uint64_t oldestError = 0;

    std::string encode() const;
    static bool decode(std::string_view payload, WelcomePayload &to);
};

struct LaunchPayload
{
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string workingFolder;
    std::string lockFile;

    std::string encode() const;
    static bool decode(std::string_view payload, LaunchPayload &to);
};

struct AckPayload
{
    std::uint64_t launch = 0;
    std::uint64_t output = 0;
    std::uint64_t errorOutput = 0;

    std::string encode() const;
    static bool decode(std::string_view payload, AckPayload &to);
};

struct ShutdownPayload
{
    std::uint16_t version = protocolVersion;
    std::string session;
    std::uint32_t generation = 0;

    std::string encode() const;
    static bool decode(std::string_view payload, ShutdownPayload &to);
};

struct StatusPayload
{
    std::uint16_t version = protocolVersion;
    std::string session;
    std::uint32_t generation = 0;
    std::int64_t workerPid = 0;
    bool launched = false;
    bool exited = false;

    std::string encode() const;
    static bool decode(std::string_view payload, StatusPayload &to);
};

// REFUSED and CLOSED.
struct ReasonPayload
{
    Reason reason = Reason::Protocol;
    std::string text;

    std::string encode() const;
    static bool decode(std::string_view payload, ReasonPayload &to);
};

// LAUNCHED (number = pid) and EXIT (number = exit code).
struct LaunchNumber
{
    std::uint64_t launch = 0;
    std::int64_t number = 0;

    std::string encodeLaunched() const;
    std::string encodeExit() const;
    static bool decodeLaunched(std::string_view payload, LaunchNumber &to);
    static bool decodeExit(std::string_view payload, LaunchNumber &to);
};

// OUT and ERR.
struct ChunkPayload
{
    std::uint64_t launch = 0;
    std::uint64_t offset = 0;
    std::string_view bytes;

    std::string encodeHead() const; // everything before the bytes
    static bool decode(std::string_view payload, ChunkPayload &to);
};

// INPUT (bytes), INPUT_WRITTEN (nothing) and INPUT_REFUSED (text).
struct InputPayload
{
    std::string_view id;
    std::string_view rest;

    static std::string encodeHead(std::string_view id);
    static bool decode(std::string_view payload, InputPayload &to);
};

std::string encodeProbe();
bool decodeProbe(std::string_view payload, std::uint16_t &version);

} // namespace sandbox
