#include "engine/approvals/approvaldesk.h"

#include <nlohmann/json.hpp>

namespace engine {
namespace {

constexpr qsizetype titleCharacters = 160;

QString textField(const nlohmann::json &input, const char *name)
{
    const auto found = input.find(name);
    return found != input.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

QString oneLine(QString text)
{
    text = text.simplified();
    return text.size() > titleCharacters ? text.left(titleCharacters - 1) + u'…' : text;
}

} // namespace

QString approvalTitle(const PermissionRequested &asked)
{
    const nlohmann::json input = nlohmann::json::parse(asked.input.toStdString(), nullptr, false);
    switch (asked.kind) {
    case ApprovalKind::Question: {
        if (input.is_object() && input.contains("questions") && input["questions"].is_array() &&
            !input["questions"].empty() && input["questions"][0].is_object())
            return oneLine(textField(input["questions"][0], "question"));
        return QStringLiteral("The agent asks a question");
    }
    case ApprovalKind::Plan:
        return QStringLiteral("Carry out the plan");
    case ApprovalKind::Unknown:
        return oneLine(asked.toolName.isEmpty() ? QStringLiteral("A request of an unknown kind")
                                                : QStringLiteral("Unknown request: ") + asked.toolName);
    case ApprovalKind::Tool:
        break;
    }
    if (asked.toolName == u"fileChange" && input.is_object() && input.contains("changes") && input["changes"].is_array()) {
        QStringList paths;
        for (const nlohmann::json &change : input["changes"])
            paths.append(change.is_object() ? textField(change, "path") : QString());
        return oneLine(QStringLiteral("Change: ") + paths.join(QStringLiteral(", ")));
    }
    if (asked.toolName == u"permissions")
        return QStringLiteral("Give more permissions for this turn");
    if (input.is_object()) {
        for (const char *field : {"command", "file_path", "path", "url", "pattern", "query", "notebook_path"}) {
            const QString value = textField(input, field);
            if (!value.isEmpty()) {
                const bool runs = asked.toolName == u"Bash" || asked.toolName == u"commandExecution";
                const QString verb = runs ? QStringLiteral("Run") : asked.toolName;
                return oneLine(verb + QStringLiteral(": ") + value);
            }
        }
    }
    return oneLine(QStringLiteral("Use the tool ") + asked.toolName);
}

} // namespace engine
