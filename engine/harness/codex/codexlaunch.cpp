#include "engine/harness/codex/codexdriver.h"

namespace engine::codex {
namespace {

// Nothing else of the console's environment reaches the harness and the commands it runs.
constexpr const char *codexInherited[] = {"PATH",        "HOME",       "USER",          "LOGNAME",     "SHELL",
                                          "LANG",        "LC_ALL",     "LC_CTYPE",      "TERM",        "TZ",
                                          "TMPDIR",      "HTTP_PROXY", "HTTPS_PROXY",   "NO_PROXY",    "http_proxy",
                                          "https_proxy", "no_proxy",   "SSL_CERT_FILE", "SSL_CERT_DIR"};

// Nothing that phones home, acts without asking, or waits for a network for ever.
constexpr const char *quietSettings[] = {"check_for_update_on_startup=false",
                                         "web_search=\"disabled\"",
                                         "history.persistence=\"none\"",
                                         "analytics.enabled=false",
                                         "skills.bundled.enabled=false",
                                         "features.plugins=false",
                                         "features.apps=false",
                                         "features.multi_agent=false",
                                         "features.goals=false",
                                         "features.image_generation=false",
                                         "features.tool_suggest=false",
                                         "features.shell_snapshot=false",
                                         "features.remote_plugin=false",
                                         "features.unified_exec_tty=false",
                                         "features.unbounded_connection_retries=false"};

const QString keyName = QStringLiteral("OPENAI_API_KEY");
const QString baseUrlName = QStringLiteral("OPENAI_BASE_URL");
const QString vendorUrl = QStringLiteral("https://api.openai.com/v1");

// A JSON string is a string of TOML too.
QString setting(const QString &name, const QString &value)
{
    return name + u'=' + QString::fromUtf8(jsonText(value));
}

QString keyOf(const LaunchContext &context)
{
    return context.agent.keyVariable.isEmpty() ? QString() : context.hostEnvironment.value(context.agent.keyVariable);
}

QString baseUrlOf(const LaunchContext &context)
{
    return context.agent.baseUrl.isEmpty() ? context.hostEnvironment.value(baseUrlName) : context.agent.baseUrl;
}

QMap<QString, QString> codexEnvironment(const LaunchContext &context)
{
    QMap<QString, QString> environment;
    for (const char *name : codexInherited) {
        const auto found = context.hostEnvironment.find(QString::fromLatin1(name));
        if (found != context.hostEnvironment.end())
            environment.insert(found.key(), *found);
    }
    const auto unlessSet = [&](const QString &name, const QString &value) {
        if (!environment.contains(name))
            environment.insert(name, value);
    };
    unlessSet(QStringLiteral("PATH"), QStringLiteral("/usr/local/bin:/usr/bin:/bin"));
    unlessSet(QStringLiteral("LANG"), QStringLiteral("C.UTF-8"));
    unlessSet(QStringLiteral("TERM"), QStringLiteral("dumb"));
    environment.insert(QStringLiteral("RUST_LOG"), QStringLiteral("off"));
    if (!context.configFolder.isEmpty())
        environment.insert(QStringLiteral("CODEX_HOME"), context.configFolder);
    if (const QString key = keyOf(context); !key.isEmpty())
        environment.insert(keyName, key);
    for (auto it = context.agent.environment.begin(); it != context.agent.environment.end(); ++it)
        environment.insert(it.key(), it.value());
    return environment;
}

// Without a key of ours the harness goes by the account that its own folder is signed in to.
QStringList providerSettings(const LaunchContext &context)
{
    const QString url = baseUrlOf(context);
    const bool hasKey = !keyOf(context).isEmpty();
    if (!hasKey && url.isEmpty())
        return {};
    const QString provider = QStringLiteral("model_providers.signalbox.");
    QStringList settings{setting(QStringLiteral("model_provider"), QStringLiteral("signalbox")),
                         setting(provider + QStringLiteral("name"), QStringLiteral("signalbox")),
                         setting(provider + QStringLiteral("base_url"), url.isEmpty() ? vendorUrl : url),
                         setting(provider + QStringLiteral("wire_api"), QStringLiteral("responses"))};
    if (hasKey)
        settings.append(setting(provider + QStringLiteral("env_key"), keyName));
    return settings;
}

} // namespace

sandbox::LaunchSpec CodexDriver::launchSpec(const LaunchContext &context) const
{
    // A setting that the program does not know ends it at once: none of these may be passed over silently.
    QStringList argv{context.program, QStringLiteral("app-server"), QStringLiteral("--strict-config")};
    for (const char *quiet : quietSettings)
        argv << QStringLiteral("-c") << QString::fromLatin1(quiet);
    for (const QString &one : providerSettings(context))
        argv << QStringLiteral("-c") << one;
    // The key is for the harness, not for the commands that it runs.
    argv << QStringLiteral("-c")
         << QStringLiteral("shell_environment_policy.exclude=[%1]").arg(QString::fromUtf8(jsonText(keyName)));
    return {argv, codexEnvironment(context), context.workspace, {}};
}

} // namespace engine::codex
