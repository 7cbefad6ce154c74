#pragma once

#include "sandbox/protocol/filemessages.h"
#include "sandbox/worker/fd.h"

#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace sandbox {

// Why something about one file failed, for a result.
struct FileProblem
{
    FileFailure failure = FileFailure::None;
    std::string reason;

    static FileProblem ofErrno(const std::string &doing, std::string_view path);
};

FileStatus toFileStatus(const struct stat &status);

// The folders below which files may be touched, opened part by part without following symbolic links, so that nothing
// swapped meanwhile leads out. An opened root remembers the folder used last: files of one folder come together.
class FileRoots
{
public:
    explicit FileRoots(std::vector<std::string> allowed);
    bool isEmpty() const { return m_allowed.empty(); }
    // make: missing folders between the allowed one and the root are made.
    bool open(std::string_view root, Fd &to, FileProblem &problem, bool make = false) const;

private:
    std::vector<std::string> m_allowed;
};

// The folder that holds a path, below one opened root.
class FolderOfPath
{
public:
    explicit FolderOfPath(Fd root) : m_root(std::move(root)) {}
    // Answers the folder's descriptor (owned here) and the last part's name; -1 with the problem.
    int find(std::string_view path, std::string &name, FileProblem &problem);
    int root() const { return m_root.get(); }

private:
    Fd m_root;
    std::string m_foundPath;
    Fd m_found;
};

// A path that names something below a root: not absolute, no empty, `.` or `..` part.
bool isPlainPath(std::string_view path);
// The mode of what the descriptor (O_PATH will do) refers to.
bool setModeOf(int fd, mode_t mode);

} // namespace sandbox
