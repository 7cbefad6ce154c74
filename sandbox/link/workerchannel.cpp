#include "sandbox/link/workerchannel.h"

#include "sandbox/protocol/bytes.h"
#include "sandbox/protocol/messages.h"

#include <QPointer>

namespace sandbox {

namespace {

constexpr qint64 readAtOnce = 1024 * 1024;

QString toQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

Failure failureOf(Reason reason)
{
    switch (reason) {
    case Reason::Stale:
    case Reason::TakenOver:
        return Failure::Stale;
    case Reason::NotOwner:
        return Failure::Refused;
    case Reason::ShuttingDown:
        return Failure::Unreachable;
    case Reason::Version:
    case Reason::Protocol:
        break;
    }
    return Failure::Protocol;
}

} // namespace

WorkerChannel::WorkerChannel(std::unique_ptr<ByteLink> link) : m_link(std::move(link))
{
    m_limit.setSingleShot(true);
    connect(&m_limit, &QTimer::timeout, this, [this] {
        fail(Failure::Unreachable,
             QStringLiteral("The worker behind %1 did not answer in time: it is stopped or hangs. "
                            "Try again, or remove the sandbox of this session.")
                 .arg(m_link->peerName()));
    });
    connect(m_link.get(), &ByteLink::readyRead, this, &WorkerChannel::receive);
    connect(m_link.get(), &ByteLink::ended, this, &WorkerChannel::linkEnded);
}

WorkerChannel::~WorkerChannel()
{
    disconnect(m_link.get(), nullptr, this, nullptr);
    m_link->abort();
    if (m_attaching) {
        m_attaching->addResult(tl::unexpected<Error>(Error{
            Failure::Unreachable, QStringLiteral("The channel to %1 was given up.").arg(m_link->peerName()), {}}));
        m_attaching->finish();
    }
}

QFuture<Result<void>> WorkerChannel::attach(const QString &sessionId, int generation, quint64 epoch, Offsets received,
                                          std::chrono::milliseconds limit)
{
    m_attaching = std::make_unique<QPromise<Result<void>>>();
    m_attaching->start();
    const QFuture<Result<void>> future = m_attaching->future();
    m_limit.start(limit);
    HelloPayload hello;
    hello.session = sessionId.toStdString();
    hello.generation = quint32(generation);
    hello.epoch = epoch;
    hello.receivedOutput = received.output;
    hello.receivedError = received.errorOutput;
    connect(m_link.get(), &ByteLink::opened, this,
            [this, bytes = hello.encode()] { write(FrameType::Hello, bytes); });
    m_link->open();
    return future;
}

void WorkerChannel::write(FrameType type, std::string_view head, std::string_view tail)
{
    if (m_ended)
        return;
    std::string frame;
    frame.reserve(frameHeaderBytes + head.size() + tail.size());
    appendFrame(frame, type, head, tail);
    m_link->write(frame.data(), qint64(frame.size()));
}

void WorkerChannel::launch(const LaunchSpec &spec)
{
    LaunchPayload payload;
    for (const QString &argument : spec.argv)
        payload.argv.push_back(argument.toStdString());
    for (auto at = spec.environment.cbegin(); at != spec.environment.cend(); ++at)
        payload.environment.emplace_back(at.key().toStdString(), at.value().toStdString());
    payload.workingFolder = spec.workingFolder.toStdString();
    payload.lockFile = spec.lockFile.toStdString();
    m_launching = true;
    write(FrameType::Launch, payload.encode());
}

void WorkerChannel::send(const QString &id, const QByteArray &bytes)
{
    const std::string head = InputPayload::encodeHead(id.toStdString());
    if (id.isEmpty() || head.size() + std::size_t(bytes.size()) > maxToWorkerBytes) {
        const QString reason = id.isEmpty() ? QStringLiteral("an input needs an id")
                                            : QStringLiteral("%1 bytes are more than one input may hold (%2)")
                                                  .arg(bytes.size())
                                                  .arg(maxToWorkerBytes);
        QMetaObject::invokeMethod(
            this, [this, id, reason] { emit inputRefused(id, reason); }, Qt::QueuedConnection);
        return;
    }
    write(FrameType::Input, head, std::string_view(bytes.constData(), std::size_t(bytes.size())));
}

void WorkerChannel::closeInput()
{
    write(FrameType::CloseInput);
}

void WorkerChannel::acknowledge(Offsets stored)
{
    if (m_launch > 0)
        write(FrameType::Ack, AckPayload{m_launch, stored.output, stored.errorOutput}.encode());
}

void WorkerChannel::signalHarness(int signal)
{
    write(FrameType::Signal, ByteWriter().u32(quint32(signal)).bytes());
}

void WorkerChannel::killHarness()
{
    write(FrameType::Kill);
}

FileAccess *WorkerChannel::files()
{
    return m_welcome.capabilities.contains(QLatin1String(filesCapability)) ? &m_files : nullptr;
}

void WorkerChannel::connectNotify(const QMetaMethod &)
{
    if (m_started)
        return;
    m_started = true;
    // Later, so that the same function's other connections are made too.
    QMetaObject::invokeMethod(this, &WorkerChannel::dispatch, Qt::QueuedConnection);
}

void WorkerChannel::slurp()
{
    const qint64 wanted = qMin(m_link->bytesAvailable(), readAtOnce);
    const qint64 got = m_link->read(m_decoder.space(std::size_t(wanted)), wanted);
    m_decoder.filled(std::size_t(qMax<qint64>(got, 0)));
}

void WorkerChannel::receive()
{
    QPointer<WorkerChannel> self(this);
    while (self && !m_ended && (m_started || !m_welcomed) && m_link->bytesAvailable() > 0) {
        slurp();
        dispatch();
    }
}

// Frames are handled in order and one at a time, also when a slot runs an event loop or ends the channel.
void WorkerChannel::dispatch()
{
    if (m_dispatching)
        return;
    m_dispatching = true;
    QPointer<WorkerChannel> self(this);
    Frame frame;
    while (!m_ended && (m_started || !m_welcomed)) {
        const FrameDecoder::Step step = m_decoder.next(frame);
        if (step == FrameDecoder::Step::NeedMore) {
            if (m_linkGone)
                fail(Failure::Unreachable,
                     QStringLiteral(
                         "The connection to the worker behind %1 ended (%2). Its harness goes on if the worker "
                         "still lives; otherwise it ended with it.")
                         .arg(m_link->peerName(), m_link->errorText()));
            else if (m_link->bytesAvailable() > 0) // came while nobody listened
                QMetaObject::invokeMethod(this, &WorkerChannel::receive, Qt::QueuedConnection);
            break;
        }
        if (step == FrameDecoder::Step::Broken) {
            fail(Failure::Protocol, QStringLiteral("The worker behind %1 sent %2. The channel was closed; the harness "
                                                   "goes on.")
                                        .arg(m_link->peerName(), QString::fromStdString(m_decoder.error())));
            break;
        }
        const bool understood = m_welcomed ? apply(frame) : greeted(frame);
        if (!self)
            return;
        if (!understood)
            fail(Failure::Protocol,
                 QStringLiteral("The worker behind %1 sent a malformed frame of type %2. The channel "
                                "was closed; the harness goes on.")
                     .arg(m_link->peerName())
                     .arg(int(frame.type)));
    }
    m_dispatching = false;
    if (m_ended)
        emitClosed();
}

bool WorkerChannel::greeted(const Frame &frame)
{
    if (frame.type == FrameType::Refused) {
        ReasonPayload refused;
        if (!ReasonPayload::decode(frame.payload, refused))
            return false;
        fail(failureOf(refused.reason), QString::fromStdString(refused.text));
        return true;
    }
    WelcomePayload payload;
    if (frame.type != FrameType::Welcome || !WelcomePayload::decode(frame.payload, payload))
        return false;
    for (const std::string &capability : payload.capabilities)
        m_welcome.capabilities.append(QString::fromStdString(capability));
    for (const QString &capability : std::as_const(m_welcome.capabilities)) {
        if (capability.startsWith(QLatin1String(gatewayCapability)))
            m_welcome.gatewayPort = QStringView(capability).mid(qstrlen(gatewayCapability)).toInt();
    }
    m_welcome.generation = int(payload.generation);
    m_welcome.launched = payload.launched;
    m_welcome.exited = payload.exited;
    m_welcome.exitCode = payload.exitCode;
    m_welcome.pid = payload.pid;
    m_welcome.launchCount = payload.launch;
    m_welcome.lastInputId = QString::fromStdString(payload.lastInputId);
    m_welcome.available = {payload.endOutput, payload.endError};
    m_welcome.oldest = {payload.oldestOutput, payload.oldestError};
    m_launch = payload.launch;
    m_harnessLives = payload.launched && !payload.exited;
    m_welcomed = true;
    m_limit.stop();
    m_attaching->addResult(Result<void>{});
    m_attaching->finish();
    m_attaching.reset();
    return true;
}

bool WorkerChannel::apply(const Frame &frame)
{
    switch (frame.type) {
    case FrameType::Output:
        return applyChunk(frame, Stream::Output);
    case FrameType::ErrorOutput:
        return applyChunk(frame, Stream::ErrorOutput);
    case FrameType::Launched:
        return applyLaunched(frame);
    case FrameType::LaunchFailed:
        m_launching = false;
        emit launchFailed(toQString(frame.payload));
        return true;
    case FrameType::InputWritten:
    case FrameType::InputRefused:
        return applyInput(frame);
    case FrameType::Exit:
        return applyExit(frame);
    case FrameType::Closed: {
        ReasonPayload closing;
        if (!ReasonPayload::decode(frame.payload, closing))
            return false;
        fail(failureOf(closing.reason), QString::fromStdString(closing.text));
        return true;
    }
    case FrameType::Ping:
        write(FrameType::Pong, std::string(frame.payload));
        return frame.payload.size() == 8;
    case FrameType::Pong:
    case FrameType::Status:
        return true;
    case FrameType::GatewayOpened:
    case FrameType::GatewayReceived:
    case FrameType::GatewayEnded:
    case FrameType::GatewayWasReset:
    case FrameType::GatewayTaken:
        return m_gateway.apply(frame);
    case FrameType::FilesListed:
    case FrameType::FilesResults:
    case FrameType::FilesData:
    case FrameType::FilesTaken:
    case FrameType::FilesDone:
        return m_files.apply(frame);
    case FrameType::FilesList:
    case FrameType::FilesHash:
    case FrameType::FilesRead:
    case FrameType::FilesCredit:
    case FrameType::FilesCancel:
    case FrameType::FilesPut:
    case FrameType::FilesPutData:
    case FrameType::FilesFinish:
    case FrameType::FilesChange:
    case FrameType::GatewayData:
    case FrameType::GatewayEnd:
    case FrameType::GatewayReset:
    case FrameType::GatewayCredit:
    case FrameType::Hello:
    case FrameType::Launch:
    case FrameType::Input:
    case FrameType::CloseInput:
    case FrameType::Ack:
    case FrameType::Signal:
    case FrameType::Kill:
    case FrameType::Shutdown:
    case FrameType::Probe:
    case FrameType::Welcome:
    case FrameType::Refused:
        break;
    }
    return false;
}

bool WorkerChannel::applyChunk(const Frame &frame, Stream stream)
{
    ChunkPayload chunk;
    if (!ChunkPayload::decode(frame.payload, chunk))
        return false;
    const bool givenUp = m_launching && !m_harnessLives;
    if (chunk.launch == m_launch && !givenUp)
        emit received(stream, chunk.offset, QByteArray(chunk.bytes.data(), qsizetype(chunk.bytes.size())));
    return true;
}

bool WorkerChannel::applyLaunched(const Frame &frame)
{
    LaunchNumber launched;
    if (!LaunchNumber::decodeLaunched(frame.payload, launched))
        return false;
    m_launch = launched.launch;
    m_launching = false;
    m_harnessLives = true;
    m_welcome.launched = true;
    m_welcome.exited = false;
    m_welcome.pid = launched.number;
    m_welcome.launchCount = launched.launch;
    m_welcome.lastInputId.clear();
    emit this->launched(launched.number);
    return true;
}

bool WorkerChannel::applyExit(const Frame &frame)
{
    LaunchNumber exit;
    if (!LaunchNumber::decodeExit(frame.payload, exit))
        return false;
    const bool givenUp = m_launching && !m_harnessLives;
    if (exit.launch != m_launch || givenUp)
        return true;
    m_harnessLives = false;
    m_welcome.exited = true;
    m_welcome.exitCode = int(exit.number);
    emit exited(int(exit.number));
    return true;
}

bool WorkerChannel::applyInput(const Frame &frame)
{
    InputPayload input;
    if (!InputPayload::decode(frame.payload, input))
        return false;
    if (frame.type == FrameType::InputWritten)
        emit inputWritten(toQString(input.id));
    else
        emit inputRefused(toQString(input.id), toQString(input.rest));
    return true;
}

void WorkerChannel::fail(Failure failure, const QString &message, const QString &detail)
{
    if (m_ended)
        return;
    m_ended = true;
    m_error = {failure, message, detail};
    m_limit.stop();
    m_link->abort();
    m_files.fail(m_error);
    if (m_attaching) {
        m_attaching->addResult(tl::unexpected<Error>(m_error));
        m_attaching->finish();
        m_attaching.reset();
    }
    emitClosed();
}

// What was received before the end is still handled: a refusal or an exit may be in it.
void WorkerChannel::linkEnded()
{
    while (m_link->bytesAvailable() > 0)
        slurp();
    m_linkGone = true;
    dispatch();
}

void WorkerChannel::emitClosed()
{
    if (m_closed || m_dispatching || !m_started || !m_welcomed)
        return;
    m_closed = true;
    emit closed(m_error);
}

} // namespace sandbox
