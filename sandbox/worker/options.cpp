#include "sandbox/worker/options.h"

#include <charconv>
#include <string_view>
#include <unistd.h>

namespace sandbox {

namespace {

template<class Number> bool toNumber(std::string_view text, Number &to)
{
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), to);
    return failure == std::errc() && end == text.data() + text.size();
}

bool setOption(std::string_view name, std::string_view value, WorkerOptions &to)
{
    if (name == "--listen")
        to.listen = value;
    else if (name == "--session")
        to.session = value;
    else if (name == "--pid-file")
        to.pidFile = value;
    else if (name == "--record-file")
        to.recordFile = value;
    else if (name == "--journal-folder")
        to.journalFolder = value;
    else if (name == "--files-root") {
        to.fileRoots.emplace_back(value);
        return value.size() > 1 && value.front() == '/';
    } else if (name == "--generation")
        return toNumber(value, to.generation);
    else if (name == "--journal-cap")
        return toNumber(value, to.journalCap) && to.journalCap > 0;
    else if (name == "--owner")
        return toNumber(value, to.owner);
    else if (name == "--unused-ms")
        return toNumber(value, to.unusedMs);
    else if (name == "--ended-ms")
        return toNumber(value, to.endedMs);
    else if (name == "--gateway-port")
        return toNumber(value, to.gatewayPort) && to.gatewayPort >= 0 && to.gatewayPort <= 65535;
    else
        return false;
    return true;
}

} // namespace

bool parseOptions(int argc, char **argv, WorkerOptions &to, std::string &error)
{
    to.owner = geteuid();
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--foreground") {
            to.foreground = true;
            continue;
        }
        if (name == "--stdio-link") {
            to.stdioLink = true;
            continue;
        }
        if (i + 1 >= argc || !setOption(name, argv[i + 1], to)) {
            error = "signalbox-worker: option " + std::string(name) + " is unknown, has no value or a bad one";
            return false;
        }
        ++i;
    }
    if (to.listen.empty() || to.session.empty()) {
        error = "signalbox-worker: --listen and --session are needed. It is started by signalbox, not by hand.";
        return false;
    }
    return true;
}

} // namespace sandbox
