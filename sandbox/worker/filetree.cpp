#include "sandbox/worker/filetree.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace sandbox {

namespace {

constexpr int openFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

std::int64_t nanoseconds(const timespec &time)
{
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileFailure failureOf(int error)
{
    switch (error) {
    case ENOENT:
        return FileFailure::Absent;
    case ELOOP:
    case ENOTDIR:
        return FileFailure::Refused;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return FileFailure::Full;
    default:
        return FileFailure::System;
    }
}

// One step further down; with `make` a missing folder is made first.
bool stepInto(Fd &folder, const std::string &part, bool make)
{
    int next = ::openat(folder.get(), part.c_str(), openFolderFlags);
    if (next < 0 && errno == ENOENT && make && (::mkdirat(folder.get(), part.c_str(), 0700) == 0 || errno == EEXIST))
        next = ::openat(folder.get(), part.c_str(), openFolderFlags);
    if (next < 0)
        return false;
    folder = Fd(next);
    return true;
}

bool walk(Fd &folder, std::string_view path, bool make)
{
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        if (!stepInto(folder, std::string(path.substr(0, slash)), make))
            return false;
        path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    }
    return true;
}

} // namespace

FileProblem FileProblem::ofErrno(const std::string &doing, std::string_view path)
{
    const int error = errno;
    std::string reason = std::string(path) + " could not be " + doing + " (";
    reason += error == ELOOP ? "a symbolic link is in its place" : std::strerror(error);
    return {failureOf(error), reason + ")"};
}

FileStatus toFileStatus(const struct stat &status)
{
    FileStatus to;
    to.mode = status.st_mode & 07777;
    to.size = std::uint64_t(status.st_size);
    to.modified = nanoseconds(status.st_mtim);
    to.changed = nanoseconds(status.st_ctim);
    to.inode = status.st_ino;
    return to;
}

bool isPlainPath(std::string_view path)
{
    if (path.empty() || path.find('\0') != std::string_view::npos)
        return false;
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t end = std::min(path.find('/', from), path.size());
        const std::string_view part = path.substr(from, end - from);
        if (part.empty() || part == "." || part == "..")
            return false;
        from = end + 1;
    }
    return true;
}

bool setModeOf(int fd, mode_t mode)
{
    const std::string own = "/proc/self/fd/" + std::to_string(fd);
    return ::chmod(own.c_str(), mode & 07777) == 0;
}

FileRoots::FileRoots(std::vector<std::string> allowed) : m_allowed(std::move(allowed))
{
    for (std::string &path : m_allowed) {
        while (path.size() > 1 && path.back() == '/')
            path.pop_back();
    }
}

bool FileRoots::open(std::string_view root, Fd &to, FileProblem &problem, bool make) const
{
    for (const std::string &allowed : m_allowed) {
        const bool below = root.size() > allowed.size() && root.substr(0, allowed.size()) == allowed &&
                           root[allowed.size()] == '/';
        const std::string_view rest = below ? root.substr(allowed.size() + 1) : std::string_view();
        if ((!below && root != allowed) || (below && !isPlainPath(rest)))
            continue;
        Fd folder(::open(allowed.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder.isOpen() || !walk(folder, rest, make)) {
            problem = FileProblem::ofErrno("opened as a folder", root);
            return false;
        }
        to = std::move(folder);
        return true;
    }
    problem = {FileFailure::Refused, std::string(root) + " is not below a folder that this worker was given for files"};
    return false;
}

int FolderOfPath::find(std::string_view path, std::string &name, FileProblem &problem)
{
    if (!isPlainPath(path)) {
        problem = {FileFailure::Refused,
                   "'" + std::string(path) + "' is no path below the root (no leading '/', no empty, '.' or '..' part)"};
        return -1;
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) {
        name = path;
        return m_root.get();
    }
    name = path.substr(slash + 1);
    const std::string_view folder = path.substr(0, slash);
    if (m_found.isOpen() && folder == m_foundPath)
        return m_found.get();
    Fd at(::fcntl(m_root.get(), F_DUPFD_CLOEXEC, 3));
    if (!at.isOpen() || !walk(at, folder, false)) {
        problem = FileProblem::ofErrno("reached", path);
        return -1;
    }
    m_foundPath = folder;
    m_found = std::move(at);
    return m_found.get();
}

} // namespace sandbox
