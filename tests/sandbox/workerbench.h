#pragma once

#include "sandbox/host/hostprovider.h"
#include "sandbox/host/processes.h"

#include <QCoroTask>
#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

// Generous, so that a loaded machine fails nothing.
#define EVENTUALLY(condition) QTRY_VERIFY_WITH_TIMEOUT(condition, 20000)
#define EVENTUALLY_EQUAL(actual, expected) QTRY_COMPARE_WITH_TIMEOUT(actual, expected, 20000)

namespace sandbox {

// Everything one channel said.
struct Heard
{
    QByteArray output;
    QByteArray errorOutput;
    quint64 outputEnd = 0;
    bool gap = false;
    QStringList written;
    QStringList refused;
    QList<qint64> launches;
    QStringList launchFailures;
    QList<int> exits;
    QList<Error> closed;
    bool keep = true; // else bytes are only counted

    void listen(Channel *channel, Offsets from = {})
    {
        outputEnd = from.output;
        QObject::connect(channel, &Channel::received, channel,
                         [this](Stream stream, quint64 offset, const QByteArray &bytes) {
                             if (stream == Stream::ErrorOutput) {
                                 errorOutput += bytes;
                                 return;
                             }
                             gap = gap || offset != outputEnd;
                             outputEnd = offset + quint64(bytes.size());
                             if (keep)
                                 output += bytes;
                         });
        QObject::connect(channel, &Channel::launched, channel, [this](qint64 pid) { launches.append(pid); });
        QObject::connect(channel, &Channel::launchFailed, channel,
                         [this](const QString &m) { launchFailures.append(m); });
        QObject::connect(channel, &Channel::inputWritten, channel, [this](const QString &id) { written.append(id); });
        QObject::connect(channel, &Channel::inputRefused, channel,
                         [this](const QString &id, const QString &why) { refused.append(id + u": " + why); });
        QObject::connect(channel, &Channel::exited, channel, [this](int code) { exits.append(code); });
        QObject::connect(channel, &Channel::closed, channel, [this](const Error &error) { closed.append(error); });
    }
};

// A provider with folders of its own; whatever it started is gone with it.
class WorkerBench
{
public:
    explicit WorkerBench(const HostOptions &options = {})
        : provider(QStringLiteral(BINARY_DIR "/bin/signalbox-worker"), folder.filePath(QStringLiteral("run")),
                   folder.filePath(QStringLiteral("state")), options)
    {
        QDir().mkpath(folder.filePath(QStringLiteral("state")));
    }

    ~WorkerBench()
    {
        const auto computers = QCoro::waitFor(provider.list());
        for (const Computer &computer : computers.value_or(QList<Computer>{}))
            QCoro::waitFor(provider.destroy(computer));
    }

    Computer ensure(const QString &session = QStringLiteral("s1"), int generation = 1)
    {
        ComputerSpec spec;
        spec.sessionId = session;
        spec.generation = generation;
        const auto made = QCoro::waitFor(provider.ensure(spec));
        if (!made)
            qWarning("ensure: %s", qPrintable(made.error().message));
        return made.value_or(Computer{});
    }

    std::unique_ptr<Channel> open(const Computer &computer, quint64 epoch, Offsets received = {})
    {
        auto opened = QCoro::waitFor(provider.open(computer, epoch, received));
        if (!opened) {
            lastError = opened.error();
            return nullptr;
        }
        return std::move(*opened);
    }

    WorkerFiles files(const Computer &computer) const
    {
        return *WorkerFiles::of(folder.filePath(QStringLiteral("run")), computer.sessionId, computer.generation);
    }

    // The session's processes, by the worker's mark.
    qsizetype processCount(const Computer &computer) const { return processesOfWorker(files(computer).socket).size(); }

    QStringList leftFiles() const
    {
        return QDir(folder.filePath(QStringLiteral("run")))
            .entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot);
    }

    QTemporaryDir folder;
    HostProvider provider;
    Error lastError;
};

inline LaunchSpec shell(const QString &script, const QString &lockFile = {})
{
    LaunchSpec spec;
    spec.argv = {QStringLiteral("/bin/sh"), QStringLiteral("-c"), script};
    spec.environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/bin:/bin"));
    spec.workingFolder = QStringLiteral("/");
    spec.lockFile = lockFile;
    return spec;
}

// What `seq 1 count` prints.
inline QByteArray sequence(int count)
{
    QByteArray text;
    for (int i = 1; i <= count; ++i)
        text += QByteArray::number(i) + '\n';
    return text;
}

} // namespace sandbox
