#include "engine/harness/claude/claudedriver.h"

#include <QVersionNumber>

namespace engine::claude {
namespace {

// Nothing else of the console's environment reaches the harness and the commands it runs.
constexpr const char *inheritedVariables[] = {
    "PATH",        "HOME",       "USER",     "LOGNAME",       "SHELL",        "LANG",         "LC_ALL",
    "LC_CTYPE",    "TERM",       "TZ",       "TMPDIR",        "HTTP_PROXY",   "HTTPS_PROXY",  "NO_PROXY",
    "http_proxy",  "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"};

constexpr const char *quietVariables[] = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY",
                                          "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND"};

QMap<QString, QString> launchEnvironment(const LaunchContext &context)
{
    QMap<QString, QString> environment;
    const auto inherit = [&](const QString &name) {
        const auto found = context.hostEnvironment.find(name);
        if (found != context.hostEnvironment.end())
            environment.insert(name, *found);
    };
    for (const char *name : inheritedVariables)
        inherit(QString::fromLatin1(name));
    if (!environment.contains(QStringLiteral("PATH")))
        environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/local/bin:/usr/bin:/bin"));
    if (!environment.contains(QStringLiteral("LANG")))
        environment.insert(QStringLiteral("LANG"), QStringLiteral("C.UTF-8"));
    if (!environment.contains(QStringLiteral("TERM")))
        environment.insert(QStringLiteral("TERM"), QStringLiteral("dumb"));
    for (const char *name : quietVariables)
        environment.insert(QString::fromLatin1(name), QStringLiteral("1"));
    // Else 2.1.332 hides the console's tools behind a search tool.
    environment.insert(QStringLiteral("ENABLE_TOOL_SEARCH"), QStringLiteral("false"));
    if (!context.configFolder.isEmpty())
        environment.insert(QStringLiteral("CLAUDE_CONFIG_DIR"), context.configFolder);
    inherit(QStringLiteral("ANTHROPIC_BASE_URL"));
    if (!context.agent.baseUrl.isEmpty())
        environment.insert(QStringLiteral("ANTHROPIC_BASE_URL"), context.agent.baseUrl);
    const QString key = context.hostEnvironment.value(context.agent.keyVariable);
    const QString token = QStringLiteral("ANTHROPIC_AUTH_TOKEN");
    if (!context.agent.keyVariable.isEmpty() && !key.isEmpty())
        environment.insert(context.agent.keyVariable == token ? token : QStringLiteral("ANTHROPIC_API_KEY"), key);
    for (auto it = context.agent.environment.begin(); it != context.agent.environment.end(); ++it)
        environment.insert(it.key(), it.value());
    return environment;
}

QString orElse(const QString &first, const QString &second)
{
    return first.isEmpty() ? second : first;
}

} // namespace

sandbox::LaunchSpec ClaudeDriver::launchSpec(const LaunchContext &context) const
{
    const Agent &agent = context.agent;
    QStringList argv{context.program,
                     QStringLiteral("--print"),
                     QStringLiteral("--input-format"), QStringLiteral("stream-json"),
                     QStringLiteral("--output-format"), QStringLiteral("stream-json"),
                     QStringLiteral("--verbose"),
                     QStringLiteral("--include-partial-messages"),
                     QStringLiteral("--permission-prompt-tool"), QStringLiteral("stdio"),
                     QStringLiteral("--setting-sources"), QString(),
                     QStringLiteral("--strict-mcp-config"),
                     context.resume ? QStringLiteral("--resume") : QStringLiteral("--session-id"),
                     context.session.native.nativeSessionId};
    const auto option = [&argv](const QString &name, const QString &value) {
        if (!value.isEmpty())
            argv << name << value;
    };
    option(QStringLiteral("--model"), orElse(context.session.model, agent.model));
    option(QStringLiteral("--permission-mode"), orElse(context.session.permissionMode, agent.permissionMode));
    option(QStringLiteral("--append-system-prompt"), agent.instructions);
    // 0 is no limit to the harness too, but 2.1.197 does not say so.
    if (agent.maxTurns > 0)
        option(QStringLiteral("--max-turns"), QString::number(agent.maxTurns));
    // Else the first text of the instructions would win over later ones when resuming; older versions refuse the option.
    if (QVersionNumber::fromString(context.version) >= QVersionNumber(2, 1, 332))
        option(QStringLiteral("--system-prompt-snapshot"), QStringLiteral("off"));
    QStringList allowed = agent.allowedTools;
    if (agent.gate == Gate::Native) {
        // The console's own tools only read what the person sees anyway.
        for (const ToolDefinition &tool : m_tools.tools())
            allowed.append(QStringLiteral("mcp__signalbox__") + tool.name);
    }
    if (!allowed.isEmpty())
        argv << QStringLiteral("--allowedTools") << allowed;
    if (!agent.disallowedTools.isEmpty())
        argv << QStringLiteral("--disallowedTools") << agent.disallowedTools;
    return {argv, launchEnvironment(context), context.workspace, {}};
}

} // namespace engine::claude
