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

Json computerJson(const Agent &agent)
{
    return {{"provider", settingText(agent.provider)},
            {"image", settingText(agent.computer.image)},
            {"memory_mb", agent.computer.memoryMb},
            {"cpus", agent.computer.cpus},
            {"processes", agent.computer.processes},
            {"temporary_mb", agent.computer.temporaryMb},
            {"gateway", agent.computer.gateway},
            {"key_entry", settingText(agent.computer.keyEntry)},
            {"max_tokens_per_run", agent.computer.maxTokensPerRun},
            {"max_requests_per_minute", agent.computer.maxRequestsPerMinute},
            {"warm_computer_seconds", agent.warmSeconds}};
}

// `present` is what the row holds: settings of a newer program are kept as they are.
QByteArray settingsOf(const Agent &agent, const Json &present)
{
    Json environment = Json::object();
    for (auto it = agent.environment.cbegin(); it != agent.environment.cend(); ++it)
        environment[settingText(it.key())] = settingText(it.value());
    Json settings = present.is_object() ? present : Json::object();
    settings.erase("sandbox"); // the old spelling of sandbox_mode
    if (!agent.sandbox.isEmpty())
        settings["sandbox"] = settingText(agent.sandbox);
    settings.update(Json{{"harness", settingText(toString(agent.harness))},
                        {"computer", computerJson(agent)},
                        {"program", settingText(agent.program)},
                        {"model", settingText(agent.model)},
                        {"base_url", settingText(agent.baseUrl)},
                        {"key_variable", settingText(agent.keyVariable)},
                        {"permission_mode", settingText(agent.permissionMode)},
                        {"approval_policy", settingText(agent.approvalPolicy)},
                        {"sandbox_mode", settingText(agent.sandboxMode)},
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
                        {"replay_speed", agent.replaySpeed}});
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

// The object "computer" holds what was spread over the settings before; both places are read, the new one wins.
void readComputer(const Json &settings, Agent &agent)
{
    for (const auto &[old, place] : {std::pair("provider", "computer.provider"), std::pair("sandbox_provider", "computer.provider"),
                                     std::pair("warm_seconds", "computer.warm_computer_seconds"),
                                     std::pair("warm_sandbox_seconds", "computer.warm_computer_seconds")}) {
        if (settings.contains(old))
            agent.oldSpellings.append(QStringLiteral("%1 -> %2").arg(QLatin1String(old), QLatin1String(place)));
    }
    readSetting(settings, "sandbox_provider", agent.provider);
    readSetting(settings, "provider", agent.provider);
    readSetting(settings, "warm_sandbox_seconds", agent.warmSeconds);
    readSetting(settings, "warm_seconds", agent.warmSeconds);
    const auto computer = settings.find("computer");
    if (computer == settings.end() || !computer->is_object())
        return;
    readSetting(*computer, "provider", agent.provider);
    readSetting(*computer, "image", agent.computer.image);
    readSetting(*computer, "memory_mb", agent.computer.memoryMb);
    readSetting(*computer, "processes", agent.computer.processes);
    readSetting(*computer, "temporary_mb", agent.computer.temporaryMb);
    readSetting(*computer, "key_entry", agent.computer.keyEntry);
    readSetting(*computer, "max_tokens_per_run", agent.computer.maxTokensPerRun);
    readSetting(*computer, "max_requests_per_minute", agent.computer.maxRequestsPerMinute);
    if (const auto gateway = computer->find("gateway"); gateway != computer->end() && gateway->is_boolean())
        agent.computer.gateway = gateway->get<bool>();
    readSetting(*computer, "warm_computer_seconds", agent.warmSeconds);
    if (const auto cpus = computer->find("cpus"); cpus != computer->end() && cpus->is_number())
        agent.computer.cpus = cpus->get<double>();
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
    readComputer(settings, agent);
    readSetting(settings, "program", agent.program);
    readSetting(settings, "model", agent.model);
    readSetting(settings, "base_url", agent.baseUrl);
    readSetting(settings, "key_variable", agent.keyVariable);
    readSetting(settings, "permission_mode", agent.permissionMode);
    readSetting(settings, "approval_policy", agent.approvalPolicy);
    readSetting(settings, "sandbox_mode", agent.sandboxMode);
    readSetting(settings, "sandbox", agent.sandbox);
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
    const Result<Rows> present = m_database.run(QStringLiteral("agent.get"), {{"id", agent.id.value}});
    if (!present)
        return tl::unexpected(present.error());
    const Json settings =
        present->isEmpty() ? Json::object() : Json::parse(present->first().text("settings").toStdString(), nullptr, false);
    const Result<Rows> stored =
        m_database.run(QStringLiteral("agent.upsert"), {{"id", agent.id.value},
                                                        {"name", agent.name},
                                                        {"name_folded", agent.name.toCaseFolded()},
                                                        {"settings", QString::fromUtf8(settingsOf(agent, settings))},
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
