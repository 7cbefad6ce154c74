#include "sandbox/worker/filewriting.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace sandbox {

namespace {

constexpr std::uint32_t tellTakenAtBytes = 512 * 1024;
constexpr std::size_t deepestRemoval = 400;

Fd openPlace(int folder, const std::string &name)
{
    return Fd(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

bool isOfKind(const Fd &place, mode_t kind)
{
    struct stat status
    {
    };
    return place.isOpen() && ::fstat(place.get(), &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

} // namespace

PutTask::PutTask(std::uint32_t request, const FileRoots &roots, Connection &to) : FileTask(request, to), m_roots(roots)
{
}

PutTask::~PutTask()
{
    dropTemporary();
}

void PutTask::dropTemporary()
{
    if (!m_temporaryName.empty())
        ::unlinkat(m_folder, m_temporaryName.c_str(), 0);
    m_temporaryName.clear();
    m_file.close();
}

void PutTask::fail(const FileProblem &problem)
{
    dropTemporary();
    addProblem(m_put.index, problem.failure, problem.reason);
    m_failed = true;
}

bool PutTask::begin(const PutPayload &put)
{
    if (m_open || m_finished)
        return false;
    m_put = put;
    m_put.bytes = {};
    m_left = put.size;
    m_open = true;
    m_failed = false;
    makeTemporary(put);
    return take(put.bytes);
}

void PutTask::makeTemporary(const PutPayload &put)
{
    FileProblem problem;
    if (!m_root || m_rootPath != put.root) {
        Fd root;
        if (!m_roots.open(put.root, root, problem)) {
            fail(problem);
            return;
        }
        m_root = std::make_unique<FolderOfPath>(std::move(root));
        m_rootPath = put.root;
    }
    m_folder = m_root->find(put.path, m_name, problem);
    if (m_folder < 0) {
        fail(problem);
        return;
    }
    char name[64];
    for (unsigned attempt = 0; attempt < 100 && !m_file.isOpen(); ++attempt) {
        std::snprintf(name, sizeof name, ".signalbox-put-%u-%u-%u", unsigned(::getpid()), request(), attempt);
        m_file = Fd(::openat(m_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!m_file.isOpen() && errno != EEXIST)
            break;
    }
    if (!m_file.isOpen()) {
        fail(FileProblem::ofErrno("written", put.path));
        return;
    }
    m_temporaryName = name;
}

bool PutTask::take(std::string_view bytes)
{
    if (!m_open || bytes.size() > m_left)
        return false;
    if (!m_failed)
        write(bytes);
    m_left -= bytes.size();
    m_untold += std::uint32_t(bytes.size());
    if (m_left == 0)
        complete();
    if (m_untold >= tellTakenAtBytes || (m_untold > 0 && !m_open)) {
        send(FrameType::FilesTaken, encodeFilesNumber(request(), m_untold));
        m_untold = 0;
    }
    return true;
}

void PutTask::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(m_file.get(), bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            fail(FileProblem::ofErrno("written", m_put.path));
            return;
        }
        bytes.remove_prefix(std::size_t(wrote));
    }
}

void PutTask::complete()
{
    m_open = false;
    if (m_failed)
        return;
    const timespec times[2] = {{0, UTIME_OMIT},
                               {time_t(m_put.modified / 1'000'000'000), long(m_put.modified % 1'000'000'000)}};
    const bool timed = m_put.modified <= 0 || ::futimens(m_file.get(), times) == 0;
    struct stat status
    {
    };
    if (!timed || ::fchmod(m_file.get(), m_put.mode & 07777) != 0 ||
        (m_put.durable && ::fsync(m_file.get()) != 0) ||
        ::renameat(m_folder, m_temporaryName.c_str(), m_folder, m_name.c_str()) != 0 ||
        ::fstat(m_file.get(), &status) != 0) {
        fail(FileProblem::ofErrno("written", m_put.path));
        return;
    }
    m_temporaryName.clear();
    m_file.close();
    ResultItem result;
    result.index = m_put.index;
    result.status = toFileStatus(status);
    addResult(std::move(result));
}

bool PutTask::finishAsked()
{
    m_finished = true;
    return !m_open;
}

ChangeTask::ChangeTask(ChangePayload asked, const FileRoots &roots, Connection &to)
    : FileTask(asked.request, to), m_asked(std::move(asked))
{
    FileProblem problem;
    Fd root;
    const bool makes = !m_asked.changes.empty() && m_asked.changes.front().path.empty() &&
                       m_asked.changes.front().kind == ChangeKind::MakeFolder;
    if (roots.open(m_asked.root, root, problem, makes))
        m_root = std::make_unique<FolderOfPath>(std::move(root));
    else
        end(problem.failure, problem.reason);
}

bool ChangeTask::work(const Slice &slice)
{
    while (m_root && !slice.isOver()) {
        if (!m_levels.empty())
            removeStep();
        else if (m_next >= m_asked.changes.size())
            return true;
        else
            apply(m_asked.changes[m_next++]);
    }
    return !m_root;
}

void ChangeTask::failCurrent(const FileProblem &problem)
{
    addProblem(std::uint32_t(m_next - 1), problem.failure, problem.reason);
}

void ChangeTask::apply(const FileChangeItem &change)
{
    if (change.path.empty() && change.kind == ChangeKind::MakeFolder) {
        if (change.mode && !setModeOf(m_root->root(), change.mode))
            failCurrent(FileProblem::ofErrno("given its mode", m_asked.root));
        return;
    }
    std::string name;
    FileProblem problem;
    const int folder = m_root->find(change.path, name, problem);
    if (folder < 0) {
        if (change.kind != ChangeKind::Remove || problem.failure != FileFailure::Absent)
            failCurrent(problem);
        return;
    }
    switch (change.kind) {
    case ChangeKind::MakeFolder:
        makeFolder(folder, name, change);
        break;
    case ChangeKind::MakeLink:
        makeLink(folder, name, change);
        break;
    case ChangeKind::Remove:
        m_removeFrom = folder;
        remove(folder, name);
        break;
    case ChangeKind::SetMode:
        setMode(folder, name, change);
        break;
    }
}

void ChangeTask::makeFolder(int folder, const std::string &name, const FileChangeItem &change)
{
    if (::mkdirat(folder, name.c_str(), 0700) != 0 && errno != EEXIST)
        failCurrent(FileProblem::ofErrno("made", change.path));
    else
        setMode(folder, name, change);
}

void ChangeTask::setMode(int folder, const std::string &name, const FileChangeItem &change)
{
    const Fd place = openPlace(folder, name);
    if (!place.isOpen())
        return failCurrent(FileProblem::ofErrno("given its mode", change.path));
    const bool wantsFolder = change.kind == ChangeKind::MakeFolder;
    if (isOfKind(place, S_IFLNK) || (wantsFolder && !isOfKind(place, S_IFDIR)))
        return failCurrent({FileFailure::Refused, change.path + (wantsFolder ? " is there and is not a folder"
                                                                             : " is a symbolic link without a mode")});
    if (!setModeOf(place.get(), change.mode))
        failCurrent(FileProblem::ofErrno("given its mode", change.path));
}

void ChangeTask::makeLink(int folder, const std::string &name, const FileChangeItem &change)
{
    const std::string temporary = ".signalbox-put-" + std::to_string(::getpid()) + "-link";
    ::unlinkat(folder, temporary.c_str(), 0);
    if (::symlinkat(change.target.c_str(), folder, temporary.c_str()) != 0 ||
        ::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) {
        failCurrent(FileProblem::ofErrno("made", change.path));
        ::unlinkat(folder, temporary.c_str(), 0);
    }
}

void ChangeTask::remove(int folder, const std::string &name)
{
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) {
        if (!m_levels.empty())
            m_levels.back().removed = true;
        return;
    }
    if (errno == EISDIR && ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) {
        if (!m_levels.empty())
            m_levels.back().removed = true;
        return;
    }
    if ((errno == ENOTEMPTY || errno == EEXIST) && enter(folder, name))
        return;
    failCurrent(FileProblem::ofErrno("removed", name));
    m_levels.clear();
}

bool ChangeTask::enter(int folder, const std::string &name)
{
    if (m_levels.size() >= deepestRemoval)
        return false;
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    // A folder without access for its owner still is to go.
    const Fd place = openPlace(folder, name);
    if (isOfKind(place, S_IFDIR))
        setModeOf(place.get(), 0700);
    const int opened = ::openat(folder, name.c_str(), flags);
    DIR *stream = opened < 0 ? nullptr : ::fdopendir(opened);
    if (!stream) {
        if (opened >= 0)
            ::close(opened);
        return false;
    }
    m_levels.push_back({std::unique_ptr<DIR, CloseFolder>(stream), name});
    return true;
}

void ChangeTask::removeStep()
{
    DIR *folder = m_levels.back().folder.get();
    const dirent *entry = ::readdir(folder);
    if (entry) {
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
            remove(::dirfd(folder), entry->d_name);
        return;
    }
    // Entries may be missed while others are removed: until a whole pass removes nothing.
    if (std::exchange(m_levels.back().removed, false)) {
        ::rewinddir(folder);
        return;
    }
    const std::string name = m_levels.back().name;
    m_levels.pop_back();
    const int above = m_levels.empty() ? m_removeFrom : ::dirfd(m_levels.back().folder.get());
    if (::unlinkat(above, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
        if (!m_levels.empty())
            m_levels.back().removed = true;
        return;
    }
    failCurrent(FileProblem::ofErrno("removed", name));
    m_levels.clear();
}

} // namespace sandbox
