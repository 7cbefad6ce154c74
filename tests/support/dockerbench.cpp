#include "support/dockerbench.h"

#include "sandbox/docker/imagebuilder.h"

#include <QCoroTask>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QThread>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sys/mount.h>

namespace {

constexpr int startMs = 60 * 1000;
constexpr int endMs = 30 * 1000;

// Processes whose command line or mount names the folder: containerd and shims that a killed daemon left.
QList<pid_t> processesNaming(const QString &folder)
{
    QList<pid_t> found;
    const QStringList entries = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &entry : entries) {
        bool isPid = false;
        const int pid = entry.toInt(&isPid);
        QFile line(QStringLiteral("/proc/%1/cmdline").arg(entry));
        if (isPid && line.open(QIODevice::ReadOnly) && line.readAll().contains(folder.toUtf8()))
            found.append(pid);
    }
    return found;
}

} // namespace

QString agentBaseArchive(QString &error)
{
    const QString path = qEnvironmentVariable("SIGNALBOX_AGENT_BASE");
    if (!path.isEmpty() && QFile::exists(path))
        return path;
    error = QStringLiteral("SIGNALBOX_AGENT_BASE names no base system. Run: export SIGNALBOX_AGENT_BASE=\"$(installer/agentbase.sh)\"");
    return {};
}

TestDockerd::TestDockerd(bool liveRestore) : m_liveRestore(liveRestore) {}

TestDockerd::~TestDockerd()
{
    if (!isRunning())
        start(); // containers may have outlived it
    removeContainers();
    stop();
    m_containerd.terminate();
    m_containerd.waitForFinished(endMs);
    endStrays();
}

bool TestDockerd::startContainerd()
{
    if (m_containerd.state() != QProcess::NotRunning)
        return true;
    m_containerd.setStandardOutputFile(QProcess::nullDevice());
    m_containerd.setStandardErrorFile(m_folder.filePath(QStringLiteral("containerd.log")), QIODevice::Append);
    m_containerd.start(QStringLiteral("containerd"),
                       {QStringLiteral("--root"), m_folder.filePath(QStringLiteral("containerd")), QStringLiteral("--state"),
                        m_folder.filePath(QStringLiteral("cstate")), QStringLiteral("--address"),
                        m_folder.filePath(QStringLiteral("containerd.sock"))});
    if (m_containerd.waitForStarted())
        return true;
    m_error = QStringLiteral("containerd can't be started (%1). Install docker.io and run as root.").arg(m_containerd.errorString());
    return false;
}

bool TestDockerd::start()
{
    if (!startContainerd())
        return false;
    QStringList arguments{QStringLiteral("--data-root"), m_folder.filePath(QStringLiteral("data")),
                          QStringLiteral("--exec-root"), m_folder.filePath(QStringLiteral("exec")),
                          QStringLiteral("--pidfile"),   m_folder.filePath(QStringLiteral("pid")),
                          QStringLiteral("--containerd"), m_folder.filePath(QStringLiteral("containerd.sock")),
                          QStringLiteral("-H"),          QStringLiteral("unix://") + socketPath(),
                          QStringLiteral("--bridge=none"), QStringLiteral("--iptables=false"),
                          QStringLiteral("--ip6tables=false"), QStringLiteral("--log-level=warn")};
    if (m_liveRestore)
        arguments.append(QStringLiteral("--live-restore"));
    m_process.setStandardOutputFile(m_folder.filePath(QStringLiteral("log")), QIODevice::Append);
    m_process.setStandardErrorFile(m_folder.filePath(QStringLiteral("log")), QIODevice::Append);
    // The first one may be quicker than containerd's socket.
    for (int attempt = 0; attempt < 3; ++attempt) {
        QFile::remove(m_folder.filePath(QStringLiteral("pid")));
        m_process.start(QStringLiteral("dockerd"), arguments);
        if (!m_process.waitForStarted()) {
            m_error = QStringLiteral("dockerd can't be started (%1). Install docker.io and run as root.").arg(m_process.errorString());
            return false;
        }
        QElapsedTimer timer;
        timer.start();
        while (isRunning() && timer.elapsed() < startMs) {
            sandbox::DockerClient client(socketPath());
            const auto engine = QCoro::waitFor(client.connect());
            if (engine)
                return true;
            m_error = engine.error().message;
            m_process.waitForFinished(50);
        }
    }
    QFile log(m_folder.filePath(QStringLiteral("log")));
    if (log.open(QIODevice::ReadOnly))
        m_error += QStringLiteral("\n") + QString::fromUtf8(log.readAll().right(2000));
    return false;
}

bool TestDockerd::stop()
{
    if (!isRunning())
        return true;
    m_process.terminate();
    if (m_process.waitForFinished(endMs))
        return true;
    return kill();
}

bool TestDockerd::kill()
{
    m_process.kill();
    return m_process.waitForFinished(endMs);
}

void TestDockerd::removeContainers()
{
    using nlohmann::json;
    sandbox::DockerClient client(socketPath());
    if (!QCoro::waitFor(client.connect()))
        return;
    sandbox::DockerRequest list;
    list.path = QStringLiteral("/containers/json");
    list.query.addQueryItem(QStringLiteral("all"), QStringLiteral("1"));
    const auto listed = QCoro::waitFor(client.request(list));
    if (!listed)
        return;
    const json parsed = json::parse(listed->body.begin(), listed->body.end(), nullptr, false);
    for (const json &one : parsed.is_array() ? parsed : json::array()) {
        sandbox::DockerRequest remove;
        remove.method = "DELETE";
        remove.path = QStringLiteral("/containers/%1").arg(QString::fromStdString(one.value("Id", "")));
        remove.query.addQueryItem(QStringLiteral("force"), QStringLiteral("1"));
        remove.query.addQueryItem(QStringLiteral("v"), QStringLiteral("1"));
        QCoro::waitFor(client.request(remove));
    }
}

void TestDockerd::endStrays()
{
    for (const int signal : {SIGTERM, SIGKILL}) {
        for (int round = 0; round < 50 && !processesNaming(m_folder.path()).isEmpty(); ++round) {
            for (const pid_t pid : processesNaming(m_folder.path()))
                ::kill(pid, signal);
            QThread::msleep(20);
        }
    }
    // What it mounted and did not unmount would keep the folder; the deepest first.
    QFile mounts(QStringLiteral("/proc/self/mounts"));
    QStringList below;
    if (mounts.open(QIODevice::ReadOnly)) {
        for (const QByteArray &line : mounts.readAll().split('\n')) {
            const QList<QByteArray> words = line.split(' ');
            if (words.size() > 1 && words[1].startsWith(m_folder.path().toUtf8()))
                below.prepend(QString::fromUtf8(words[1]));
        }
    }
    for (const QString &path : std::as_const(below))
        ::umount2(path.toUtf8().constData(), MNT_DETACH);
}

bool TestDockerd::importBase(const QString &tag)
{
    const QString archive = agentBaseArchive(m_error);
    if (archive.isEmpty())
        return false;
    sandbox::DockerClient client(socketPath());
    QFile file(archive);
    const auto engine = QCoro::waitFor(client.connect());
    if (!engine || !file.open(QIODevice::ReadOnly)) {
        m_error = engine ? file.errorString() : engine.error().message;
        return false;
    }
    sandbox::DockerRequest import;
    import.method = "POST";
    import.path = QStringLiteral("/images/create");
    import.query.addQueryItem(QStringLiteral("fromSrc"), QStringLiteral("-"));
    import.query.addQueryItem(QStringLiteral("repo"), tag.section(u':', 0, 0));
    import.query.addQueryItem(QStringLiteral("tag"), tag.section(u':', 1));
    import.contentType = "application/x-tar";
    import.upload = &file;
    const auto reply = QCoro::waitFor(client.request(import));
    m_error = reply ? reply->message() : reply.error().message;
    return reply && reply->status == 200;
}
