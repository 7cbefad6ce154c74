// What each message of the harness means to the driver.
#include "engine/harness/codex/codexdriver.h"

#include <QVersionNumber>

namespace engine::codex {
namespace {

const QString oldestVersion = QStringLiteral("0.171.0"); // older ones were never driven: their gate is unknown
constexpr qsizetype keptOutput = 256 * 1024;

bool isText(const Item &item)
{
    return item.type == u"agentMessage" || item.type == u"reasoning" || item.type == u"plan";
}

} // namespace

// Turns, items and requests of a thread that is not ours. Replies and other news carry foreign ids rightly.
bool CodexDriver::isForeign(const Line &line) const
{
    if (line.threadId.isEmpty() || m_threadId.isEmpty() || line.threadId == m_threadId)
        return false;
    return std::holds_alternative<ServerRequest>(line.message) || std::holds_alternative<ItemStarted>(line.message) ||
           std::holds_alternative<ItemCompleted>(line.message) || std::holds_alternative<TextChunk>(line.message) ||
           std::holds_alternative<TurnBegun>(line.message) || std::holds_alternative<TurnDone>(line.message);
}

void CodexDriver::apply(const Line &line)
{
    m_line = line.text;
    if (!isForeign(line))
        std::visit([this](const auto &message) { take(message); }, line.message);
    else if (!std::exchange(m_mismatchTold, true))
        emitEvent(IdentityMismatch{m_threadId, line.threadId});
    m_line.clear();
}

// ---- replies ----

void CodexDriver::take(const Reply &reply)
{
    if (!m_sent.contains(reply.id))
        return; // an answer to nobody
    const Sent sent = m_sent.take(reply.id);
    if (tryAgainLater(reply, sent))
        return;
    if (sent.method == u"initialize")
        initialized(reply);
    else if (sent.method == u"thread/start" || sent.method == u"thread/resume" || sent.method == u"thread/fork")
        threadOpened(reply, sent);
    else if (sent.method == u"thread/turns/list" && reply.id.startsWith("\"sb-newest:"))
        newestTurnTold(reply, reply.id);
    else if (sent.method == u"turn/start")
        turnAnswered(reply);
    else if (sent.method == u"turn/interrupt" && !reply.ok && m_phase != DriverPhase::Turn)
        return; // the turn was over before it came
    else if (!reply.ok)
        emitEvent(
            NoteSeen{QStringLiteral("The harness refused \"%1\": %2").arg(sent.method, reply.error.left(500)), true});
}

void CodexDriver::initialized(const Reply &reply)
{
    if (!reply.ok) {
        startFailed(QStringLiteral("Codex refused to start: %1").arg(reply.error));
        return;
    }
    m_version = reply.version;
    if (QVersionNumber::fromString(m_version) < QVersionNumber::fromString(oldestVersion)) {
        startFailed(QStringLiteral(
                        "Codex says it is version \"%1\"; %2 or newer is needed, since the approvals of others can't "
                        "be relied on. Update it, or name another program.")
                        .arg(m_version, oldestVersion));
        return;
    }
    write(QStringLiteral("sb-initialized"), initializedLine());
    openThread();
}

void CodexDriver::threadOpened(const Reply &reply, const Sent &sent)
{
    if (m_phase == DriverPhase::Ended)
        return;
    if (!reply.ok) {
        const bool gone = sent.method == u"thread/resume" &&
                          (reply.error.contains(u"no rollout found") ||
                           reply.error.contains(u"failed to read thread") || reply.error.contains(u"is archived"));
        startFailed(QStringLiteral("Codex %1 refused \"%2\" with the approval policy \"%3\": %4. Nothing was started.")
                        .arg(m_version, sent.method, sent.approvalPolicy, reply.error),
                    gone);
        return;
    }
    // The reply states what is in force. Anything else than what was asked for would let actions run unasked.
    const bool isAsked = (sent.approvalPolicy.isEmpty() || sent.approvalPolicy == reply.approvalPolicy) &&
                         (sent.sandboxType.isEmpty() || sent.sandboxType == reply.sandboxType);
    if (!isAsked) {
        startFailed(
            QStringLiteral(
                "Codex %1 was asked for policy \"%2\" and sandbox \"%3\" and works with \"%4\" and \"%5\". Its "
                "approvals can't be relied on, so it was not started.")
                .arg(m_version, sent.approvalPolicy, sent.sandboxType, reply.approvalPolicy, reply.sandboxType));
        return;
    }
    if (sent.method == u"thread/resume" && reply.threadId != sent.threadId) {
        emitEvent(IdentityMismatch{sent.threadId, reply.threadId});
        return;
    }
    if (m_phase != DriverPhase::Starting && sent.method != u"thread/resume")
        return; // a second thread beside ours
    m_threadId = reply.threadId;
    if (m_model.isEmpty())
        m_model = reply.model;
    emitEvent(ConversationOpened{reply.threadId, reply.rolloutPath});
    ready();
}

void CodexDriver::turnAnswered(const Reply &reply)
{
    if (m_phase != DriverPhase::Turn || reply.id != m_promptId)
        return;
    if (!reply.ok) {
        TurnDone refused;
        refused.status = QStringLiteral("failed");
        refused.error = QStringLiteral("Codex did not take the prompt: %1").arg(reply.error);
        refused.errorInfo = QStringLiteral("refused");
        endTurn(refused);
        return;
    }
    if (m_turnId.isEmpty())
        m_turnId = reply.turnId;
    if (m_stopWanted && m_interrupts == 0)
        writeInterrupt();
    for (const auto &[id, text] : std::exchange(m_unsteered, {}))
        steer(id, text);
}

// ---- the turn ----

void CodexDriver::take(const TurnBegun &begun)
{
    if (m_phase != DriverPhase::Turn || m_begun || (!m_turnId.isEmpty() && m_turnId != begun.turnId))
        return;
    m_turnId = begun.turnId;
    m_begun = true;
    emitEvent(TurnStarted{m_threadId, m_model, m_inForce.approval, m_version});
}

void CodexDriver::take(const TurnDone &done)
{
    if (m_phase != DriverPhase::Turn || (!m_turnId.isEmpty() && done.turnId != m_turnId))
        return; // told twice
    endTurn(done);
}

// The only end of a turn: items may never be completed by themselves.
void CodexDriver::endTurn(const TurnDone &done)
{
    const QStringList open = m_order;
    for (const QString &id : open) {
        const Tool tool = m_running.value(id);
        emitEvent(ToolEnded{id, m_denied.contains(id) ? ToolState::Denied : ToolState::Failed,
                            tool.output + QStringLiteral("[The turn ended before this was reported as done.]")});
    }
    withdrawAll();
    const bool interrupted = done.status == u"interrupted";
    TurnEnded ended;
    ended.isError = done.status != u"completed";
    ended.interrupted = interrupted;
    ended.apiStatus = done.apiStatus;
    ended.terminalReason = done.errorInfo.isEmpty() ? done.status : done.status + QStringLiteral(": ") + done.errorInfo;
    ended.text = ended.isError ? done.error : done.text;
    ended.turns = m_responses;
    ended.usage = m_usage;
    m_phase = DriverPhase::Ready;
    // An interrupt leaves running commands alone.
    if (interrupted && !done.turnId.isEmpty() && !m_threadId.isEmpty()) {
        const QString id = QStringLiteral("clean:") + done.turnId;
        request(id, cleanTerminalsLine(jsonText(id), m_threadId));
    }
    m_turnId.clear();
    m_promptId.clear();
    m_running.clear();
    m_order.clear();
    m_texts.clear();
    m_notes.clear();
    emitEvent(ended);
}

void CodexDriver::take(const TokenUsage &tokens)
{
    if (tokens.turnId != m_turnId || tokens.totalTokens == m_seenTokens)
        return;
    m_seenTokens = tokens.totalTokens;
    ++m_responses;
    m_usage.inputTokens += tokens.last.inputTokens;
    m_usage.outputTokens += tokens.last.outputTokens;
    m_usage.cacheReadTokens += tokens.last.cacheReadTokens;
    m_usage.cacheWriteTokens += tokens.last.cacheWriteTokens;
}

void CodexDriver::take(const ApiError &error)
{
    if (!error.willRetry) {
        if (m_phase != DriverPhase::Turn)
            emitEvent(NoteSeen{error.text, true}); // else the end of the turn tells it
        return;
    }
    dropTexts();
    emitEvent(RetryAnnounced{error.attempt, error.maxAttempts, 0, error.status, error.text});
}

void CodexDriver::take(const Settings &settings)
{
    const bool isAsked = (m_inForce.approval.isEmpty() || settings.approvalPolicy == m_inForce.approval) &&
                         (m_inForce.sandbox.isEmpty() || settings.sandboxType == m_inForce.sandbox);
    if (!isAsked && m_phase == DriverPhase::Turn)
        emitEvent(HarnessBroken{
            QStringLiteral("Codex went over to policy \"%1\" and sandbox \"%2\"; \"%3\" and \"%4\" were asked "
                           "for. It was stopped, since its approvals can't be relied on.")
                .arg(settings.approvalPolicy, settings.sandboxType, m_inForce.approval, m_inForce.sandbox)});
}

// ---- items ----

void CodexDriver::take(const ItemStarted &started)
{
    if (m_phase == DriverPhase::Turn && !isText(started.item) && started.item.type != u"userMessage")
        startTool(started.item);
}

void CodexDriver::startTool(const Item &item)
{
    if (item.id.isEmpty() || m_running.contains(item.id) || m_over.contains(item.id))
        return;
    m_running.insert(item.id, {item, {}});
    m_order.append(item.id);
    emitEvent(ToolStarted{item.id, item.toolName, item.input, {}});
}

void CodexDriver::take(const ItemCompleted &completed)
{
    const Item &item = completed.item;
    if (m_phase != DriverPhase::Turn || item.type == u"userMessage" || m_over.contains(item.id))
        return;
    if (!isText(item)) {
        startTool(item);
        endTool(item);
        return;
    }
    m_over.insert(item.id);
    const bool streamed = m_texts.contains(item.id);
    const QString text = item.text.isEmpty() ? m_texts.value(item.id).text : item.text;
    m_texts.remove(item.id);
    if (!text.isEmpty())
        emitEvent(
            TextCompleted{item.id, item.type == u"reasoning" ? BlockKind::Thinking : BlockKind::Answer, text, {}});
    else if (streamed)
        emitEvent(TextDropped{item.id});
}

void CodexDriver::endTool(const Item &item)
{
    const Tool tool = m_running.take(item.id);
    m_order.removeOne(item.id);
    m_over.insert(item.id);
    QString output = item.output.isEmpty() ? tool.output : item.output;
    if (item.exitCode != 0)
        output += QStringLiteral("%1[exit code %2]")
                      .arg(output.isEmpty() || output.endsWith(u'\n') ? "" : "\n")
                      .arg(item.exitCode);
    const bool failed = item.status == u"failed";
    const bool denied = item.status == u"declined" || (failed && m_denied.contains(item.id));
    emitEvent(ToolEnded{item.id, denied ? ToolState::Denied : failed ? ToolState::Failed : ToolState::Done, output});
    tellDenials(item.id);
}

void CodexDriver::take(const TextChunk &chunk)
{
    if (m_phase != DriverPhase::Turn || chunk.text.isEmpty() || m_over.contains(chunk.itemId))
        return;
    TextChunk &live = m_texts[chunk.itemId];
    live.itemId = chunk.itemId;
    live.kind = chunk.kind;
    live.text += chunk.text;
    emitEvent(TextDelta{chunk.itemId, chunk.kind, chunk.text});
}

void CodexDriver::dropTexts()
{
    for (auto it = m_texts.begin(); it != m_texts.end(); ++it)
        emitEvent(TextDropped{it.key()});
    m_texts.clear();
}

void CodexDriver::take(const OutputChunk &chunk)
{
    const auto found = m_running.find(chunk.itemId);
    if (found == m_running.end())
        return;
    found->output += chunk.text;
    // Halved now and then, not at every byte: some commands write one at a time.
    if (found->output.size() > 2 * keptOutput)
        found->output = found->output.right(keptOutput);
}

void CodexDriver::take(const TerminalInput &typed)
{
    const bool allowed = !m_typing.isEmpty();
    emitEvent(NoteSeen{QStringLiteral("The model typed into a running program%1: %2")
                           .arg(allowed ? QString() : QStringLiteral(" without asking"), typed.text),
                       !allowed});
    if (allowed)
        emitEvent(ToolEnded{m_typing.takeFirst(), ToolState::Done, {}});
}

void CodexDriver::take(const Resolved &resolved)
{
    const qsizetype index = openIndexOf(resolved.id);
    if (index < 0)
        return;
    emitEvent(PermissionWithdrawn{m_open.takeAt(index).shown.requestId});
}

void CodexDriver::take(const Note &note)
{
    emitEvent(NoteSeen{note.text, note.warning});
}

void CodexDriver::take(const Unknown &unknown)
{
    emitEvent(UnknownLine{unknown.summary, m_line});
}

} // namespace engine::codex
