#include "engine/store/agentstore.h"

#include "engine/store/database.h"

#include <nlohmann/json.hpp>

namespace engine {
namespace {

using Json = nlohmann::json;

std::string settingText(const QString &text)
{
    return text.toStdString();
}

Json jsonOfList(const QStringList &list)
{
    Json array = Json::array();
    for (const QString &item : list)
        array.push_back(settingText(item));
    return array;
}

Json sandboxJson(const Agent &agent)
{
    return {{"provider", settingText(agent.provider)},
            {"image", settingText(agent.sandbox.image)},
            {"memory_mb", agent.sandbox.memoryMb},
            {"cpus", agent.sandbox.cpus},
            {"processes", agent.sandbox.processes},
            {"temporary_mb", agent.sandbox.temporaryMb},
            {"gateway", agent.sandbox.gateway},
            {"max_tokens_per_run", agent.sandbox.maxTokensPerRun},
            {"max_requests_per_minute", agent.sandbox.maxRequestsPerMinute},
            {"warm_computer_seconds", agent.warmSeconds}};
}

QByteArray settingsOf(const Agent &agent)
{
    Json environment = Json::object();
    for (auto it = agent.environment.cbegin(); it != agent.environment.cend(); ++it)
        environment[settingText(it.key())] = settingText(it.value());
    const Json settings{{"harness", settingText(toString(agent.harness))},
                        {"sandbox", sandboxJson(agent)},
                        {"program", settingText(agent.program)},
                        {"model", settingText(agent.model)},
                        {"base_url", settingText(agent.baseUrl)},
                        {"key_variable", settingText(agent.keyVariable)},
                        {"permission_mode", settingText(agent.permissionMode)},
                        {"gate", settingText(toString(agent.gate))},
                        {"workspace", settingText(agent.workspace)},
                        {"config_folder", settingText(agent.configFolder)},
                        {"instructions", settingText(agent.instructions)},
                        {"allowed_tools", jsonOfList(agent.allowedTools)},
                        {"disallowed_tools", jsonOfList(agent.disallowedTools)},
                        {"environment", environment},
                        {"approval_timeout_seconds", agent.approvalTimeoutSeconds},
                        {"max_turns", agent.maxTurns},
                        {"max_attempts", agent.maxAttempts},
                        {"max_queued", agent.maxQueued},
                        {"recording", settingText(agent.recording)},
                        {"replay_speed", agent.replaySpeed}};
    return QByteArray::fromStdString(settings.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// A setting that is absent (an older program wrote the row) or of another type keeps its default.
void readSetting(const Json &settings, const char *key, QString &into)
{
    if (const auto it = settings.find(key); it != settings.end() && it->is_string())
        into = QString::fromStdString(it->get<std::string>());
}

void readSetting(const Json &settings, const char *key, int &into)
{
    if (const auto it = settings.find(key); it != settings.end() && it->is_number_integer())
        into = it->get<int>();
}

void readSetting(const Json &settings, const char *key, QStringList &into)
{
    const auto it = settings.find(key);
    if (it == settings.end() || !it->is_array())
        return;
    into.clear();
    for (const Json &item : *it) {
        if (item.is_string())
            into += QString::fromStdString(item.get<std::string>());
    }
}

// The object "sandbox" holds what was spread over the settings before; both places are read, the new one wins.
void readSandbox(const Json &settings, Agent &agent)
{
    for (const auto &[old, place] : {std::pair("provider", "sandbox.provider"), std::pair("sandbox_provider", "sandbox.provider"),
                                     std::pair("warm_seconds", "sandbox.warm_computer_seconds"),
                                     std::pair("warm_sandbox_seconds", "sandbox.warm_computer_seconds")}) {
        if (settings.contains(old))
            agent.oldSpellings.append(QStringLiteral("%1 -> %2").arg(QLatin1String(old), QLatin1String(place)));
    }
    readSetting(settings, "sandbox_provider", agent.provider);
    readSetting(settings, "provider", agent.provider);
    readSetting(settings, "warm_sandbox_seconds", agent.warmSeconds);
    readSetting(settings, "warm_seconds", agent.warmSeconds);
    const auto sandbox = settings.find("sandbox");
    if (sandbox == settings.end() || !sandbox->is_object())
        return;
    readSetting(*sandbox, "provider", agent.provider);
    readSetting(*sandbox, "image", agent.sandbox.image);
    readSetting(*sandbox, "memory_mb", agent.sandbox.memoryMb);
    readSetting(*sandbox, "processes", agent.sandbox.processes);
    readSetting(*sandbox, "temporary_mb", agent.sandbox.temporaryMb);
    readSetting(*sandbox, "max_tokens_per_run", agent.sandbox.maxTokensPerRun);
    readSetting(*sandbox, "max_requests_per_minute", agent.sandbox.maxRequestsPerMinute);
    if (const auto gateway = sandbox->find("gateway"); gateway != sandbox->end() && gateway->is_boolean())
        agent.sandbox.gateway = gateway->get<bool>();
    readSetting(*sandbox, "warm_computer_seconds", agent.warmSeconds);
    if (const auto cpus = sandbox->find("cpus"); cpus != sandbox->end() && cpus->is_number())
        agent.sandbox.cpus = cpus->get<double>();
}

Result<Agent> agentOf(const Row &row)
{
    Agent agent;
    agent.id = {row.text("id")};
    agent.name = row.text("name");
    agent.archived = row.flag("archived");
    agent.createdAt = row.time("created_at");
    agent.updatedAt = row.time("updated_at");
    const Json settings = Json::parse(row.text("settings").toStdString(), nullptr, false);
    if (!settings.is_object()) {
        return fail(
            ErrorCode::StorageUnavailable,
            QStringLiteral("Could not read the agent \"%1\": its settings are no JSON object. Restore a backup, or "
                           "save the agent anew.")
                .arg(agent.name));
    }
    QString harness, gate;
    readSetting(settings, "harness", harness);
    readSetting(settings, "gate", gate);
    const auto harnessKind = harnessKindFromString(harness);
    const auto gateKind = gateFromString(gate);
    if (!harnessKind || !gateKind) {
        return fail(ErrorCode::StorageUnavailable,
                    QStringLiteral("Could not read the agent \"%1\": it has the unknown harness \"%2\" or gate \"%3\".")
                        .arg(agent.name, harness, gate));
    }
    agent.harness = *harnessKind;
    agent.gate = *gateKind;
    readSandbox(settings, agent);
    readSetting(settings, "program", agent.program);
    readSetting(settings, "model", agent.model);
    readSetting(settings, "base_url", agent.baseUrl);
    readSetting(settings, "key_variable", agent.keyVariable);
    readSetting(settings, "permission_mode", agent.permissionMode);
    readSetting(settings, "workspace", agent.workspace);
    readSetting(settings, "config_folder", agent.configFolder);
    readSetting(settings, "instructions", agent.instructions);
    readSetting(settings, "allowed_tools", agent.allowedTools);
    readSetting(settings, "disallowed_tools", agent.disallowedTools);
    readSetting(settings, "approval_timeout_seconds", agent.approvalTimeoutSeconds);
    readSetting(settings, "max_turns", agent.maxTurns);
    readSetting(settings, "max_attempts", agent.maxAttempts);
    readSetting(settings, "max_queued", agent.maxQueued);
    readSetting(settings, "recording", agent.recording);
    if (const auto it = settings.find("replay_speed"); it != settings.end() && it->is_number())
        agent.replaySpeed = it->get<double>();
    if (const auto it = settings.find("environment"); it != settings.end() && it->is_object()) {
        for (const auto &[name, value] : it->items()) {
            if (value.is_string())
                agent.environment.insert(QString::fromStdString(name),
                                         QString::fromStdString(value.get<std::string>()));
        }
    }
    return agent;
}

} // namespace

Result<void> AgentStore::insertOrUpdate(const Agent &agent)
{
    const Result<Rows> stored =
        m_database.run(QStringLiteral("agent.upsert"), {{"id", agent.id.value},
                                                        {"name", agent.name},
                                                        {"name_folded", agent.name.toCaseFolded()},
                                                        {"settings", QString::fromUtf8(settingsOf(agent))},
                                                        {"archived", agent.archived},
                                                        {"created_at", agent.createdAt},
                                                        {"updated_at", agent.updatedAt}});
    if (!stored)
        return tl::unexpected(stored.error());
    return {};
}

Result<Agent> AgentStore::get(const AgentId &id) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("agent.get"), {{"id", id.value}});
    if (!rows)
        return tl::unexpected(rows.error());
    if (rows->isEmpty()) {
        return fail(ErrorCode::NotFound, QStringLiteral("There is no agent %1. Choose one of the list.").arg(id.value));
    }
    return agentOf(rows->first());
}

Result<QList<Agent>> AgentStore::list(bool withArchived) const
{
    const Result<Rows> rows = m_database.run(QStringLiteral("agent.list"), {{"with_archived", withArchived}});
    if (!rows)
        return tl::unexpected(rows.error());
    QList<Agent> agents;
    for (const Row &row : rows->rows) {
        const Result<Agent> agent = agentOf(row);
        if (!agent)
            return tl::unexpected(agent.error());
        agents.append(*agent);
    }
    return agents;
}

} // namespace engine
