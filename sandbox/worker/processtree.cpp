#include "sandbox/worker/processtree.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <unordered_map>

namespace sandbox {

namespace {

struct ProcessLine
{
    pid_t parent = -1;
    char state = 'Z';
};

bool readProcess(const char *pid, ProcessLine &to)
{
    const std::string path = std::string("/proc/") + pid + "/stat";
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char line[1024];
    const ssize_t got = ::read(fd, line, sizeof line - 1);
    ::close(fd);
    if (got <= 0)
        return false;
    line[got] = 0;
    // The name in parentheses may hold anything, also parentheses.
    const char *end = std::strrchr(line, ')');
    int parent = 0;
    if (!end || std::sscanf(end + 1, " %c %d", &to.state, &parent) != 2)
        return false;
    to.parent = parent;
    return true;
}

} // namespace

std::vector<pid_t> descendantsOf(pid_t root)
{
    std::unordered_map<pid_t, std::vector<pid_t>> children;
    std::unordered_map<pid_t, char> states;
    DIR *folder = ::opendir("/proc");
    if (!folder)
        return {};
    while (const dirent *entry = ::readdir(folder)) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        ProcessLine line;
        if (!readProcess(entry->d_name, line))
            continue;
        const pid_t pid = pid_t(std::atoi(entry->d_name));
        children[line.parent].push_back(pid);
        states[pid] = line.state;
    }
    ::closedir(folder);

    std::vector<pid_t> found;
    std::vector<pid_t> open{root};
    while (!open.empty()) {
        const pid_t parent = open.back();
        open.pop_back();
        for (const pid_t child : children[parent]) {
            open.push_back(child);
            if (states[child] != 'Z' && states[child] != 'X')
                found.push_back(child);
        }
    }
    return found;
}

} // namespace sandbox
