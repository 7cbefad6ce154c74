#include "engine/harness/claude/claudedriver.h"

#include "engine/harness/claude/claudecodec.h"

#include <QUuid>

namespace engine::claude {
namespace {

const QString initializeId = QStringLiteral("sb-initialize");

// Ids of our own requests never repeat: the worker would take a second one for the first sent again.
QString freshRequestId()
{
    return QStringLiteral("sb-") + QUuid::createUuid().toString(QUuid::WithoutBraces);
}

// The harness wants a UUID for a prompt; the same prompt gets the same one.
QString promptUuid(const QString &id)
{
    if (!QUuid::fromString(id).isNull())
        return QUuid::fromString(id).toString(QUuid::WithoutBraces);
    static const QUuid space(QStringLiteral("{6f1c3a52-8a0e-4c59-9a53-54d41a1f5d0c}"));
    QByteArray bytes = QUuid::createUuidV5(space, id).toRfc4122();
    bytes[6] = char((uchar(bytes[6]) & 0x0f) | 0x40);
    return QUuid::fromRfc4122(bytes).toString(QUuid::WithoutBraces);
}

} // namespace

DriverOutput ClaudeDriver::begin(const LaunchContext &context)
{
    m_gate = context.agent.gate;
    m_expectedSession = context.session.native.nativeSessionId;
    m_sent.insert(initializeId, {QStringLiteral("initialize"), {}});
    write(initializeId, initializeLine(initializeId, !m_tools.tools().isEmpty()));
    return flush();
}

DriverOutput ClaudeDriver::feed(const QByteArray &line)
{
    const QList<Line> lines = decode(line);
    for (const Line &one : lines)
        apply(one);
    return flush();
}

void ClaudeDriver::apply(const Line &line)
{
    m_line = line.text;
    checkIdentity(line.sessionId);
    std::visit([this](const auto &message) { take(message); }, line.message);
    m_line.clear();
}

void ClaudeDriver::checkIdentity(const QString &sessionId)
{
    if (m_mismatchTold || sessionId.isEmpty() || m_expectedSession.isEmpty() || sessionId == m_expectedSession)
        return;
    m_mismatchTold = true;
    emitEvent(IdentityMismatch{m_expectedSession, sessionId});
}

void ClaudeDriver::replayInput(const QByteArray &line)
{
    const std::optional<SentLine> sent = decodeSent(line);
    if (!sent)
        return;
    switch (sent->kind) {
    case SentLine::Kind::Prompt:
        if (m_phase == DriverPhase::Turn && !sent->id.isEmpty())
            m_queued.append(sent->id);
        m_phase = DriverPhase::Turn;
        break;
    case SentLine::Kind::Request:
        m_sent.insert(sent->id, {sent->subtype, sent->argument});
        break;
    case SentLine::Kind::Answer:
        if (const qsizetype index = openIndex(sent->id); index >= 0) {
            if (sent->deny)
                m_deniedTools.insert(m_open.at(index).toolUseId);
            m_open.removeAt(index);
            m_undisplayable.remove(sent->id);
        }
        break;
    }
}

DriverOutput ClaudeDriver::prompt(const QString &uuid, const QString &text)
{
    const QString native = promptUuid(uuid);
    if (m_phase == DriverPhase::Turn)
        m_queued.append(native);
    m_phase = DriverPhase::Turn;
    write(uuid, promptLine(native, text));
    return flush();
}

QString ClaudeDriver::request(const QString &subtype, const QString &key, const QString &value)
{
    const QString id = freshRequestId();
    m_sent.insert(id, {subtype, value});
    write(id, requestLine(id, subtype, key, value));
    return id;
}

DriverOutput ClaudeDriver::interrupt()
{
    // 2.1.197 does not know cancel_queued: it would go on with what is queued.
    for (const QString &uuid : std::as_const(m_queued))
        request(QStringLiteral("cancel_async_message"), QStringLiteral("message_uuid"), uuid);
    m_queued.clear();
    const QString id = freshRequestId();
    m_sent.insert(id, {QStringLiteral("interrupt"), {}});
    write(id, interruptLine(id));
    return flush();
}

DriverOutput ClaudeDriver::allow(const QString &inputId, const QString &requestId, const QByteArray &input)
{
    const qsizetype index = openIndex(requestId);
    if (index < 0)
        return {};
    if (m_undisplayable.contains(requestId))
        return deny(inputId, requestId, QStringLiteral("The arguments could not be shown to a person in full."));
    const QByteArray decided = input.isEmpty() && m_open.at(index).input.isEmpty() ? QByteArrayLiteral("{}") : input;
    if (!isObject(decided))
        return deny(inputId, requestId, QStringLiteral("The decided arguments are no JSON object, so nothing was run."));
    m_open.removeAt(index);
    write(inputId, allowLine(requestId, decided));
    return flush();
}

DriverOutput ClaudeDriver::deny(const QString &inputId, const QString &requestId, const QString &message)
{
    const qsizetype index = openIndex(requestId);
    if (index < 0)
        return {};
    m_deniedTools.insert(m_open.at(index).toolUseId);
    m_open.removeAt(index);
    m_undisplayable.remove(requestId);
    write(inputId, denyLine(requestId, message));
    return flush();
}

DriverOutput ClaudeDriver::setModel(const QString &model)
{
    request(QStringLiteral("set_model"), QStringLiteral("model"), model);
    return flush();
}

DriverOutput ClaudeDriver::setPermissionMode(const QString &mode)
{
    // 2.1.197 answers success to any word.
    static const QStringList known{QStringLiteral("default"), QStringLiteral("acceptEdits"), QStringLiteral("plan"),
                                   QStringLiteral("dontAsk"), QStringLiteral("bypassPermissions")};
    if (known.contains(mode))
        request(QStringLiteral("set_permission_mode"), QStringLiteral("mode"), mode);
    else
        emitEvent(NoteSeen{QStringLiteral("Permission mode \"%1\" is not known; nothing was changed.").arg(mode), true});
    return flush();
}

DriverOutput ClaudeDriver::endSession()
{
    request(QStringLiteral("end_session"));
    return flush();
}

DriverOutput ClaudeDriver::processExited(int exitCode, const QByteArray &errorTail)
{
    const QString tail = QString::fromUtf8(errorTail.right(2000)).trimmed();
    const QString text = QStringLiteral("The harness ended with exit code %1%2")
                             .arg(exitCode)
                             .arg(tail.isEmpty() ? QStringLiteral(" and wrote no error text.") : QStringLiteral(": ") + tail);
    emitEvents(m_text.dropPartial());
    withdrawAll();
    if (m_phase == DriverPhase::Starting) {
        startFailed(text);
    } else if (m_phase == DriverPhase::Turn) {
        TurnEnded ended;
        ended.isError = true;
        ended.terminalReason = QStringLiteral("process_exited");
        ended.text = text;
        emitEvent(ended);
    }
    m_phase = DriverPhase::Ended;
    return flush();
}

void ClaudeDriver::startFailed(const QString &message)
{
    const bool noConversation = message.contains(QStringLiteral("No conversation found"), Qt::CaseInsensitive);
    m_phase = DriverPhase::Ended;
    emitEvent(StartFailed{message, noConversation});
}

void ClaudeDriver::withdrawAll()
{
    for (const PermissionRequested &request : std::exchange(m_open, {}))
        emitEvent(PermissionWithdrawn{request.requestId});
    m_undisplayable.clear();
}

qsizetype ClaudeDriver::openIndex(const QString &requestId) const
{
    for (qsizetype i = 0; i < m_open.size(); ++i) {
        if (m_open.at(i).requestId == requestId)
            return i;
    }
    return -1;
}

void ClaudeDriver::changeMode(const QString &mode)
{
    if (mode.isEmpty() || mode == m_mode)
        return;
    m_mode = mode;
    emitEvent(ModeChanged{mode});
}

} // namespace engine::claude

std::unique_ptr<engine::HarnessDriver> engine::makeClaudeDriver(ToolHost &tools)
{
    return std::make_unique<claude::ClaudeDriver>(tools);
}
