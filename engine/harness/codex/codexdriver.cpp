#include "engine/harness/codex/codexdriver.h"

namespace engine::codex {
namespace {

const QString initializeId = QStringLiteral("sb-initialize");
const QString openId = QStringLiteral("sb-open");
const QString newestTurnPrefix = QStringLiteral("sb-newest:");
const QString requestPrefix = QStringLiteral("request:");
const QString retryPrefix = QStringLiteral("retry:");
const QString turnPrefix = QStringLiteral("turn:");

constexpr int requestLimitMs = 30 * 1000; // measured: every answer within 0.3 s
constexpr int watchdogMs = 10 * 60 * 1000;
constexpr int silentLooksWithTool = 6; // a command may take an hour without a word
constexpr int overloaded = -32001;
constexpr int overloadTries = 5;
constexpr int overloadFirstMs = 250;

int overloadDelay(int attempt)
{
    return overloadFirstMs << attempt;
}

} // namespace

DriverOutput CodexDriver::begin(const LaunchContext &context)
{
    m_gate = context.agent.gate;
    m_policy = gatePolicy(context.agent);
    static const QStringList policies{QStringLiteral("on-request"), QStringLiteral("untrusted"),
                                      QStringLiteral("never")};
    if (m_gate != Gate::All && policies.contains(context.session.permissionMode))
        m_policy.approval = context.session.permissionMode;
    m_model = context.session.model.isEmpty() ? context.agent.model : context.session.model;
    m_lastTurn = context.lastTurnId;
    m_wanted.workspace = context.workspace;
    m_wanted.model = m_model;
    m_wanted.instructions = context.agent.instructions;
    m_wanted.policy = m_policy;
    m_wanted.tools = m_tools.tools();
    if (context.resume) {
        m_wanted.method = QStringLiteral("thread/resume");
        m_wanted.threadId = context.session.native.nativeSessionId;
    } else if (!context.forkOf.isEmpty()) {
        m_wanted.method = QStringLiteral("thread/fork");
        m_wanted.threadId = context.forkOf;
    }
    request(initializeId, initializeLine(jsonText(initializeId)));
    return flush();
}

DriverOutput CodexDriver::feed(const QByteArray &line)
{
    ++m_activity;
    const QList<Line> lines = decode(line);
    for (const Line &one : lines)
        apply(one);
    return flush();
}

void CodexDriver::keepSent(const SentLine &sent, const QByteArray &line)
{
    Sent kept{sent.method, sent.threadId, sent.approvalPolicy, sent.sandboxType, line, 0};
    // "id#2" is the second attempt of an overloaded harness.
    if (const qsizetype mark = sent.id.lastIndexOf('#'); mark >= 0)
        kept.attempt = sent.id.mid(mark + 1).chopped(1).toInt();
    m_sent.insert(sent.id, kept);
    if (!sent.approvalPolicy.isEmpty())
        m_inForce.approval = sent.approvalPolicy;
    if (!sent.sandboxType.isEmpty())
        m_inForce.sandbox = sent.sandboxType;
}

void CodexDriver::request(const QString &id, const QByteArray &line)
{
    const std::optional<SentLine> sent = decodeSent(line);
    Q_ASSERT(sent);
    keepSent(*sent, line);
    waitFor(requestPrefix + QString::fromUtf8(sent->id), requestLimitMs);
    write(id, line);
}

void CodexDriver::replayInput(const QByteArray &line)
{
    const std::optional<SentLine> sent = decodeSent(line);
    if (!sent)
        return;
    if (sent->kind == SentLine::Kind::Answer) {
        const qsizetype index = openIndexOf(sent->id);
        if (index < 0)
            return;
        const Open open = m_open.takeAt(index);
        if (sent->refused) {
            m_denied.insert(open.request.itemId);
            if (!sent->note.isEmpty())
                m_notes.append(
                    {open.request.itemId, QString::fromUtf8(sent->id) + u'@' + open.request.turnId, sent->note});
        } else if (open.request.kind == ServerRequest::Kind::WriteStdin) {
            m_typing.append(open.request.itemId);
        }
        return;
    }
    m_recorded.insert(sent->id);
    m_waiting.remove(sent->id);
    if (sent->method.startsWith(u"thread/") && m_phase == DriverPhase::Starting)
        m_sent.remove(jsonText(openId)); // what was generated in its place was not sent
    keepSent(*sent, line);
    if (sent->method == u"turn/start" && m_phase != DriverPhase::Turn)
        turnBegins(sent->id);
    else if (sent->method == u"turn/interrupt")
        ++m_interrupts;
    else if (sent->method == u"turn/steer")
        ++m_steers;
    m_output = {}; // a rebuild sends nothing by itself
}

bool CodexDriver::isRecorded(const InputLine &input) const
{
    return m_recorded.contains(jsonText(input.id));
}

void CodexDriver::turnBegins(const QByteArray &promptId)
{
    m_phase = DriverPhase::Turn;
    m_promptId = promptId;
    m_turnId.clear();
    m_begun = false;
    m_stopWanted = false;
    m_interrupts = 0;
    m_unsteered.clear();
    m_running.clear();
    m_order.clear();
    m_over.clear();
    m_texts.clear();
    m_denied.clear();
    m_notes.clear();
    m_typing.clear();
    m_usage = {};
    m_responses = 0;
    m_silent = 0;
    m_watched = m_activity;
    waitFor(turnPrefix + QString::fromUtf8(promptId), watchdogMs);
}

DriverOutput CodexDriver::prompt(const QString &uuid, const QString &text)
{
    if (m_phase == DriverPhase::Turn) {
        if (m_turnId.isEmpty())
            m_unsteered.append({uuid, text});
        else
            steer(uuid, text);
        return flush();
    }
    const QByteArray id = jsonText(uuid);
    turnBegins(id);
    request(uuid, turnLine(id, m_threadId, text, m_policy, m_wanted.workspace, m_model));
    return flush();
}

void CodexDriver::steer(const QString &id, const QString &text)
{
    ++m_steers;
    request(id, steerLine(jsonText(id), m_threadId, m_turnId, text));
}

DriverOutput CodexDriver::interrupt()
{
    if (m_phase != DriverPhase::Turn)
        return flush();
    m_stopWanted = true;
    m_unsteered.clear();
    m_notes.clear();
    if (!m_turnId.isEmpty())
        writeInterrupt();
    return flush();
}

void CodexDriver::writeInterrupt()
{
    const QString id = QStringLiteral("interrupt:%1:%2").arg(m_turnId).arg(++m_interrupts);
    request(id, interruptLine(jsonText(id), m_threadId, m_turnId));
}

DriverOutput CodexDriver::setModel(const QString &model)
{
    m_model = model;
    emitEvent(ModelChanged{model});
    return flush();
}

DriverOutput CodexDriver::setPermissionMode(const QString &mode)
{
    static const QStringList known{QStringLiteral("on-request"), QStringLiteral("untrusted"), QStringLiteral("never")};
    if (!known.contains(mode)) {
        emitEvent(NoteSeen{QStringLiteral("Codex knows no approval policy \"%1\" (it has %2); nothing was changed.")
                               .arg(mode, known.join(QStringLiteral(", "))),
                           true});
    } else if (m_gate == Gate::All && mode != u"untrusted") {
        emitEvent(
            NoteSeen{QStringLiteral("Every action of this agent asks a person, which needs the policy \"untrusted\"; "
                                    "nothing was changed."),
                     true});
    } else {
        m_policy.approval = mode;
        emitEvent(ModeChanged{mode});
    }
    return flush();
}

DriverOutput CodexDriver::endSession()
{
    m_output.closeInput = true;
    return flush();
}

DriverOutput CodexDriver::processExited(int exitCode, const QByteArray &errorTail)
{
    const QString tail = QString::fromUtf8(errorTail.right(2000)).trimmed();
    const QString text =
        QStringLiteral("The harness ended with exit code %1%2")
            .arg(exitCode)
            .arg(tail.isEmpty() ? QStringLiteral(" and wrote no error text.") : QStringLiteral(": ") + tail);
    dropTexts();
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

// ---- what is waited for ----

QList<Deadline> CodexDriver::openDeadlines() const
{
    QList<Deadline> open;
    for (auto it = m_sent.begin(); it != m_sent.end(); ++it)
        open.append({requestPrefix + QString::fromUtf8(it.key()), requestLimitMs});
    for (auto it = m_waiting.begin(); it != m_waiting.end(); ++it)
        open.append({retryPrefix + QString::fromUtf8(it.key()), overloadDelay(it->attempt)});
    if (m_phase == DriverPhase::Turn)
        open.append({turnPrefix + QString::fromUtf8(m_promptId), watchdogMs});
    return open;
}

DriverOutput CodexDriver::expired(const QString &deadlineId)
{
    if (m_phase == DriverPhase::Ended)
        return flush();
    if (deadlineId.startsWith(requestPrefix))
        requestExpired(deadlineId.mid(requestPrefix.size()).toUtf8());
    else if (deadlineId.startsWith(retryPrefix))
        sendAgain(deadlineId.mid(retryPrefix.size()).toUtf8());
    else if (m_phase == DriverPhase::Turn && deadlineId == turnPrefix + QString::fromUtf8(m_promptId))
        watchTurn();
    return flush();
}

// A line that the harness could not read is never answered: without this a mistake of ours would look like a hang.
void CodexDriver::requestExpired(const QByteArray &id)
{
    if (!m_sent.contains(id))
        return;
    const Sent sent = m_sent.take(id);
    const QString text =
        QStringLiteral("Codex did not answer \"%1\" within %2 s.").arg(sent.method).arg(requestLimitMs / 1000);
    if (m_phase == DriverPhase::Starting)
        startFailed(text);
    else if (sent.method == u"turn/start" || sent.method == u"turn/interrupt")
        emitEvent(HarnessBroken{text + QStringLiteral(" It was stopped; the next prompt resumes the conversation.")});
    else
        emitEvent(NoteSeen{text, true});
}

void CodexDriver::watchTurn()
{
    const bool alive = m_activity != m_watched || !m_open.isEmpty();
    m_watched = m_activity;
    m_silent = alive ? 0 : m_silent + 1;
    const int allowed = m_running.isEmpty() ? 1 : silentLooksWithTool;
    if (m_silent < allowed) {
        waitFor(turnPrefix + QString::fromUtf8(m_promptId), watchdogMs);
        return;
    }
    const QString minutes = QString::number(m_silent * watchdogMs / 60000);
    if (m_stopWanted) {
        emitEvent(HarnessBroken{
            QStringLiteral("Codex has said nothing for %1 minutes and did not end the turn when asked to. It "
                           "was stopped; the next prompt resumes the conversation.")
                .arg(minutes)});
        return;
    }
    emitEvent(
        NoteSeen{QStringLiteral("Codex has said nothing for %1 minutes; the turn is interrupted.").arg(minutes), true});
    m_stopWanted = true;
    if (!m_turnId.isEmpty())
        writeInterrupt();
    m_silent = allowed - 1;
    waitFor(turnPrefix + QString::fromUtf8(m_promptId), requestLimitMs);
}

bool CodexDriver::tryAgainLater(const Reply &reply, const Sent &sent)
{
    if (reply.ok || reply.code != overloaded || sent.attempt >= overloadTries)
        return false;
    QByteArray next = reply.id;
    if (const qsizetype mark = next.lastIndexOf('#'); mark >= 0)
        next = next.left(mark) + '"';
    next = next.chopped(1) + '#' + QByteArray::number(sent.attempt + 1) + '"';
    Sent again = sent;
    again.attempt = sent.attempt + 1;
    again.line.replace(QByteArray("\"id\":" + reply.id), QByteArray("\"id\":" + next));
    m_waiting.insert(next, again);
    if (m_promptId == reply.id)
        m_promptId = next;
    const int delay = overloadDelay(again.attempt);
    emitEvent(RetryAnnounced{again.attempt, overloadTries, delay, 0, reply.error});
    waitFor(retryPrefix + QString::fromUtf8(next), delay);
    return true;
}

void CodexDriver::sendAgain(const QByteArray &id)
{
    if (!m_waiting.contains(id))
        return;
    const Sent again = m_waiting.take(id);
    if (m_promptId == id && m_stopWanted) {
        TurnDone stopped;
        stopped.status = QStringLiteral("interrupted");
        endTurn(stopped);
        return;
    }
    request(QString::fromUtf8(id.mid(1).chopped(1)), again.line);
    if (m_promptId == id)
        waitFor(turnPrefix + QString::fromUtf8(id), watchdogMs);
}

// ---- the start ----

void CodexDriver::openThread()
{
    m_wanted.policy = m_policy;
    request(openId, threadLine(jsonText(openId), m_wanted));
}

void CodexDriver::newestTurnTold(const Reply &reply, const QByteArray &id)
{
    const QString wanted = QString::fromUtf8(id.mid(1).chopped(1)).mid(newestTurnPrefix.size());
    if (reply.ok && reply.turnId == wanted) {
        ready();
        return;
    }
    startFailed(
        QStringLiteral("The conversation can't be resumed: its file ends with turn %1, but Codex goes on behind %2. "
                       "Nothing was sent. Restore its file, or start the session fresh.")
            .arg(wanted, !reply.ok                ? reply.error
                         : reply.turnId.isEmpty() ? QStringLiteral("none")
                                                  : reply.turnId),
        true);
}

void CodexDriver::ready()
{
    if (!m_lastTurn.isEmpty()) {
        const QString id = newestTurnPrefix + std::exchange(m_lastTurn, {});
        request(id, newestTurnLine(jsonText(id), m_threadId));
        return;
    }
    if (m_phase == DriverPhase::Starting)
        m_phase = DriverPhase::Ready;
    emitEvent(HarnessReady{m_version});
}

void CodexDriver::startFailed(const QString &message, bool noConversation)
{
    m_phase = DriverPhase::Ended;
    emitEvent(StartFailed{message, noConversation});
}

qsizetype CodexDriver::openIndex(const QString &requestId) const
{
    for (qsizetype i = 0; i < m_open.size(); ++i) {
        if (m_open.at(i).shown.requestId == requestId)
            return i;
    }
    return -1;
}

qsizetype CodexDriver::openIndexOf(const QByteArray &id) const
{
    for (qsizetype i = 0; i < m_open.size(); ++i) {
        if (m_open.at(i).request.id == id)
            return i;
    }
    return -1;
}

QList<PermissionRequested> CodexDriver::openRequests() const
{
    QList<PermissionRequested> shown;
    for (const Open &open : m_open)
        shown.append(open.shown);
    return shown;
}

} // namespace engine::codex

std::unique_ptr<engine::HarnessDriver> engine::makeCodexDriver(ToolHost &tools)
{
    return std::make_unique<codex::CodexDriver>(tools);
}

std::unique_ptr<engine::HarnessDriver> engine::makeDriver(HarnessKind kind, ToolHost &tools)
{
    switch (kind) {
    case HarnessKind::Codex:
        return makeCodexDriver(tools);
    case HarnessKind::Claude:
    case HarnessKind::Replay:
        break;
    }
    return makeClaudeDriver(tools);
}
