#pragma once

#include "sandbox/host/workerfiles.h"
#include "sandbox/sandbox.h"

#include <chrono>

namespace sandbox {

struct HostOptions
{
    quint64 journalBytes = 256ull * 1024 * 1024; // unacknowledged output that is kept per stream
    std::chrono::milliseconds unusedLife = std::chrono::minutes(10);
    std::chrono::milliseconds endedLife = std::chrono::hours(24);
    std::chrono::milliseconds answerLimit = std::chrono::seconds(10);
    std::chrono::milliseconds endLimit = std::chrono::seconds(8); // then a worker that was asked to end is killed
};

// Runs workers as plain processes of this user: no isolation. A worker is detached from the console and outlives it.
// Engine thread.
class HostProvider final : public Provider
{
public:
    // workerProgram: absolute path. runtimeFolder: sockets and records. stateFolder: where journals take disk space.
    HostProvider(const QString &workerProgram, const QString &runtimeFolder, const QString &stateFolder,
                 const HostOptions &options = {});

    QString name() const override { return QStringLiteral("host"); }
    Capabilities capabilities() const override { return {}; }
    QCoro::Task<Result<Computer>> ensure(ComputerSpec spec) override;
    QCoro::Task<Result<std::optional<Computer>>> find(QString sessionId, int generation) override;
    QCoro::Task<Result<QList<Computer>>> list() override;
    QCoro::Task<Result<std::unique_ptr<Channel>>> open(Computer computer, quint64 epoch, Offsets received) override;
    QCoro::Task<Result<void>> pause(Computer computer) override;
    QCoro::Task<Result<void>> resume(Computer computer) override;
    QCoro::Task<Result<void>> destroy(Computer computer) override;

private:
    QCoro::Task<Result<void>> fenceOlder(QString sessionId, int generation);
    QCoro::Task<Result<void>> start(WorkerFiles files, ComputerSpec spec);
    QCoro::Task<Result<void>> probe(WorkerFiles files);
    QCoro::Task<bool> endWorker(WorkerFiles files, Computer computer);
    Result<void> checkProgram() const;
    QStringList arguments(const WorkerFiles &files, const ComputerSpec &spec) const;

    QString m_workerProgram;
    QString m_runtimeFolder;
    QString m_stateFolder;
    HostOptions m_options;
};

} // namespace sandbox
