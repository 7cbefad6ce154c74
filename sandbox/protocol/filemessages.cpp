#include "sandbox/protocol/filemessages.h"

#include "sandbox/protocol/bytes.h"

#include <algorithm>

namespace sandbox {

namespace {

constexpr std::size_t leastReadPart = 4 + 8 + 8;
constexpr std::size_t leastChange = 1 + 4 + 4 + 4;
constexpr std::size_t leastResult = 4 + 2 + 4 + 36 + 4;

void writeStatus(ByteWriter &to, const FileStatus &status)
{
    to.u32(status.mode).u64(status.size).u64(std::uint64_t(status.modified)).u64(std::uint64_t(status.changed));
    to.u64(status.inode);
}

FileStatus readStatus(ByteReader &from)
{
    FileStatus status;
    status.mode = from.u32();
    status.size = from.u64();
    status.modified = std::int64_t(from.u64());
    status.changed = std::int64_t(from.u64());
    status.inode = from.u64();
    return status;
}

// Reads a list whose claimed count must fit into what is left, so that a lie never allocates.
template<class Item, class Read>
bool readItems(ByteReader &from, std::size_t payloadBytes, std::size_t leastBytes, std::vector<Item> &to, Read read)
{
    const std::uint32_t count = from.u32();
    if (!from.ok() || count > payloadBytes / leastBytes)
        return false;
    to.reserve(count);
    for (std::uint32_t i = 0; i < count && from.ok(); ++i)
        to.push_back(read(from));
    return from.done();
}

bool isFailure(std::uint16_t value)
{
    return value <= std::uint16_t(FileFailure::Cancelled);
}

} // namespace

std::string ListPayload::encode() const
{
    return ByteWriter().u32(request).text(root).texts(only).bytes();
}

bool ListPayload::decode(std::string_view payload, ListPayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    to.root = reader.text();
    to.only = reader.texts();
    return reader.done();
}

std::string ReadPayload::encode() const
{
    ByteWriter writer;
    writer.u32(request).text(root).u32(std::uint32_t(parts.size()));
    for (const ReadPart &part : parts)
        writer.text(part.path).u64(part.offset).u64(part.most);
    return writer.bytes();
}

bool ReadPayload::decode(std::string_view payload, ReadPayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    to.root = reader.text();
    return readItems(reader, payload.size(), leastReadPart, to.parts, [](ByteReader &from) {
        ReadPart part;
        part.path = from.text();
        part.offset = from.u64();
        part.most = from.u64();
        return part;
    });
}

std::string PutPayload::encodeHead() const
{
    ByteWriter writer;
    writer.u32(request).u32(index).text(root).text(path).u32(mode).u64(std::uint64_t(modified)).u64(size);
    return writer.u8(durable ? 1 : 0).bytes();
}

bool PutPayload::decode(std::string_view payload, PutPayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    to.index = reader.u32();
    to.root = reader.text();
    to.path = reader.text();
    to.mode = reader.u32();
    to.modified = std::int64_t(reader.u64());
    to.size = reader.u64();
    const std::uint8_t flags = reader.u8();
    to.durable = flags & 1;
    to.bytes = reader.rest();
    return reader.done() && flags <= 1 && to.bytes.size() <= to.size;
}

std::string ChangePayload::encode() const
{
    ByteWriter writer;
    writer.u32(request).text(root).u32(std::uint32_t(changes.size()));
    for (const FileChangeItem &change : changes)
        writer.u8(std::uint8_t(change.kind)).text(change.path).u32(change.mode).text(change.target);
    return writer.bytes();
}

bool ChangePayload::decode(std::string_view payload, ChangePayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    to.root = reader.text();
    bool kinds = true;
    const bool read = readItems(reader, payload.size(), leastChange, to.changes, [&kinds](ByteReader &from) {
        FileChangeItem change;
        const std::uint8_t kind = from.u8();
        kinds = kinds && kind >= std::uint8_t(ChangeKind::MakeFolder) && kind <= std::uint8_t(ChangeKind::SetMode);
        change.kind = ChangeKind(kind);
        change.path = from.text();
        change.mode = from.u32();
        change.target = from.text();
        return change;
    });
    return read && kinds;
}

std::string ListedPayload::encode() const
{
    ByteWriter writer;
    writer.u32(request).u32(std::uint32_t(items.size()));
    for (const ListedItem &item : items) {
        writer.u8(std::uint8_t(item.kind));
        writeStatus(writer, item.status);
        writer.text(item.path).text(item.target);
    }
    return writer.bytes();
}

bool ListedPayload::decode(std::string_view payload, ListedPayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    bool kinds = true;
    const bool read = readItems(reader, payload.size(), ListedItem::leastBytes, to.items, [&kinds](ByteReader &from) {
        ListedItem item;
        const std::uint8_t kind = from.u8();
        kinds = kinds && kind >= std::uint8_t(FileKind::File) && kind <= std::uint8_t(FileKind::Failed);
        item.kind = FileKind(kind);
        item.status = readStatus(from);
        item.path = from.text();
        item.target = from.text();
        return item;
    });
    return read && kinds;
}

std::string ResultsPayload::encode() const
{
    ByteWriter writer;
    writer.u32(request).u32(std::uint32_t(items.size()));
    for (const ResultItem &item : items) {
        writer.u32(item.index).u16(std::uint16_t(item.failure)).text(item.reason);
        writeStatus(writer, item.status);
        writer.text(item.hash);
    }
    return writer.bytes();
}

bool ResultsPayload::decode(std::string_view payload, ResultsPayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    bool known = true;
    const bool read = readItems(reader, payload.size(), leastResult, to.items, [&known](ByteReader &from) {
        ResultItem item;
        item.index = from.u32();
        const std::uint16_t failure = from.u16();
        item.failure = FileFailure(failure);
        item.reason = from.text();
        item.status = readStatus(from);
        item.hash = from.text();
        known = known && isFailure(failure) && (item.hash.empty() || item.hash.size() == 32);
        return item;
    });
    return read && known;
}

std::string FileDataPayload::encodeHead() const
{
    return encodeFilesNumber(request, index);
}

bool FileDataPayload::decode(std::string_view payload, FileDataPayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    to.index = reader.u32();
    to.bytes = reader.rest();
    return reader.done();
}

std::string FilesDonePayload::encode() const
{
    return ByteWriter()
        .u32(request)
        .u16(std::uint16_t(failure))
        .text(reason)
        .u64(std::uint64_t(clock))
        .bytes();
}

bool FilesDonePayload::decode(std::string_view payload, FilesDonePayload &to)
{
    ByteReader reader(payload);
    to.request = reader.u32();
    const std::uint16_t failure = reader.u16();
    to.failure = FileFailure(failure);
    to.reason = reader.text();
    to.clock = std::int64_t(reader.u64());
    return reader.done() && isFailure(failure);
}

std::string encodeFilesHead(std::uint32_t request)
{
    return ByteWriter().u32(request).bytes();
}

std::string encodeFilesNumber(std::uint32_t request, std::uint32_t number)
{
    return ByteWriter().u32(request).u32(number).bytes();
}

bool decodeFilesHead(std::string_view payload, std::uint32_t &request)
{
    ByteReader reader(payload);
    request = reader.u32();
    return reader.done();
}

bool decodeFilesNumber(std::string_view payload, std::uint32_t &request, std::uint32_t &number)
{
    ByteReader reader(payload);
    request = reader.u32();
    number = reader.u32();
    return reader.done();
}

bool decodeFilesRest(std::string_view payload, std::uint32_t &request, std::string_view &rest)
{
    ByteReader reader(payload);
    request = reader.u32();
    rest = reader.rest();
    return reader.done();
}

} // namespace sandbox
