#include "engine/tools/consoletools.h"

#include <nlohmann/json.hpp>

namespace engine {
namespace {

const QString sessionInfoTool = QStringLiteral("session_info");

QString callerOf(const QByteArray &arguments)
{
    const auto json = nlohmann::json::parse(arguments.begin(), arguments.end(), nullptr, false);
    if (!json.is_object())
        return {};
    const auto found = json.find(callerSessionKey);
    return found != json.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

} // namespace

QList<ToolDefinition> ConsoleTools::tools() const
{
    return {{sessionInfoTool,
             QStringLiteral("Tells about the console session you run in: its title, agent, workspace folder and how many "
                            "further prompts wait in its queue. Takes no arguments."),
             QByteArrayLiteral(R"({"type":"object","properties":{},"additionalProperties":false})")}};
}

ToolReply ConsoleTools::call(const QString &name, const QByteArray &arguments)
{
    if (name != sessionInfoTool)
        return {QStringLiteral("There is no tool \"%1\" here. Available: %2.").arg(name, sessionInfoTool), true};
    const QByteArray info = m_sessionInfo ? m_sessionInfo(callerOf(arguments)) : QByteArray();
    if (info.isEmpty() || info == "{}")
        return {QStringLiteral("The console does not know this session."), true};
    return {QString::fromUtf8(info), false};
}

} // namespace engine
