#include "models/approvalinput.h"

#include "models/toolsummary.h"

#include <QCoreApplication>
#include <nlohmann/json.hpp>

namespace models {
namespace {

using Json = nlohmann::ordered_json;

QString trInput(const char *text)
{
    return QCoreApplication::translate("models::ApprovalInput", text);
}

Json parsedObject(const QByteArray &input)
{
    Json json = Json::parse(input.begin(), input.end(), nullptr, false);
    return json.is_object() ? json : Json();
}

QString dumped(const Json &json, int indent)
{
    return QString::fromStdString(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

QString stringOf(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

// The lines of a unified diff as they are; its marks are kept apart from their text.
QList<DiffLine> unifiedDiff(const QString &text)
{
    QList<DiffLine> lines;
    QStringList split = text.split(u'\n');
    if (split.size() > 1 && split.last().isEmpty())
        split.removeLast();
    for (const QString &line : std::as_const(split)) {
        const bool isAdded = line.startsWith(u'+');
        const bool isRemoved = line.startsWith(u'-');
        const bool isMarked = isAdded || isRemoved || line.startsWith(u' ');
        lines.append({isAdded ? DiffLine::Kind::Added : isRemoved ? DiffLine::Kind::Removed : DiffLine::Kind::Same,
                      isMarked ? line.mid(1) : line});
    }
    return lines;
}

// One file of a patch, as Codex tells it: a new or deleted one by its content, a changed one by its diff.
ActionPart changePart(const Json &change)
{
    const QString path = stringOf(change, "path");
    const QString diff = stringOf(change, "diff");
    const auto kind = change.find("kind");
    const QString type = kind != change.end() && kind->is_object() ? stringOf(*kind, "type") : QString();
    const QString moved = kind != change.end() && kind->is_object() ? stringOf(*kind, "move_path") : QString();
    ActionPart part;
    if (type == u"add")
        part = {trInput("Adds %1").arg(path), {}, lineDiff({}, diff)};
    else if (type == u"delete")
        part = {trInput("Deletes %1").arg(path), {}, lineDiff(diff, {})};
    else if (type == u"update")
        part = {moved.isEmpty() ? trInput("Changes %1").arg(path) : trInput("Changes %1 and moves it to %2").arg(path, moved),
                {},
                unifiedDiff(diff)};
    else
        part = {trInput("File change"), dumped(change, 2), {}};
    if (part.diff.isEmpty() && part.text.isEmpty())
        part.text = trInput("(empty)");
    return part;
}

bool areChanges(const Json &input)
{
    const auto list = input.find("changes");
    return list != input.end() && list->is_array() && !list->empty() &&
           std::all_of(list->begin(), list->end(), [](const Json &change) {
               return change.is_object() && !stringOf(change, "path").isEmpty() && change.contains("diff");
           });
}

QString fieldLine(const std::string &name, const Json &value)
{
    const QString label = QString::fromStdString(name) + QStringLiteral(": ");
    const QString text = value.is_string() ? QString::fromStdString(value.get<std::string>()) : dumped(value, 2);
    return text.contains(u'\n') ? QString(label + u'\n' + text) : QString(label + text);
}

} // namespace

QList<ActionPart> actionParts(const engine::Approval &approval)
{
    QList<ActionPart> parts;
    Json input = parsedObject(approval.input);
    if (approval.kind == engine::ApprovalKind::Unknown || !input.is_object()) {
        parts.append({trInput("Request as it came"), QString::fromUtf8(approval.raw.isEmpty() ? approval.input : approval.raw), {}});
    } else {
        const QString command = stringOf(input, "command");
        if (!command.isEmpty()) {
            parts.append({trInput("Command"), command, {}});
            input.erase("command");
        }
        if (areChanges(input)) {
            for (const Json &change : input["changes"])
                parts.append(changePart(change));
            input.erase("changes");
        }
        const ToolSummary summary = toolSummary(approval.toolName, QString::fromUtf8(approval.input));
        if (summary.edit) {
            const bool isNew = !input.contains("old_string");
            parts.append({isNew ? trInput("Writes the whole file") : trInput("Replaces in the file"),
                          {},
                          lineDiff(summary.oldText, summary.newText)});
            for (const char *key : {"old_string", "new_string"})
                input.erase(key);
            if (isNew)
                input.erase("content");
            if (parts.last().diff.isEmpty())
                parts.last().text = trInput("(empty)");
        }
        QStringList lines;
        for (auto field = input.begin(); field != input.end(); ++field)
            lines.append(fieldLine(field.key(), field.value()));
        if (!lines.isEmpty())
            parts.append({parts.isEmpty() ? trInput("Arguments") : trInput("Other arguments"), lines.join(u'\n'), {}});
        if (parts.isEmpty())
            parts.append({trInput("Arguments"), trInput("(none)"), {}});
    }
    parts.append({trInput("In folder"), approval.cwd, {}});
    return parts;
}

QList<Question> questionsOf(const QByteArray &input)
{
    QList<Question> questions;
    const Json json = parsedObject(input);
    const auto list = json.is_object() ? json.find("questions") : json.end();
    if (!json.is_object() || list == json.end() || !list->is_array())
        return {};
    for (const Json &entry : *list) {
        if (!entry.is_object() || stringOf(entry, "question").isEmpty())
            return {}; // half a question could not be answered as a whole
        Question question{stringOf(entry, "question"), stringOf(entry, "header"), false, {}};
        const auto multiple = entry.find("multiSelect");
        question.isMultiple = multiple != entry.end() && multiple->is_boolean() && multiple->get<bool>();
        const auto options = entry.find("options");
        if (options != entry.end() && options->is_array()) {
            for (const Json &option : *options) {
                if (option.is_object() && !stringOf(option, "label").isEmpty())
                    question.options.append({stringOf(option, "label"), stringOf(option, "description")});
                else if (option.is_string())
                    question.options.append({QString::fromStdString(option.get<std::string>()), {}});
            }
        }
        questions.append(question);
    }
    return questions;
}

QByteArray withAnswers(const QByteArray &input, const QMap<QString, QString> &answers)
{
    Json json = parsedObject(input);
    Json given = Json::object();
    for (auto it = answers.begin(); it != answers.end(); ++it)
        given[it.key().toStdString()] = it.value().toStdString();
    json["answers"] = given;
    return QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

QString planOf(const QByteArray &input)
{
    const Json json = parsedObject(input);
    return json.is_object() ? stringOf(json, "plan") : QString();
}

QString jsonObjectProblem(const QString &text)
{
    const QByteArray bytes = text.toUtf8();
    try {
        const Json json = Json::parse(bytes.begin(), bytes.end());
        return json.is_object() ? QString() : trInput("The arguments must be a JSON object: { \"name\": value, … }");
    } catch (const Json::parse_error &error) {
        const QByteArray before = bytes.left(qsizetype(error.byte > 0 ? error.byte - 1 : 0));
        const qsizetype line = before.count('\n') + 1;
        const qsizetype column = before.size() - (before.lastIndexOf('\n') + 1) + 1;
        return trInput("Not JSON at line %1, column %2").arg(line).arg(column);
    }
}

bool isSameJson(const QString &first, const QString &second)
{
    const Json a = Json::parse(first.toStdString(), nullptr, false);
    const Json b = Json::parse(second.toStdString(), nullptr, false);
    return !a.is_discarded() && a == b;
}

} // namespace models
