// Requests of the harness: how a person sees them, and how their decisions go back.
#include "engine/harness/codex/codexdriver.h"

#include <exception>

namespace engine::codex {
namespace {

ApprovalKind kindOfRequest(const ServerRequest &request)
{
    switch (request.kind) {
    case ServerRequest::Kind::UserInput:
        return ApprovalKind::Question;
    case ServerRequest::Kind::Form:
        return request.input.contains("\"questions\":") ? ApprovalKind::Question : ApprovalKind::Tool;
    case ServerRequest::Kind::Command:
    case ServerRequest::Kind::WriteStdin:
    case ServerRequest::Kind::FileChange:
    case ServerRequest::Kind::Permissions:
    case ServerRequest::Kind::McpTool:
    case ServerRequest::Kind::ToolCall:
        return ApprovalKind::Tool;
    case ServerRequest::Kind::Other:
        break;
    }
    return ApprovalKind::Unknown;
}

// Where the answer carries the arguments, a person may change them. A command or patch runs as the model wrote it.
bool isEditable(const ServerRequest &request)
{
    switch (request.kind) {
    case ServerRequest::Kind::Permissions:
    case ServerRequest::Kind::UserInput:
    case ServerRequest::Kind::Form:
    case ServerRequest::Kind::ToolCall:
    case ServerRequest::Kind::Other:
        return true;
    case ServerRequest::Kind::Command:
    case ServerRequest::Kind::WriteStdin:
    case ServerRequest::Kind::FileChange:
    case ServerRequest::Kind::McpTool:
        break;
    }
    return false;
}

QString answerName(const QByteArray &id, const QString &turnId)
{
    return QStringLiteral("answer:%1@%2").arg(QString::fromUtf8(id), turnId);
}

} // namespace

PermissionRequested CodexDriver::shownOf(const ServerRequest &request, bool &answerable) const
{
    PermissionRequested shown;
    // The harness counts its requests from 0 in every process.
    shown.requestId = QString::fromUtf8(request.id) + u'@' + (request.turnId.isEmpty() ? m_turnId : request.turnId);
    shown.toolUseId = request.itemId;
    shown.kind = kindOfRequest(request);
    shown.toolName = request.toolName;
    shown.input = request.input;
    shown.reason = request.reason;
    shown.blockedPath = request.blockedPath;
    shown.editable = isEditable(request);
    shown.raw = request.raw;
    answerable = request.complete;
    if (request.kind == ServerRequest::Kind::FileChange) {
        const QByteArray changes = m_running.value(request.itemId).item.changes;
        answerable = answerable && !changes.isEmpty();
        if (answerable)
            shown.input = fileChangeInput(changes, request.input);
    }
    if (!answerable && request.kind != ServerRequest::Kind::Other) {
        shown.kind = ApprovalKind::Unknown;
        shown.editable = false;
    }
    return shown;
}

void CodexDriver::take(const ServerRequest &request)
{
    if (const qsizetype index = openIndexOf(request.id); index >= 0) {
        if (m_open.at(index).request.raw == request.raw)
            return;
        // One id for two actions: an answer to one would be taken for the other, so neither runs.
        const Open first = m_open.takeAt(index);
        m_denied << first.request.itemId << request.itemId;
        emitEvent(PermissionWithdrawn{first.shown.requestId});
        emitEvent(UnknownLine{request.method.left(150) + QStringLiteral(" with an id in use"), m_line});
        write(answerName(request.id, request.turnId),
              errorLine(request.id, -32600, QStringLiteral("Two requests came under one id; neither was allowed.")));
        return;
    }
    if (request.kind == ServerRequest::Kind::ToolCall && request.complete && m_gate != Gate::All) {
        write(answerName(request.id, request.turnId),
              toolReplyLine(request.id, callTool(request.toolName, request.input)));
        return;
    }
    Open open{request, {}, false};
    open.shown = shownOf(request, open.answerable);
    m_open.append(open);
    emitEvent(open.shown);
}

ToolReply CodexDriver::callTool(const QString &name, const QByteArray &arguments)
{
    try {
        for (const ToolDefinition &tool : m_tools.tools()) {
            if (QStringLiteral("signalbox.") + tool.name == name)
                return m_tools.call(tool.name, withCaller(arguments, m_threadId));
        }
    } catch (const std::exception &error) {
        return {QString::fromUtf8(error.what()), true};
    }
    return {QStringLiteral("There is no tool of this name here."), true};
}

DriverOutput CodexDriver::allow(const QString &inputId, const QString &requestId, const QByteArray &input)
{
    const qsizetype index = openIndex(requestId);
    if (index < 0)
        return {};
    const Open open = m_open.takeAt(index);
    const bool isOther = open.request.kind == ServerRequest::Kind::Other;
    if (!isOther && !open.answerable)
        refuse(inputId, open, QStringLiteral("The request could not be shown to a person in full."));
    else if (isOther && !isObject(input))
        refuse(inputId, open,
               QStringLiteral("A request of a kind that the console does not know needs an answer in JSON; none "
                              "was given."));
    else if (isEditable(open.request) && !isObject(input))
        refuse(inputId, open, QStringLiteral("The decided arguments are no JSON object, so nothing was run."));
    else
        answer(inputId, open, input);
    return flush();
}

void CodexDriver::answer(const QString &inputId, const Open &open, const QByteArray &decided)
{
    const QByteArray &id = open.request.id;
    switch (open.request.kind) {
    case ServerRequest::Kind::WriteStdin:
        m_typing.append(open.request.itemId);
        write(inputId, decisionLine(id, true));
        break;
    case ServerRequest::Kind::Command:
    case ServerRequest::Kind::FileChange:
        write(inputId, decisionLine(id, true));
        break;
    case ServerRequest::Kind::Permissions:
        write(inputId, permissionsLine(id, decided));
        break;
    case ServerRequest::Kind::UserInput:
        write(inputId, answersLine(id, decided));
        break;
    case ServerRequest::Kind::Form:
    case ServerRequest::Kind::McpTool:
        write(inputId, formLine(id, true, decided, open.request.input));
        break;
    case ServerRequest::Kind::ToolCall:
        write(inputId, toolReplyLine(id, callTool(open.request.toolName, decided)));
        break;
    case ServerRequest::Kind::Other:
        write(inputId, resultLine(id, decided));
        break;
    }
}

DriverOutput CodexDriver::deny(const QString &inputId, const QString &requestId, const QString &message)
{
    const qsizetype index = openIndex(requestId);
    if (index < 0)
        return {};
    refuse(inputId, m_open.takeAt(index), message);
    return flush();
}

void CodexDriver::refuse(const QString &inputId, const Open &open, const QString &message)
{
    const QByteArray &id = open.request.id;
    m_denied.insert(open.request.itemId);
    DenialNote note{open.request.itemId, QStringLiteral("%1@%2").arg(QString::fromUtf8(id), open.request.turnId),
                    message};
    switch (open.request.kind) {
    case ServerRequest::Kind::Command:
    case ServerRequest::Kind::FileChange:
        write(inputId, decisionLine(id, false, message));
        break;
    case ServerRequest::Kind::WriteStdin:
        write(inputId, decisionLine(id, false, message));
        note.itemId.clear();
        break;
    case ServerRequest::Kind::Permissions:
        write(inputId, permissionsLine(id, "{}"));
        note.itemId.clear();
        break;
    case ServerRequest::Kind::Form:
    case ServerRequest::Kind::McpTool:
        write(inputId, formLine(id, false, {}, {}));
        note.itemId.clear();
        break;
    case ServerRequest::Kind::ToolCall:
        write(inputId, toolReplyLine(id, {message, true}));
        return;
    case ServerRequest::Kind::UserInput:
    case ServerRequest::Kind::Other:
        write(inputId, errorLine(id, -32000, message));
        return;
    }
    m_notes.append(note);
    if (note.itemId.isEmpty())
        tellDenials({});
}

// A refusal has no place for words in this protocol: the person's note goes to the model as a message, once the harness
// has taken the refusal and waits for nobody else.
void CodexDriver::tellDenials(const QString &itemId)
{
    for (DenialNote &note : m_notes) {
        if (note.itemId == itemId)
            note.itemId.clear();
    }
    if (!m_open.isEmpty() || m_turnId.isEmpty() || m_stopWanted || m_interrupts > 0)
        return;
    const QList<DenialNote> notes = m_notes;
    for (const DenialNote &note : notes) {
        if (!note.itemId.isEmpty() || note.text.trimmed().isEmpty())
            continue;
        steer(QStringLiteral("note:") + note.inputId,
              QStringLiteral("About the request that was just refused: %1").arg(note.text));
    }
    m_notes.removeIf([](const DenialNote &note) { return note.itemId.isEmpty(); });
}

void CodexDriver::withdrawAll()
{
    for (const Open &open : std::exchange(m_open, {}))
        emitEvent(PermissionWithdrawn{open.shown.requestId});
}

} // namespace engine::codex
