// What each message of the harness means to the driver.
#include "engine/harness/claude/claudecodec.h"
#include "engine/harness/claude/claudedriver.h"

#include <exception>

namespace engine::claude {
namespace {

ApprovalKind kindOfRequest(const CanUseTool &tool)
{
    if (tool.toolName.isEmpty() || !tool.inputIsObject)
        return ApprovalKind::Unknown;
    if (tool.toolName == u"AskUserQuestion")
        return ApprovalKind::Question;
    if (tool.toolName == u"ExitPlanMode")
        return ApprovalKind::Plan;
    return ApprovalKind::Tool;
}

QString answerId(const QString &requestId)
{
    return QStringLiteral("answer:") + requestId;
}

} // namespace

void ClaudeDriver::take(const CanUseTool &tool)
{
    if (const qsizetype index = openIndex(tool.requestId); index >= 0) {
        if (m_open.at(index).raw == tool.raw)
            return;
        // One id for two actions: an answer to one would be taken for the other, so neither runs.
        emitEvent(PermissionWithdrawn{tool.requestId});
        emitEvent(UnknownLine{QStringLiteral("control_request/can_use_tool with an id in use"), m_line});
        m_deniedTools << m_open.at(index).toolUseId << tool.toolUseId;
        m_open.removeAt(index);
        write(answerId(tool.requestId),
              denyLine(tool.requestId, QStringLiteral("Two requests came under one id; neither was allowed.")));
        return;
    }
    PermissionRequested request;
    request.requestId = tool.requestId;
    request.toolUseId = tool.toolUseId;
    request.kind = kindOfRequest(tool);
    request.toolName = tool.toolName;
    request.input = tool.input;
    request.reason = tool.reason;
    request.blockedPath = tool.blockedPath;
    request.editable = !tool.tooDeep;
    request.raw = tool.raw;
    m_open.append(request);
    if (tool.tooDeep)
        m_undisplayable.insert(tool.requestId);
    emitEvent(request);
}

void ClaudeDriver::take(const HookCallback &hook)
{
    QString decision;
    QString reason;
    if (!hook.wellFormed) {
        decision = QStringLiteral("deny");
        reason = QStringLiteral("The request to the gate could not be read.");
    } else if (m_gate == Gate::All && hook.toolName != u"ToolSearch") {
        decision = QStringLiteral("ask");
        reason = QStringLiteral("Every tool call of this agent asks a person.");
    }
    write(answerId(hook.requestId), hookLine(hook.requestId, decision, reason));
}

void ClaudeDriver::take(const McpMessage &mcp)
{
    try {
        answerMcp(mcp);
    } catch (const std::exception &error) {
        write(answerId(mcp.requestId), mcpErrorLine(mcp.requestId, mcp.id, -32603, QString::fromUtf8(error.what())));
    }
}

void ClaudeDriver::answerMcp(const McpMessage &mcp)
{
    const auto answer = [&](const QByteArray &result) {
        write(answerId(mcp.requestId), mcpLine(mcp.requestId, mcp.id, result));
    };
    const auto refuse = [&](int code, const QString &message) {
        write(answerId(mcp.requestId), mcpErrorLine(mcp.requestId, mcp.id, code, message));
    };
    if (mcp.server != u"signalbox") {
        refuse(-32601, QStringLiteral("The console has no server of this name."));
    } else if (mcp.method == u"initialize") {
        answer(mcpInitializeResult(mcp.protocolVersion));
    } else if (mcp.method == u"tools/list") {
        answer(mcpToolList(m_tools.tools()));
    } else if (mcp.method == u"tools/call") {
        const QList<ToolDefinition> tools = m_tools.tools();
        const bool known = std::any_of(tools.begin(), tools.end(),
                                       [&](const ToolDefinition &tool) { return tool.name == mcp.toolName; });
        answer(mcpToolResult(known ? m_tools.call(mcp.toolName, withCaller(mcp.arguments, m_expectedSession))
                                   : ToolReply{QStringLiteral("There is no tool of this name here."), true}));
    } else if (mcp.id.isEmpty() || mcp.method == u"ping") {
        answer("{}"); // notifications too: unanswered they hold the turn up
    } else {
        refuse(-32601, QStringLiteral("The console's server does not know this method."));
    }
}

void ClaudeDriver::take(const OtherRequest &request)
{
    write(answerId(request.requestId),
          errorLine(request.requestId, QStringLiteral("The console does not know requests of this kind.")));
    emitEvent(UnknownLine{QStringLiteral("control_request/") + request.subtype.left(200), m_line});
}

void ClaudeDriver::take(const ControlReply &reply)
{
    const auto found = m_sent.find(reply.requestId);
    if (found == m_sent.end())
        return; // an echo, or an answer to nobody
    const Sent sent = *found;
    m_sent.erase(found);
    if (sent.subtype == u"initialize") {
        if (!reply.ok) {
            startFailed(QStringLiteral("The harness refused to start: %1").arg(reply.error));
            return;
        }
        if (m_answered)
            return;
        m_answered = true;
        if (m_phase == DriverPhase::Starting)
            m_phase = DriverPhase::Ready;
        emitEvent(HarnessReady{reply.version});
    } else if (!reply.ok) {
        emitEvent(NoteSeen{QStringLiteral("The harness refused \"%1\": %2").arg(sent.subtype, reply.error), true});
    } else if (sent.subtype == u"set_model") {
        emitEvent(ModelChanged{reply.model.isEmpty() ? sent.argument : reply.model});
    } else if (sent.subtype == u"set_permission_mode") {
        changeMode(reply.mode.isEmpty() ? sent.argument : reply.mode);
    }
}

void ClaudeDriver::take(const CancelRequest &cancel)
{
    const qsizetype index = openIndex(cancel.requestId);
    if (index < 0)
        return;
    m_open.removeAt(index);
    m_undisplayable.remove(cancel.requestId);
    emitEvent(PermissionWithdrawn{cancel.requestId});
}

void ClaudeDriver::take(const SystemInit &init)
{
    m_phase = DriverPhase::Turn;
    m_turnSeen = true;
    m_mode = init.permissionMode;
    emitEvent(TurnStarted{init.sessionId, init.model, init.permissionMode, init.version});
}

void ClaudeDriver::take(const ModeStatus &status)
{
    changeMode(status.mode);
}

void ClaudeDriver::take(const ApiRetry &retry)
{
    emitEvents(m_text.dropPartial());
    emitEvent(RetryAnnounced{retry.attempt, retry.maxAttempts, retry.delayMs, retry.status, retry.text});
}

void ClaudeDriver::take(const RuleDenial &denial)
{
    m_deniedTools.insert(denial.toolUseId);
    emitEvent(NoteSeen{denial.message, false});
}

void ClaudeDriver::take(const StreamEvent &event)
{
    emitEvents(m_text.apply(event));
}

void ClaudeDriver::take(const AssistantLine &line)
{
    if (line.apiError) {
        emitEvents(m_text.dropPartial());
        for (const ContentBlock &block : line.blocks)
            emitEvent(NoteSeen{block.text, true});
        return;
    }
    emitEvents(m_text.apply(line));
    for (const ContentBlock &block : line.blocks) {
        if (block.type != u"tool_use" && block.type != u"text" && block.type != u"thinking" &&
            block.type != u"redacted_thinking")
            emitEvent(UnknownLine{QStringLiteral("assistant/") + block.type.left(200), m_line});
    }
}

void ClaudeDriver::take(const UserLine &line)
{
    if (line.isReplay)
        return;
    for (const ToolResult &result : line.results) {
        const bool denied = result.refused || (result.isError && m_deniedTools.contains(result.toolUseId));
        emitEvent(ToolEnded{result.toolUseId,
                            denied           ? ToolState::Denied
                            : result.isError ? ToolState::Failed
                                             : ToolState::Done,
                            result.text});
    }
    if (!line.parent.isEmpty())
        return; // what a sub-agent was told
    for (const QString &text : line.texts)
        emitEvent(NoteSeen{text, false});
}

qint64 ClaudeDriver::costOfTurn(const ResultLine &result)
{
    qint64 cost = result.usage.costMicros;
    if (!result.costIsOfTurn && result.totalCostMicros >= 0) {
        // A total below the last one was begun anew.
        cost = result.totalCostMicros >= m_totalCostMicros ? result.totalCostMicros - m_totalCostMicros
                                                           : result.totalCostMicros;
    }
    if (result.totalCostMicros >= 0)
        m_totalCostMicros = result.totalCostMicros;
    return cost;
}

void ClaudeDriver::take(const ResultLine &result)
{
    if (!m_answered && !m_turnSeen) {
        startFailed(result.text.isEmpty() ? QStringLiteral("The harness ended a turn before it was ready.") : result.text);
        return;
    }
    withdrawAll();
    m_text.clear();
    m_deniedTools.clear();
    m_queued.clear();
    m_phase = DriverPhase::Ready;
    TurnEnded ended;
    ended.isError = result.isError;
    ended.interrupted = result.terminalReason.startsWith(u"aborted_");
    ended.apiStatus = result.apiStatus;
    ended.terminalReason = result.terminalReason;
    ended.text = result.text;
    ended.turns = result.turns;
    ended.usage = result.usage;
    ended.usage.costMicros = costOfTurn(result);
    emitEvent(ended);
}

void ClaudeDriver::take(const Note &note)
{
    emitEvent(NoteSeen{note.text, note.warning});
}

void ClaudeDriver::take(const Unknown &unknown)
{
    emitEvent(UnknownLine{unknown.summary, m_line});
}

} // namespace engine::claude
