#include "models/toolsummary.h"

#include <nlohmann/json.hpp>

namespace models {
namespace {

constexpr qsizetype summaryInputLimit = 4 * 1024 * 1024; // longer arguments are shown, not parsed

QString summaryText(const nlohmann::ordered_json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

} // namespace

ToolSummary toolSummary(const QString &tool, const QString &input)
{
    ToolSummary summary;
    if (input.size() > summaryInputLimit)
        return summary;
    const auto json = nlohmann::ordered_json::parse(input.toStdString(), nullptr, false);
    if (!json.is_object())
        return summary;
    summary.path = summaryText(json, "file_path");
    if (summary.path.isEmpty())
        summary.path = summaryText(json, "notebook_path");
    if (json.contains("old_string") && json.contains("new_string")) {
        summary.edit = true;
        summary.oldText = summaryText(json, "old_string");
        summary.newText = summaryText(json, "new_string");
    } else if (tool == u"Write" && json.contains("content")) {
        summary.edit = true;
        summary.newText = summaryText(json, "content");
    }
    for (const char *key : {"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description"}) {
        summary.line = summaryText(json, key);
        if (!summary.line.isEmpty())
            break;
    }
    if (const auto changes = json.find("changes"); changes != json.end() && changes->is_array()) {
        for (const auto &change : *changes) {
            const QString path = change.is_object() ? summaryText(change, "path") : QString();
            summary.changed.append(path);
        }
        summary.line = summary.changed.join(QStringLiteral(", "));
    }
    for (auto it = json.begin(); summary.line.isEmpty() && it != json.end(); ++it) {
        if (it->is_string())
            summary.line = QString::fromStdString(it->get<std::string>());
    }
    return summary;
}

QString prettyJson(const QString &text)
{
    if (text.size() > summaryInputLimit)
        return text;
    const auto json = nlohmann::ordered_json::parse(text.toStdString(), nullptr, false);
    if (json.is_discarded())
        return text;
    return QString::fromStdString(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

} // namespace models
