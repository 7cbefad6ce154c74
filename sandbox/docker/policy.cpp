#include "sandbox/docker/policy.h"

#include <QCryptographicHash>
#include <QMap>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

constexpr int userId = 1000;
constexpr int openFiles = 4096;
constexpr int stopSeconds = 5;
constexpr int memoryOverRoom = 500; // OomScoreAdj: an agent goes before anything of the person's

std::string text(QLatin1String value)
{
    return value.data();
}

std::string temporaryOptions(const ContainerPlan &plan)
{
    std::string options =
        "rw,nosuid,nodev,exec,size=" + std::to_string(plan.limits.temporaryBytes / (1024 * 1024)) + "m,mode=1777";
    // An older runc puts the image's own mode over ours; with the owner given, the agent can write all the same.
    if (!plan.isPodman)
        options += ",uid=" + std::to_string(userId) + ",gid=" + std::to_string(userId);
    return options;
}

json workerArguments(const ContainerPlan &plan)
{
    json arguments = {"--foreground",
                      "--stdio-link",
                      "--listen",
                      text(containerpath::workerSocket),
                      "--session",
                      plan.sessionId.toStdString(),
                      "--generation",
                      std::to_string(plan.generation),
                      "--journal-folder",
                      text(containerpath::journal),
                      "--owner",
                      "0",
                      "--files-root",
                      text(containerpath::session)};
    if (plan.gatewayPort > 0) {
        arguments.push_back("--gateway-port");
        arguments.push_back(std::to_string(plan.gatewayPort));
    }
    if (plan.journalBytes > 0) {
        arguments.push_back("--journal-cap");
        arguments.push_back(std::to_string(plan.journalBytes));
    }
    return arguments;
}

json mounts(const ContainerPlan &plan)
{
    return {{{"Type", "volume"},
             {"Source", plan.workerVolume.toStdString()},
             {"Target", text(containerpath::workerFolder)},
             {"ReadOnly", true}},
            {{"Type", "volume"},
             {"Source", plan.sessionVolume.toStdString()},
             {"Target", text(containerpath::session)}}};
}

json hostConfig(const ContainerPlan &plan)
{
    const auto limit = [](const char *name, int value) {
        return json{{"Name", name}, {"Soft", value}, {"Hard", value}};
    };
    json config = {{"NetworkMode", "none"},
                   {"ReadonlyRootfs", true},
                   {"Privileged", false},
                   {"CapDrop", {"ALL"}},
                   {"CapAdd", json::array()},
                   {"SecurityOpt", {"no-new-privileges:true"}},
                   {"Memory", plan.limits.memoryBytes},
                   {"MemorySwap", plan.limits.memoryBytes}, // no swap beyond it
                   {"OomScoreAdj", memoryOverRoom},
                   {"PidsLimit", plan.limits.processes},
                   {"NanoCpus", qint64(plan.limits.cpus * 1e9)},
                   {"IpcMode", "none"},
                   {"PidMode", ""},
                   {"UTSMode", ""},
                   {"Init", false}, // the worker reaps
                   {"Binds", json::array()},
                   {"Devices", json::array()},
                   {"PublishAllPorts", false},
                   {"Tmpfs", {{"/tmp", temporaryOptions(plan)}}},
                   {"Mounts", mounts(plan)},
                   {"Ulimits", {limit("nofile", openFiles), limit("core", 0)}},
                   {"RestartPolicy", {{"Name", "no"}, {"MaximumRetryCount", 0}}},
                   {"AutoRemove", false}};
    if (!plan.isPodman) {
        config["CgroupnsMode"] = "private";
        config["MemorySwappiness"] = 0;
        config["LogConfig"] = {{"Type", "none"}, {"Config", json::object()}};
    }
    return config;
}

std::string askedOf(const ContainerPlan &plan)
{
    return json{{"memory", plan.limits.memoryBytes},
                {"cpus", plan.limits.cpus},
                {"processes", plan.limits.processes},
                {"temporary", plan.limits.temporaryBytes},
                {"worker", plan.workerVolume.toStdString()},
                {"session", plan.sessionVolume.toStdString()}}
        .dump();
}

json createObject(const ContainerPlan &plan)
{
    json labels = {{text(containerlabel::install), plan.installId.toStdString()},
                   {text(containerlabel::session), plan.sessionId.toStdString()},
                   {text(containerlabel::generation), std::to_string(plan.generation)},
                   {text(containerlabel::asked), askedOf(plan)},
                   {text(containerlabel::purpose), "session"}};
    for (auto at = plan.labels.cbegin(); at != plan.labels.cend(); ++at)
        labels[at.key().toStdString()] = at.value().toStdString();
    return {{"Image", plan.image.toStdString()},
            {"User", std::to_string(userId) + ":" + std::to_string(userId)},
            {"WorkingDir", text(containerpath::session)},
            {"Hostname", "session"},
            {"Entrypoint", {text(containerpath::worker)}},
            {"Cmd", workerArguments(plan)},
            {"Env", {"HOME=" + text(containerpath::home), "PATH=/usr/local/bin:/usr/bin:/bin"}},
            {"Tty", false},
            // Its standard streams are the worker's first channel.
            {"OpenStdin", true},
            {"StdinOnce", true},
            {"AttachStdin", true},
            {"AttachStdout", true},
            {"AttachStderr", false},
            {"NetworkDisabled", true},
            {"StopSignal", "SIGTERM"},
            {"StopTimeout", stopSeconds},
            {"Labels", labels},
            {"HostConfig", hostConfig(plan)}};
}

// Reads an inspect reply with paths that may lack; collects the checklist.
class Checklist
{
public:
    Checklist(const json &inspect, QList<HardeningItem> &to) : m_inspect(inspect), m_to(to) {}

    const json &at(const char *path) const
    {
        static const json none;
        const json::json_pointer pointer(path);
        return m_inspect.contains(pointer) ? m_inspect.at(pointer) : none;
    }

    void equal(const char *path, const QString &title, const json &wanted)
    {
        const json &found = at(path);
        add(path, title, say(wanted), say(found), found == wanted);
    }

    void emptyOrAbsent(const char *path, const QString &title)
    {
        const json &found = at(path);
        add(path, title, QStringLiteral("none"), found.empty() ? QStringLiteral("none") : say(found), found.empty());
    }

    void add(const QString &key, const QString &title, const QString &wanted, const QString &found, bool holds)
    {
        m_to.append({key.startsWith(u'/') ? key.mid(1).replace(u'/', u'.') : key, title, wanted, found, holds});
    }

    static QString say(const json &value)
    {
        if (value.is_null())
            return QStringLiteral("nothing");
        return value.is_string() ? QString::fromStdString(value.get<std::string>())
                                 : QString::fromStdString(value.dump());
    }

private:
    const json &m_inspect;
    QList<HardeningItem> &m_to;
};

void checkPrivileges(Checklist &list)
{
    list.equal("/Config/User", QStringLiteral("Runs as an ordinary user, not as root"), "1000:1000");
    list.equal("/HostConfig/ReadonlyRootfs", QStringLiteral("The system inside cannot be changed"), true);
    const json &dropped = list.at("/HostConfig/CapDrop");
    bool all = false;
    for (const json &capability : dropped.is_array() ? dropped : json::array())
        all = all || capability == "ALL";
    // Podman names each of them instead.
    all = all || (dropped.is_array() && dropped.size() >= 11);
    list.add(QStringLiteral("HostConfig.CapDrop"), QStringLiteral("All privileges of root are dropped"),
             QStringLiteral("ALL"), Checklist::say(dropped), all);
    list.emptyOrAbsent("/HostConfig/CapAdd", QStringLiteral("No privilege is added"));
    bool noNew = false;
    const json &options = list.at("/HostConfig/SecurityOpt");
    for (const json &option : options.is_array() ? options : json::array())
        noNew = noNew || option == "no-new-privileges:true" || option == "no-new-privileges";
    list.add(QStringLiteral("HostConfig.SecurityOpt"), QStringLiteral("No program can gain privileges"),
             QStringLiteral("no-new-privileges"), Checklist::say(options), noNew);
    list.equal("/HostConfig/Privileged", QStringLiteral("Not a privileged container"), false);
}

void checkSeparation(Checklist &list, const ContainerPlan &plan)
{
    if (!plan.isPodman)
        list.equal("/Config/NetworkDisabled", QStringLiteral("Has no network device"), true);
    list.equal("/HostConfig/NetworkMode", QStringLiteral("Has no network"), "none");
    list.equal("/HostConfig/IpcMode", QStringLiteral("Shares no memory with other programs"), "none");
    const json &pidMode = list.at("/HostConfig/PidMode");
    list.add(QStringLiteral("HostConfig.PidMode"), QStringLiteral("Sees no process of the host"),
             QStringLiteral("private"), Checklist::say(pidMode), pidMode != "host");
    if (!plan.isPodman)
        list.equal("/HostConfig/CgroupnsMode", QStringLiteral("Sees no limits of others"), "private");
    list.emptyOrAbsent("/HostConfig/Devices", QStringLiteral("Has no device of the host"));
    list.emptyOrAbsent("/HostConfig/PortBindings", QStringLiteral("Opens no port on the host"));
}

void checkLimits(Checklist &list, const ContainerPlan &plan)
{
    list.equal("/HostConfig/Memory", QStringLiteral("Memory is limited"), plan.limits.memoryBytes);
    list.equal("/HostConfig/MemorySwap", QStringLiteral("Cannot swap beyond it"), plan.limits.memoryBytes);
    list.equal("/HostConfig/NanoCpus", QStringLiteral("Processor time is limited"), qint64(plan.limits.cpus * 1e9));
    list.equal("/HostConfig/PidsLimit", QStringLiteral("The number of processes is limited"), plan.limits.processes);
}

// Nothing but our two volumes: no folder of the host, and so no engine socket either.
void checkMounts(Checklist &list, const ContainerPlan &plan)
{
    list.emptyOrAbsent("/HostConfig/Binds", QStringLiteral("No folder of the host is mounted"));
    QStringList found;
    bool onlyOurs = true;
    bool workerReadOnly = false;
    const json &mounted = list.at("/Mounts");
    for (const json &mount : mounted.is_array() ? mounted : json::array()) {
        const QString name = QString::fromStdString(mount.value("Name", ""));
        const QString target = QString::fromStdString(mount.value("Destination", ""));
        const bool writable = mount.value("RW", true);
        // Podman lists its temporary file systems here as well.
        if (mount.value("Type", "") == "tmpfs" && target == QLatin1String("/tmp"))
            continue;
        found.append(QStringLiteral("%1 at %2%3").arg(name, target, writable ? QString() : QStringLiteral(" (read only)")));
        const bool isSession = name == plan.sessionVolume && target == containerpath::session;
        const bool isWorker = name == plan.workerVolume && target == containerpath::workerFolder;
        onlyOurs = onlyOurs && mount.value("Type", "") == "volume" && (isSession || isWorker);
        workerReadOnly = workerReadOnly || (isWorker && !writable);
    }
    list.add(QStringLiteral("Mounts"), QStringLiteral("Only the session's own volume can be written"),
             QStringLiteral("the session's volume and the worker, read only"), found.join(QStringLiteral(", ")),
             onlyOurs && workerReadOnly && found.size() == 2);
}

} // namespace

QByteArray createBody(const ContainerPlan &plan)
{
    return QByteArray::fromStdString(createObject(plan).dump());
}

QString planDigest(const ContainerPlan &plan)
{
    ContainerPlan common = plan;
    common.name.clear();
    common.generation = 0;
    common.labels.clear();
    const QByteArray body = createBody(common);
    return QString::fromLatin1(QCryptographicHash::hash(body, QCryptographicHash::Sha256).toHex().left(16));
}

QList<HardeningItem> compareWithInspect(const ContainerPlan &plan, const QByteArray &inspect)
{
    QList<HardeningItem> items;
    const json parsed = json::parse(inspect.begin(), inspect.end(), nullptr, false);
    if (!parsed.is_object()) {
        items.append({QStringLiteral("inspect"), QStringLiteral("The container can be inspected"),
                      QStringLiteral("a description"), QStringLiteral("nothing readable"), false});
        return items;
    }
    Checklist list(parsed, items);
    checkPrivileges(list);
    checkSeparation(list, plan);
    checkMounts(list, plan);
    checkLimits(list, plan);
    return items;
}

ContainerPlan ContainerPlan::ofInspect(const QByteArray &inspect, bool isPodman)
{
    ContainerPlan plan;
    plan.isPodman = isPodman;
    const json parsed = json::parse(inspect.begin(), inspect.end(), nullptr, false);
    const json::json_pointer path("/Config/Labels/" + text(containerlabel::asked));
    if (!parsed.is_object() || !parsed.contains(path) || !parsed.at(path).is_string())
        return plan;
    const json asked = json::parse(parsed.at(path).get<std::string>(), nullptr, false);
    if (!asked.is_object())
        return plan;
    plan.limits.memoryBytes = asked.value("memory", qint64(0));
    plan.limits.cpus = asked.value("cpus", 0.0);
    plan.limits.processes = asked.value("processes", 0);
    plan.limits.temporaryBytes = asked.value("temporary", qint64(0));
    plan.workerVolume = QString::fromStdString(asked.value("worker", ""));
    plan.sessionVolume = QString::fromStdString(asked.value("session", ""));
    return plan;
}

QList<HardeningItem> compareWithInside(const QByteArray &described)
{
    QMap<QString, QString> facts;
    for (const QByteArray &line : described.split('\n')) {
        const qsizetype equals = line.indexOf('=');
        if (equals > 0)
            facts.insert(QString::fromUtf8(line.left(equals)), QString::fromUtf8(line.mid(equals + 1)));
    }
    struct Wanted
    {
        const char *key;
        const char *title;
        const char *value;
    };
    static constexpr Wanted wanted[] = {
        {"uid", "Seen from inside: an ordinary user", "1000"},
        {"capabilities", "Seen from inside: no privileges", "0"},
        {"noNewPrivileges", "Seen from inside: none to be gained", "1"},
        {"seccomp", "Seen from inside: system calls are filtered", "2"},
        {"root", "Seen from inside: the system is read only", "ro"},
        {"devices", "Seen from inside: no network device but its own loopback", "lo"},
        {"routes", "Seen from inside: no way out", "0"},
        {"engineSocket", "Seen from inside: no engine socket", "absent"},
    };
    QList<HardeningItem> items;
    for (const Wanted &one : wanted) {
        const QString found = facts.value(QLatin1String(one.key), QStringLiteral("not told"));
        items.append({QStringLiteral("inside.") + QLatin1String(one.key), QLatin1String(one.title), QLatin1String(one.value), found,
                      found == QLatin1String(one.value)});
    }
    return items;
}

bool isHard(const QList<HardeningItem> &items)
{
    return !items.isEmpty() && std::all_of(items.begin(), items.end(), [](const HardeningItem &item) { return item.holds; });
}

} // namespace sandbox
