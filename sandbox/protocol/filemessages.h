#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {

// Payloads of the file frames (sandbox/README.md, Files). decode() refuses what is short, longer or malformed.
inline constexpr const char *filesCapability = "files"; // in WELCOME of a worker that has roots
inline constexpr std::uint32_t fileWindowBytes = 4 * 1024 * 1024; // of one request, under way in one direction
inline constexpr std::size_t fileChunkBytes = 256 * 1024;

enum class FileKind : std::uint8_t { File = 1, Folder = 2, Link = 3, Skipped = 4, Failed = 5 };
enum class FileFailure : std::uint16_t {
    None = 0,
    Absent = 1,
    Refused = 2,
    Changed = 3,
    Busy = 4,
    Full = 5,
    System = 6,
    Cancelled = 7
};
enum class ChangeKind : std::uint8_t { MakeFolder = 1, MakeLink = 2, Remove = 3, SetMode = 4 };

// Times in nanoseconds since 1970 UTC.
struct FileStatus
{
    std::uint32_t mode = 0; // permission bits only
    std::uint64_t size = 0;
    std::int64_t modified = 0;
    std::int64_t changed = 0;
    std::uint64_t inode = 0;

    bool operator==(const FileStatus &) const = default;
};

struct ListPayload
{
    std::uint32_t request = 0;
    std::string root;
    std::vector<std::string> only;

    std::string encode() const;
    static bool decode(std::string_view payload, ListPayload &to);
};

// Also used for FILES_HASH.
using HashPayload = ListPayload;

struct ReadPart
{
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t most = ~0ull;
};

struct ReadPayload
{
    std::uint32_t request = 0;
    std::string root;
    std::vector<ReadPart> parts;

    std::string encode() const;
    static bool decode(std::string_view payload, ReadPayload &to);
};

struct PutPayload
{
    std::uint32_t request = 0;
    std::uint32_t index = 0;
    std::string root;
    std::string path;
    std::uint32_t mode = 0644;
    std::int64_t modified = 0;
    std::uint64_t size = 0;
    bool durable = false;
    std::string_view bytes;

    std::string encodeHead() const; // everything before the bytes
    static bool decode(std::string_view payload, PutPayload &to);
};

struct FileChangeItem
{
    ChangeKind kind = ChangeKind::MakeFolder;
    std::string path;
    std::uint32_t mode = 0;
    std::string target;
};

struct ChangePayload
{
    std::uint32_t request = 0;
    std::string root;
    std::vector<FileChangeItem> changes;

    std::string encode() const;
    static bool decode(std::string_view payload, ChangePayload &to);
};

struct ListedItem
{
    FileKind kind = FileKind::File;
    FileStatus status;
    std::string path;
    std::string target;

    static constexpr std::size_t leastBytes = 1 + 36 + 8;
};

struct ListedPayload
{
    std::uint32_t request = 0;
    std::vector<ListedItem> items;

    std::string encode() const;
    static bool decode(std::string_view payload, ListedPayload &to);
};

struct ResultItem
{
    std::uint32_t index = 0;
    FileFailure failure = FileFailure::None;
    std::string reason;
    FileStatus status;
    std::string hash; // 32 bytes, or empty
};

struct ResultsPayload
{
    std::uint32_t request = 0;
    std::vector<ResultItem> items;

    std::string encode() const;
    static bool decode(std::string_view payload, ResultsPayload &to);
};

// FILES_DATA.
struct FileDataPayload
{
    std::uint32_t request = 0;
    std::uint32_t index = 0;
    std::string_view bytes;

    std::string encodeHead() const;
    static bool decode(std::string_view payload, FileDataPayload &to);
};

struct FilesDonePayload
{
    std::uint32_t request = 0;
    FileFailure failure = FileFailure::None;
    std::string reason;
    std::int64_t clock = 0;

    std::string encode() const;
    static bool decode(std::string_view payload, FilesDonePayload &to);
};

// FILES_CANCEL, FILES_FINISH (no number), FILES_CREDIT, FILES_TAKEN (a number), FILES_PUT_DATA (rest).
std::string encodeFilesHead(std::uint32_t request);
std::string encodeFilesNumber(std::uint32_t request, std::uint32_t number);
bool decodeFilesHead(std::string_view payload, std::uint32_t &request);
bool decodeFilesNumber(std::string_view payload, std::uint32_t &request, std::uint32_t &number);
bool decodeFilesRest(std::string_view payload, std::uint32_t &request, std::string_view &rest);

} // namespace sandbox
