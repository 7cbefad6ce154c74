#include "sandbox/worker/describe.h"

#include <cstdio>
#include <cstring>
#include <sstream>
#include <unistd.h>

namespace sandbox {

namespace {

std::string readAll(const char *path)
{
    FILE *file = std::fopen(path, "re");
    if (!file)
        return {};
    std::string text;
    char piece[4096];
    std::size_t got = 0;
    while ((got = std::fread(piece, 1, sizeof piece, file)) > 0)
        text.append(piece, got);
    std::fclose(file);
    return text;
}

// Every set of capabilities of every process counts: the bounding set is what could ever be regained.
void describeStatus(std::ostringstream &to)
{
    std::istringstream lines(readAll("/proc/1/status"));
    std::string key;
    bool anyCapability = false;
    bool known = false;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string value;
        words >> key >> value;
        if (key == "Uid:")
            to << "uid=" << value << '\n';
        else if (key == "NoNewPrivs:")
            to << "noNewPrivileges=" << value << '\n';
        else if (key == "Seccomp:")
            to << "seccomp=" << value << '\n';
        else if (key.rfind("Cap", 0) == 0) {
            known = true;
            anyCapability = anyCapability || value.find_first_not_of('0') != std::string::npos;
        }
    }
    if (known)
        to << "capabilities=" << (anyCapability ? "some" : "0") << '\n';
}

void describeRoot(std::ostringstream &to)
{
    std::istringstream lines(readAll("/proc/1/mounts"));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string source, target, type, options;
        words >> source >> target >> type >> options;
        if (target == "/")
            to << "root=" << (options.rfind("ro", 0) == 0 ? "ro" : "rw") << '\n';
    }
}

void describeNetwork(std::ostringstream &to)
{
    std::istringstream devices(readAll("/proc/1/net/dev"));
    std::string names;
    for (std::string line; std::getline(devices, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos)
            continue;
        const std::size_t start = line.find_first_not_of(' ');
        names += (names.empty() ? "" : ",") + line.substr(start, colon - start);
    }
    if (!names.empty())
        to << "devices=" << names << '\n';
    const std::string routes = readAll("/proc/1/net/route");
    if (routes.empty())
        return;
    int count = -1; // the heading
    for (const char byte : routes)
        count += byte == '\n';
    to << "routes=" << count << '\n';
}

} // namespace

std::string describeContainer()
{
    std::ostringstream to;
    describeStatus(to);
    describeRoot(to);
    describeNetwork(to);
    const bool socket = ::access("/var/run/docker.sock", F_OK) == 0 || ::access("/run/docker.sock", F_OK) == 0;
    to << "engineSocket=" << (socket ? "present" : "absent") << '\n';
    return to.str();
}

} // namespace sandbox
