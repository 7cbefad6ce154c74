#include "app/doors/jsontext.h"

#include <nlohmann/json.hpp>

namespace app {

using nlohmann::ordered_json;
using namespace engine;

namespace {

std::string plain(const QString &text)
{
    return text.toStdString();
}

ordered_json timeOrNull(const QDateTime &time)
{
    return time.isValid() ? ordered_json(plain(time.toUTC().toString(Qt::ISODateWithMs))) : ordered_json(nullptr);
}

// Stored JSON text as JSON; text that is not JSON stays text.
ordered_json inner(const QByteArray &text)
{
    if (text.isEmpty())
        return nullptr;
    ordered_json parsed = ordered_json::parse(text.begin(), text.end(), nullptr, false);
    return parsed.is_discarded() ? ordered_json(plain(QString::fromUtf8(text))) : parsed;
}

QString dumped(const ordered_json &document)
{
    return QString::fromStdString(document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

ordered_json document(const Session &session)
{
    return {{"id", plain(session.id.value)},
            {"title", plain(session.title)},
            {"agent", plain(session.agentName)},
            {"agentId", plain(session.agentId.value)},
            {"workspace", plain(session.workspace)},
            {"activeRun", plain(session.activeRun.value)},
            {"state",
             session.activeRun.isEmpty() ? ordered_json(nullptr) : ordered_json(plain(toString(session.activeState)))},
            {"queued", session.queued},
            {"pendingApprovals", session.pendingApprovals},
            {"lastOutcome", plain(toString(session.lastOutcome))},
            {"warm", session.warm},
            {"createdAt", timeOrNull(session.createdAt)},
            {"updatedAt", timeOrNull(session.updatedAt)}};
}

ordered_json document(const Run &run)
{
    return {{"id", plain(run.id.value)},
            {"sessionId", plain(run.sessionId.value)},
            {"state", plain(toString(run.state))},
            {"attempt", run.attempt},
            {"sequence", run.sequence},
            {"position", run.position},
            {"waitingFor", plain(run.waitingFor)},
            {"prompt", plain(run.prompt)},
            {"requestedBy", plain(run.requestedBy)},
            {"errorCode", plain(run.errorCode)},
            {"errorMessage", plain(run.errorMessage)},
            {"inputTokens", run.usage.inputTokens},
            {"outputTokens", run.usage.outputTokens},
            {"costMicros", run.usage.costMicros},
            {"createdAt", timeOrNull(run.createdAt)},
            {"startedAt", timeOrNull(run.startedAt)},
            {"endedAt", timeOrNull(run.endedAt)}};
}

ordered_json document(const Approval &approval)
{
    return {{"id", plain(approval.id.value)},
            {"runId", plain(approval.runId.value)},
            {"sessionId", plain(approval.sessionId.value)},
            {"session", plain(approval.sessionTitle)},
            {"agent", plain(approval.agentName)},
            {"kind", plain(toString(approval.kind))},
            {"state", plain(toString(approval.state))},
            {"delivery", plain(toString(approval.delivery))},
            {"nativeLost", approval.nativeLost},
            {"tool", plain(approval.toolName)},
            {"title", plain(approval.title)},
            {"reason", plain(approval.reason)},
            {"cwd", plain(approval.cwd)},
            {"input", inner(approval.input)},
            {"digest", plain(approval.digest.value)},
            {"editable", approval.editable},
            {"editedInput", inner(approval.editedInput)},
            {"note", plain(approval.note)},
            {"requestedBy", plain(approval.requestedBy)},
            {"decidedBy", plain(approval.decidedBy)},
            {"requestedAt", timeOrNull(approval.requestedAt)},
            {"seenAt", timeOrNull(approval.seenAt)},
            {"expiresAt", timeOrNull(approval.expiresAt)},
            {"decidedAt", timeOrNull(approval.decidedAt)},
            {"writtenAt", timeOrNull(approval.writtenAt)},
            {"acknowledgedAt", timeOrNull(approval.acknowledgedAt)},
            {"executedAt", timeOrNull(approval.executedAt)},
            {"executedStatus", plain(approval.executedStatus)}};
}

ordered_json document(const Agent &agent)
{
    return {{"id", plain(agent.id.value)},
            {"name", plain(agent.name)},
            {"harness", plain(toString(agent.harness))},
            {"provider", plain(agent.provider)},
            {"model", plain(agent.model)},
            {"permissionMode", plain(agent.permissionMode)},
            {"gate", plain(toString(agent.gate))},
            {"workspace", plain(agent.workspace)}};
}

ordered_json document(const Block &block)
{
    return {{"position", block.position},          {"runId", plain(block.runId.value)},
            {"kind", plain(toString(block.kind))}, {"text", plain(block.text)},
            {"tool", plain(block.toolName)},       {"input", inner(block.input.toUtf8())},
            {"output", plain(block.output)},       {"at", timeOrNull(block.at)}};
}

ordered_json document(const Finding &finding)
{
    const char *level = finding.level == Finding::Level::Ok        ? "ok"
                        : finding.level == Finding::Level::Warning ? "warning"
                                                                   : "error";
    return {{"level", level},
            {"subject", plain(finding.subject)},
            {"text", plain(finding.text)},
            {"remedy", plain(finding.remedy)}};
}

template<class T> ordered_json listOf(const QList<T> &values)
{
    ordered_json list = ordered_json::array();
    for (const T &value : values)
        list.push_back(document(value));
    return list;
}

} // namespace

QString jsonText(const Error &error)
{
    return dumped({{"error",
                    {{"code", plain(toString(error.code))},
                     {"message", plain(error.message)},
                     {"detail", plain(error.detail)}}}});
}

QString jsonText(const Session &session, const QList<Run> &runs, const QList<Block> &blocks)
{
    ordered_json whole = document(session);
    whole["runs"] = listOf(runs);
    whole["blocks"] = listOf(blocks);
    return dumped(whole);
}

QString jsonText(const Run &run, const QString &answer, const QList<Approval> &pending)
{
    ordered_json whole = document(run);
    whole["answer"] = plain(answer);
    whole["pendingApprovals"] = listOf(pending);
    return dumped(whole);
}

QString jsonText(const Approval &approval)
{
    return dumped(document(approval));
}

QString jsonText(const Resolved &resolved)
{
    ordered_json whole = document(resolved.approval);
    whole["repeated"] = resolved.repeated;
    whole["continued"] = resolved.continued;
    return dumped(whole);
}

QString jsonText(const Continued &continued)
{
    ordered_json whole = document(continued.run);
    whole["attached"] = continued.attached;
    return dumped(whole);
}

QString jsonText(const QList<Session> &sessions)
{
    return dumped(listOf(sessions));
}

QString jsonText(const QList<Approval> &approvals)
{
    return dumped(listOf(approvals));
}

QString jsonText(const QList<Agent> &agents)
{
    return dumped(listOf(agents));
}

QString jsonText(const QList<Finding> &findings)
{
    return dumped(listOf(findings));
}

QString jsonText(const QList<Computer> &computers)
{
    static const char *const states[] = {"running", "paused", "stopped"};
    ordered_json all = ordered_json::array();
    for (const Computer &one : computers)
        all.push_back({{"session", one.sessionId.value.toStdString()},
                       {"title", one.sessionTitle.toStdString()},
                       {"provider", one.provider.toStdString()},
                       {"isolated", one.isolated},
                       {"id", one.id.toStdString()},
                       {"image", one.image.toStdString()},
                       {"generation", one.generation},
                       {"state", states[int(one.state)]}});
    return QString::fromStdString(all.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

QString jsonText(const QList<Leftover> &leftovers)
{
    static const char *const kinds[] = {"container", "volume", "worker"};
    ordered_json all = ordered_json::array();
    for (const Leftover &one : leftovers)
        all.push_back({{"kind", kinds[int(one.kind)]},
                       {"name", one.name.toStdString()},
                       {"session", one.sessionId.value.toStdString()},
                       {"state", one.state.toStdString()},
                       {"bytes", one.bytes},
                       {"inUse", one.inUse}});
    return QString::fromStdString(all.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

QString jsonText(const QList<AgentImage> &images)
{
    ordered_json all = ordered_json::array();
    for (const AgentImage &one : images)
        all.push_back({{"tag", one.tag.toStdString()},
                       {"id", one.id.toStdString()},
                       {"claude", one.claudeVersion.toStdString()},
                       {"codex", one.codexVersion.toStdString()},
                       {"bytes", one.bytes}});
    return QString::fromStdString(all.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

QString jsonText(const ImageProgress &end)
{
    const ordered_json one{{"built", !end.failed}, {"message", end.message.toStdString()}};
    return QString::fromStdString(one.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

} // namespace app
