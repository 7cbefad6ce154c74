#include "sandbox/worker/filereading.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>

namespace sandbox {

namespace {

constexpr std::size_t deepest = 200; // each level holds a descriptor
constexpr std::size_t flushListAtBytes = 128 * 1024;
constexpr int entriesPerLook = 32; // between two looks at the clock
char pieceBuffer[fileChunkBytes];  // the worker has one thread

std::int64_t wallClock()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::unique_ptr<FolderOfPath> openForReading(const FileRoots &roots, const std::string &path, FileProblem &problem)
{
    Fd root;
    if (!roots.open(path, root, problem))
        return nullptr;
    return std::make_unique<FolderOfPath>(std::move(root));
}

bool openRegular(FolderOfPath &root, const std::string &path, OpenedFile &to, FileProblem &problem)
{
    std::string name;
    const int folder = root.find(path, name, problem);
    if (folder < 0)
        return false;
    // Without waiting: a FIFO may have taken the file's place.
    Fd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    struct stat status
    {
    };
    if (!file.isOpen() || ::fstat(file.get(), &status) != 0) {
        problem = FileProblem::ofErrno("read", path);
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        problem = {FileFailure::Refused, path + " is not a regular file"};
        return false;
    }
    to.file = std::move(file);
    to.before = toFileStatus(status);
    return true;
}

// Its result but for the hash.
ResultItem closeRegular(OpenedFile &opened, std::uint32_t index, const std::string &path, ssize_t lastRead)
{
    ResultItem result;
    result.index = index;
    struct stat status
    {
    };
    if (lastRead < 0 || ::fstat(opened.file.get(), &status) != 0) {
        const FileProblem problem = FileProblem::ofErrno("read", path);
        result.failure = problem.failure;
        result.reason = problem.reason;
    } else {
        result.status = toFileStatus(status);
        const FileStatus &before = opened.before;
        if (result.status.size != before.size || result.status.modified != before.modified ||
            result.status.changed != before.changed) {
            result.failure = FileFailure::Changed;
            result.reason = path + " changed while it was read";
        }
    }
    opened.file.close();
    return result;
}

ssize_t readAt(int file, std::size_t count, std::uint64_t offset)
{
    ssize_t got = 0;
    do
        got = ::pread(file, pieceBuffer, count, off_t(offset));
    while (got < 0 && errno == EINTR);
    return got;
}

std::string linkTarget(int folder, const char *name)
{
    char target[4096];
    const ssize_t size = ::readlinkat(folder, name, target, sizeof target);
    return size > 0 ? std::string(target, std::size_t(size)) : std::string();
}

const char *whySkipped(mode_t mode)
{
    if (S_ISFIFO(mode))
        return "FIFO";
    if (S_ISSOCK(mode))
        return "socket";
    return "device";
}

} // namespace

ListTask::ListTask(ListPayload asked, const FileRoots &roots, Connection &to)
    : FileTask(asked.request, to), m_asked(std::move(asked))
{
    m_done.clock = wallClock();
    FileProblem problem;
    m_root = openForReading(roots, m_asked.root, problem);
    struct stat status
    {
    };
    if (!m_root || ::fstat(m_root->root(), &status) != 0) {
        end(problem.failure, problem.reason);
        return;
    }
    m_device = status.st_dev;
    m_batch.request = request();
    if (m_asked.only.empty())
        enter(m_root->root(), ".");
}

bool ListTask::work(const Slice &slice)
{
    for (int count = 0; m_root; ++count) {
        if (count % entriesPerLook == entriesPerLook - 1 && slice.isOver())
            return false;
        if (m_levels.empty()) {
            if (m_nextOnly >= m_asked.only.size())
                break;
            startNextOnly();
            continue;
        }
        Level &level = m_levels.back();
        errno = 0;
        const dirent *entry = ::readdir(level.folder.get());
        m_path.resize(level.pathBytes);
        if (!entry) {
            if (errno)
                add(FileKind::Failed, {}, std::string("the folder could not be read (") + std::strerror(errno) + ")");
            m_levels.pop_back();
            continue;
        }
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0)
            continue;
        m_path += m_path.empty() ? "" : "/";
        m_path += entry->d_name;
        look(::dirfd(level.folder.get()), entry->d_name);
    }
    flush();
    return true;
}

void ListTask::startNextOnly()
{
    m_path = m_asked.only[m_nextOnly++];
    std::string name;
    FileProblem problem;
    const int folder = m_root->find(m_path, name, problem);
    if (folder >= 0)
        look(folder, name.c_str());
    else if (problem.failure != FileFailure::Absent)
        add(FileKind::Failed, {}, problem.reason);
}

void ListTask::look(int folder, const char *name)
{
    struct stat status
    {
    };
    if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        // Removed since its folder was read: it is not there, which is no failure.
        if (errno != ENOENT)
            add(FileKind::Failed, {}, std::string("its status could not be read (") + std::strerror(errno) + ")");
        return;
    }
    const FileStatus known = toFileStatus(status);
    if (status.st_dev != m_device) {
        add(FileKind::Skipped, known, "another file system");
    } else if (S_ISREG(status.st_mode)) {
        add(FileKind::File, known, {});
    } else if (S_ISLNK(status.st_mode)) {
        add(FileKind::Link, known, linkTarget(folder, name));
    } else if (S_ISDIR(status.st_mode)) {
        add(FileKind::Folder, known, {});
        enter(folder, name);
    } else {
        add(FileKind::Skipped, known, whySkipped(status.st_mode));
    }
}

void ListTask::enter(int folder, const char *name)
{
    if (m_levels.size() >= deepest) {
        add(FileKind::Failed, {}, "the folder is too deep to be entered");
        return;
    }
    const int opened = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    DIR *stream = opened < 0 ? nullptr : ::fdopendir(opened);
    if (stream) {
        m_levels.push_back({std::unique_ptr<DIR, CloseFolder>(stream), m_path.size()});
        return;
    }
    add(FileKind::Failed, {}, std::string("the folder could not be opened (") + std::strerror(errno) + ")");
    if (opened >= 0)
        ::close(opened);
}

void ListTask::add(FileKind kind, const FileStatus &status, std::string target)
{
    m_batchBytes += ListedItem::leastBytes + m_path.size() + target.size();
    m_batch.items.push_back({kind, status, m_path, std::move(target)});
    if (m_batchBytes >= flushListAtBytes)
        flush();
}

void ListTask::flush()
{
    if (m_batch.items.empty())
        return;
    send(FrameType::FilesListed, m_batch.encode());
    m_batch.items.clear();
    m_batchBytes = 0;
}

HashTask::HashTask(HashPayload asked, const FileRoots &roots, Connection &to)
    : FileTask(asked.request, to), m_asked(std::move(asked))
{
    FileProblem problem;
    m_root = openForReading(roots, m_asked.root, problem);
    if (!m_root)
        end(problem.failure, problem.reason);
}

void HashTask::openNext()
{
    FileProblem problem;
    const auto index = std::uint32_t(m_next);
    const std::string &path = m_asked.only[m_next++];
    if (!openRegular(*m_root, path, m_open, problem)) {
        addProblem(index, problem.failure, problem.reason);
        return;
    }
    sha256_init(&m_hash);
    m_offset = 0;
}

void HashTask::readPiece()
{
    const ssize_t got = readAt(m_open.file.get(), sizeof pieceBuffer, m_offset);
    if (got > 0) {
        sha256_update(&m_hash, std::size_t(got), reinterpret_cast<const std::uint8_t *>(pieceBuffer));
        m_offset += std::uint64_t(got);
        return;
    }
    ResultItem result = closeRegular(m_open, std::uint32_t(m_next - 1), m_asked.only[m_next - 1], got);
    if (result.failure == FileFailure::None) {
        std::uint8_t digest[SHA256_DIGEST_SIZE];
        sha256_digest(&m_hash, sizeof digest, digest);
        result.hash.assign(reinterpret_cast<const char *>(digest), sizeof digest);
    }
    addResult(std::move(result));
}

bool HashTask::work(const Slice &slice)
{
    while (m_root && !slice.isOver()) {
        if (m_open.file.isOpen())
            readPiece();
        else if (m_next >= m_asked.only.size())
            return true;
        else
            openNext();
    }
    return !m_root;
}

ReadTask::ReadTask(ReadPayload asked, const FileRoots &roots, Connection &to)
    : FileTask(asked.request, to), m_asked(std::move(asked))
{
    FileProblem problem;
    m_root = openForReading(roots, m_asked.root, problem);
    if (!m_root)
        end(problem.failure, problem.reason);
}

bool ReadTask::addCredit(std::uint32_t bytes)
{
    if (bytes > fileWindowBytes - m_credit)
        return false;
    m_credit += bytes;
    return true;
}

void ReadTask::openNext()
{
    FileProblem problem;
    const auto index = std::uint32_t(m_next);
    const ReadPart &part = m_asked.parts[m_next++];
    if (!openRegular(*m_root, part.path, m_open, problem)) {
        addProblem(index, problem.failure, problem.reason);
        return;
    }
    m_offset = part.offset;
    m_left = part.most;
}

void ReadTask::readPiece()
{
    const auto index = std::uint32_t(m_next - 1);
    const std::size_t most =
        std::size_t(std::min<std::uint64_t>({sizeof pieceBuffer, m_left, std::uint64_t(m_credit)}));
    const ssize_t got = most ? readAt(m_open.file.get(), most, m_offset) : 0;
    if (got <= 0) {
        addResult(closeRegular(m_open, index, m_asked.parts[index].path, got));
        return;
    }
    // Results of earlier parts come before this one's bytes.
    flushResults();
    std::string payload = FileDataPayload{request(), index, {}}.encodeHead();
    payload.append(pieceBuffer, std::size_t(got));
    send(FrameType::FilesData, payload);
    m_offset += std::uint64_t(got);
    m_left -= std::uint64_t(got);
    m_credit -= std::uint32_t(got);
}

bool ReadTask::work(const Slice &slice)
{
    while (m_root && m_credit > 0 && !slice.isOver()) {
        if (m_open.file.isOpen())
            readPiece();
        else if (m_next >= m_asked.parts.size())
            return true;
        else
            openNext();
    }
    return !m_root;
}

} // namespace sandbox
