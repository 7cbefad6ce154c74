#include "sandbox/host/hostprovider.h"

#include "sandbox/host/processes.h"
#include "sandbox/host/programrun.h"
#include "sandbox/link/locallink.h"
#include "sandbox/link/workerchannel.h"
#include "sandbox/protocol/messages.h"

#include <QCoroFuture>
#include <QCoroLocalSocket>
#include <QDir>
#include <QFileInfo>
#include <QLocalSocket>
#include <csignal>

namespace sandbox {

namespace {

constexpr int exitAlreadyRunning = 3;
constexpr std::chrono::milliseconds startLimit{15000};

tl::unexpected<Error> failure(Failure kind, const QString &message, const QString &detail = {})
{
    return tl::unexpected<Error>(Error{kind, message, detail});
}

Computer toComputer(const WorkerFiles &files, const WorkerRecord &record)
{
    Computer computer;
    computer.id = files.name;
    computer.sessionId = record.sessionId;
    computer.generation = record.generation;
    computer.labels = record.labels;
    computer.state = files.isAlive() ? ComputerState::Running : ComputerState::Stopped;
    return computer;
}

void writeFrame(QLocalSocket &socket, FrameType type, const std::string &payload)
{
    const std::string frame = makeFrame(type, payload);
    socket.write(frame.data(), qint64(frame.size()));
    socket.flush();
}

} // namespace

HostProvider::HostProvider(const QString &workerProgram, const QString &runtimeFolder, const QString &stateFolder,
                           const HostOptions &options)
    : m_workerProgram(workerProgram), m_runtimeFolder(QDir::cleanPath(QDir(runtimeFolder).absolutePath())),
      m_stateFolder(QDir(stateFolder).absolutePath()), m_options(options)
{
}

QCoro::Task<Result<Computer>> HostProvider::ensure(ComputerSpec spec)
{
    const Result<void> folder = prepareRuntimeFolder(m_runtimeFolder);
    if (!folder)
        co_return tl::unexpected<Error>(folder.error());
    const Result<WorkerFiles> files = WorkerFiles::of(m_runtimeFolder, spec.sessionId, spec.generation);
    if (!files)
        co_return tl::unexpected<Error>(files.error());
    const Result<void> fenced = co_await fenceOlder(spec.sessionId, spec.generation);
    if (!fenced)
        co_return tl::unexpected<Error>(fenced.error());
    if (!files->isAlive()) {
        const Result<void> started = co_await start(*files, spec);
        if (!started)
            co_return tl::unexpected<Error>(started.error());
    }
    const Result<void> answered = co_await probe(*files);
    if (!answered)
        co_return tl::unexpected<Error>(answered.error());
    const WorkerRecord made{spec.sessionId, spec.generation, spec.labels};
    co_return toComputer(*files, readRecord(files->record).value_or(made));
}

// One session, one living generation: two harnesses must never work on the same conversation.
QCoro::Task<Result<void>> HostProvider::fenceOlder(QString sessionId, int generation)
{
    const Result<QList<WorkerRecord>> records = readRecords(m_runtimeFolder);
    if (!records)
        co_return tl::unexpected<Error>(records.error());
    for (const WorkerRecord &record : *records) {
        if (record.sessionId != sessionId || record.generation == generation)
            continue;
        if (record.generation > generation)
            co_return failure(Failure::Stale,
                              QStringLiteral("Generation %1 of session %2 was asked for, but generation %3 "
                                             "exists: another console has moved the session on. Reload it.")
                                  .arg(generation)
                                  .arg(sessionId)
                                  .arg(record.generation));
        Computer older;
        older.sessionId = record.sessionId;
        older.generation = record.generation;
        const Result<void> ended = co_await destroy(older);
        if (!ended)
            co_return ended;
    }
    co_return Result<void>{};
}

Result<void> HostProvider::checkProgram() const
{
    const QFileInfo program(m_workerProgram);
    if (!program.isFile())
        return failure(Failure::Refused,
                       QStringLiteral("Agents cannot be started: the worker program %1 does not exist. "
                                      "Install Signalbox again, or build the target signalbox-worker.")
                           .arg(m_workerProgram));
    if (!program.isExecutable())
        return failure(Failure::Refused, QStringLiteral("Agents cannot be started: the worker program %1 may not be "
                                                        "executed. Make it executable (chmod +x).")
                                             .arg(m_workerProgram));
    return {};
}

QStringList HostProvider::arguments(const WorkerFiles &files, const ComputerSpec &spec) const
{
    QStringList arguments{QStringLiteral("--listen"),         files.socket,
            QStringLiteral("--session"),        spec.sessionId,
            QStringLiteral("--generation"),     QString::number(spec.generation),
            QStringLiteral("--pid-file"),       files.pidFile,
            QStringLiteral("--record-file"),    files.record,
            QStringLiteral("--journal-folder"), m_stateFolder,
            QStringLiteral("--journal-cap"),    QString::number(m_options.journalBytes),
            QStringLiteral("--gateway-port"),   QStringLiteral("0"),
            QStringLiteral("--unused-ms"),      QString::number(m_options.unusedLife.count()),
            QStringLiteral("--ended-ms"),       QString::number(m_options.endedLife.count())};
    for (const QString &root : QStringList{spec.workspace} + spec.fileRoots) {
        if (QDir::isAbsolutePath(root))
            arguments << QStringLiteral("--files-root") << root;
    }
    return arguments;
}

// The program returns once its detached part listens, or with a reason.
QCoro::Task<Result<void>> HostProvider::start(WorkerFiles files, ComputerSpec spec)
{
    const Result<void> program = checkProgram();
    if (!program)
        co_return program;
    const bool cleaned = co_await endProcessesOfWorker(files.socket);
    if (!cleaned)
        co_return failure(Failure::Busy,
                          QStringLiteral("Session %1 was not started: processes that its last worker left "
                                         "behind cannot be ended. Look at them with a process viewer.")
                              .arg(spec.sessionId));
    const Result<void> recorded = writeRecord(files, {spec.sessionId, spec.generation, spec.labels});
    if (!recorded)
        co_return recorded;

    ProgramRun run(m_workerProgram, arguments(files, spec), startLimit);
    co_await run.ended();
    if (run.exitCode() == 0 || run.exitCode() == exitAlreadyRunning)
        co_return Result<void>{};
    if (!files.isAlive())
        files.remove();
    co_return failure(Failure::Refused,
                      QStringLiteral("The worker program %1 could not be started for session %2: %3. Check that this "
                                     "program belongs to this Signalbox and that %4 is writable.")
                          .arg(m_workerProgram, spec.sessionId, run.complaint(), m_runtimeFolder));
}

// Does a worker of ours answer there?
QCoro::Task<Result<void>> HostProvider::probe(WorkerFiles files)
{
    QLocalSocket socket;
    socket.connectToServer(files.socket);
    QString why = socket.errorString();
    if (socket.state() == QLocalSocket::ConnectedState) {
        writeFrame(socket, FrameType::Probe, encodeProbe());
        FrameDecoder decoder(maxFromWorkerBytes);
        why = QStringLiteral("no answer within %1 s").arg(m_options.answerLimit.count() / 1000.0);
        bool readable = true;
        while (readable) {
            const QByteArray bytes = socket.readAll();
            decoder.feed(std::string_view(bytes.constData(), std::size_t(bytes.size())));
            Frame frame;
            const FrameDecoder::Step step = decoder.next(frame);
            if (step == FrameDecoder::Step::Ready && frame.type == FrameType::Status)
                co_return Result<void>{};
            if (step != FrameDecoder::Step::NeedMore) {
                why = QStringLiteral("something else answers");
                break;
            }
            // A worker that dies now leaves a socket that is "ready" for ever and has nothing to read.
            if (socket.state() != QLocalSocket::ConnectedState) {
                why = QStringLiteral("it ended just now");
                break;
            }
            readable = co_await qCoro(socket).waitForReadyRead(m_options.answerLimit);
        }
    }
    co_return failure(Failure::Unreachable,
                      QStringLiteral("The worker behind %1 lives but cannot be spoken to: %2. Try "
                                     "again, or remove the sandbox of this session.")
                          .arg(files.socket, why));
}

QCoro::Task<Result<std::optional<Computer>>> HostProvider::find(QString sessionId, int generation)
{
    using Found = std::optional<Computer>;
    const Result<QList<WorkerRecord>> readable = readRecords(m_runtimeFolder);
    if (!readable)
        co_return tl::unexpected<Error>(readable.error());
    const Result<WorkerFiles> files = WorkerFiles::of(m_runtimeFolder, sessionId, generation);
    if (!files)
        co_return tl::unexpected<Error>(files.error());
    if (!files->exist())
        co_return Found{};
    const WorkerRecord known{sessionId, generation, {}};
    co_return Found{toComputer(*files, readRecord(files->record).value_or(known))};
}

QCoro::Task<Result<QList<Computer>>> HostProvider::list()
{
    const Result<QList<WorkerRecord>> records = readRecords(m_runtimeFolder);
    if (!records)
        co_return tl::unexpected<Error>(records.error());
    QList<Computer> computers;
    for (const WorkerRecord &record : *records) {
        const Result<WorkerFiles> files = WorkerFiles::of(m_runtimeFolder, record.sessionId, record.generation);
        if (files)
            computers.append(toComputer(*files, record));
    }
    co_return computers;
}

QCoro::Task<Result<std::unique_ptr<Channel>>> HostProvider::open(Computer computer, quint64 epoch, Offsets received)
{
    const Result<WorkerFiles> files = WorkerFiles::of(m_runtimeFolder, computer.sessionId, computer.generation);
    if (!files)
        co_return tl::unexpected<Error>(files.error());
    if (!files->isAlive())
        co_return failure(files->exist() ? Failure::Unreachable : Failure::Absent,
                          QStringLiteral("The worker %1 is gone, and its harness with it. Start the session's process "
                                         "again.")
                              .arg(files->name));
    auto channel = std::make_unique<WorkerChannel>(std::make_unique<LocalLink>(files->socket));
    const QFuture<Result<void>> attached =
        channel->attach(computer.sessionId, computer.generation, epoch, received, m_options.answerLimit);
    const Result<void> result = co_await attached;
    if (!result)
        co_return tl::unexpected<Error>(result.error());
    co_return std::unique_ptr<Channel>(std::move(channel));
}

QCoro::Task<Result<void>> HostProvider::pause(Computer computer)
{
    co_return failure(
        Failure::NotSupported,
        QStringLiteral("%1 runs on the host itself and cannot be paused. End it instead, or use a sandbox "
                       "provider that can pause.")
            .arg(computer.id));
}

QCoro::Task<Result<void>> HostProvider::resume(Computer computer)
{
    co_return failure(Failure::NotSupported,
                      QStringLiteral("%1 runs on the host itself; it cannot be paused, so nothing is to be resumed.")
                          .arg(computer.id));
}

QCoro::Task<Result<void>> HostProvider::destroy(Computer computer)
{
    const Result<WorkerFiles> files = WorkerFiles::of(m_runtimeFolder, computer.sessionId, computer.generation);
    if (!files)
        co_return tl::unexpected<Error>(files.error());
    if (!files->exist())
        co_return Result<void>{};
    const bool ended = co_await endWorker(*files, computer);
    const bool cleaned = co_await endProcessesOfWorker(files->socket);
    if (!ended || !cleaned || files->isAlive())
        co_return failure(Failure::Busy, QStringLiteral("%1 could not be removed: its worker (process %2) or processes "
                                                        "started by it cannot be ended. Look at them with a process "
                                                        "viewer and try again.")
                                             .arg(files->name)
                                             .arg(files->workerPid()));
    files->remove();
    co_return Result<void>{};
}

// By asking; a worker that does not end by itself is killed.
QCoro::Task<bool> HostProvider::endWorker(WorkerFiles files, Computer computer)
{
    if (!files.isAlive())
        co_return true;
    const qint64 pid = files.workerPid();
    QLocalSocket socket;
    socket.connectToServer(files.socket);
    if (socket.state() == QLocalSocket::ConnectedState) {
        ShutdownPayload shutdown;
        shutdown.session = computer.sessionId.toStdString();
        shutdown.generation = quint32(computer.generation);
        writeFrame(socket, FrameType::Shutdown, shutdown.encode());
        const bool gone = co_await untilGone(pid, m_options.endLimit);
        if (gone)
            co_return true;
    }
    if (pid <= 0 || !files.isAlive())
        co_return !files.isAlive();
    ::kill(pid_t(pid), SIGKILL);
    const bool gone = co_await untilGone(pid, m_options.endLimit);
    co_return gone;
}

} // namespace sandbox
