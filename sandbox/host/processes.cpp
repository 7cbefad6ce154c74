#include "sandbox/host/processes.h"

#include "sandbox/protocol/messages.h"

#include <QCoroFuture>
#include <QDir>
#include <QFile>
#include <QFuture>
#include <QPromise>
#include <QSet>
#include <QSocketNotifier>
#include <QTimer>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace sandbox {

namespace {

constexpr int maxRounds = 40;
constexpr std::chrono::milliseconds roundLimit{2000};

struct ProcessEntry
{
    qint64 pid = 0;
    qint64 parent = 0;
    bool zombie = false;
    bool marked = false;
};

QByteArray readProcFile(qint64 pid, const char *name)
{
    QFile file(QStringLiteral("/proc/%1/%2").arg(pid).arg(QLatin1String(name)));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

std::optional<ProcessEntry> readEntry(qint64 pid, const QByteArray &mark)
{
    const QByteArray stat = readProcFile(pid, "stat");
    const QList<QByteArray> fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
    if (fields.size() < 2)
        return std::nullopt;
    ProcessEntry entry;
    entry.pid = pid;
    entry.zombie = fields[0] == "Z" || fields[0] == "X";
    entry.parent = fields[1].toLongLong();
    const QByteArray environment = '\0' + readProcFile(pid, "environ") + '\0';
    entry.marked = environment.contains(mark);
    return entry;
}

} // namespace

// Waits on a pidfd, which names the process even when its number is used again.
class ProcessWatch
{
public:
    ProcessWatch(int fd, std::chrono::milliseconds limit) : m_fd(fd), m_notifier(fd, QSocketNotifier::Read)
    {
        m_promise.start();
        m_limit.setSingleShot(true);
        QObject::connect(&m_notifier, &QSocketNotifier::activated, &m_notifier, [this] { finish(true); });
        QObject::connect(&m_limit, &QTimer::timeout, &m_limit, [this] { finish(false); });
        m_limit.start(limit);
    }
    ~ProcessWatch()
    {
        m_notifier.setEnabled(false);
        ::close(m_fd);
    }
    QFuture<bool> gone() const { return m_promise.future(); }

private:
    void finish(bool gone)
    {
        m_notifier.setEnabled(false);
        if (m_promise.future().isFinished())
            return;
        m_promise.addResult(gone);
        m_promise.finish();
    }

    int m_fd = -1;
    QPromise<bool> m_promise;
    QSocketNotifier m_notifier;
    QTimer m_limit;
};

QCoro::Task<bool> untilGone(qint64 pid, std::chrono::milliseconds limit)
{
    const int fd = pid > 0 ? int(::syscall(SYS_pidfd_open, pid_t(pid), 0)) : -1;
    if (fd < 0)
        co_return pid <= 0 || ::kill(pid_t(pid), 0) != 0;
    ProcessWatch watch(fd, limit);
    const bool gone = co_await watch.gone();
    co_return gone;
}

QList<qint64> processesOfWorker(const QString &socketPath)
{
    const QByteArray mark = '\0' + QByteArray(workerVariable) + '=' + QFile::encodeName(socketPath) + '\0';
    QMultiHash<qint64, ProcessEntry> children;
    QList<qint64> open;
    const QStringList names = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs);
    for (const QString &name : names) {
        bool number = false;
        const qint64 pid = name.toLongLong(&number);
        const std::optional<ProcessEntry> entry = number ? readEntry(pid, mark) : std::nullopt;
        if (!entry)
            continue;
        children.insert(entry->parent, *entry);
        if (entry->marked && !entry->zombie)
            open.append(pid);
    }
    QSet<qint64> found(open.cbegin(), open.cend());
    while (!open.isEmpty()) {
        const QList<ProcessEntry> below = children.values(open.takeLast());
        for (const ProcessEntry &entry : below) {
            if (entry.zombie || found.contains(entry.pid))
                continue;
            found.insert(entry.pid);
            open.append(entry.pid);
        }
    }
    found.remove(::getpid());
    return found.values();
}

QCoro::Task<bool> endProcessesOfWorker(QString socketPath)
{
    for (int round = 0; round < maxRounds; ++round) {
        const QList<qint64> living = processesOfWorker(socketPath);
        if (living.isEmpty())
            co_return true;
        for (const qint64 pid : living)
            ::kill(pid_t(pid), SIGKILL);
        for (const qint64 pid : living) {
            const bool gone = co_await untilGone(pid, roundLimit);
            if (!gone)
                co_return false;
        }
    }
    co_return processesOfWorker(socketPath).isEmpty();
}

} // namespace sandbox
