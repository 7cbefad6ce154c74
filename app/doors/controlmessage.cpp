#include "app/doors/controlmessage.h"

#include <nlohmann/json.hpp>

namespace app {

using nlohmann::json;
using Kind = ControlMessage::Kind;

namespace {

constexpr std::pair<Kind, const char *> controlKinds[] = {
    {Kind::Request, "request"}, {Kind::Answer, "answer"}, {Kind::Hello, "hello"}, {Kind::Out, "out"},
    {Kind::Err, "err"},         {Kind::Ask, "ask"},       {Kind::Exit, "exit"}};

QString textOrNothing(const json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

} // namespace

QByteArray encode(const ControlMessage &message)
{
    json object = json::object();
    for (const auto &[kind, name] : controlKinds) {
        if (kind == message.kind)
            object["kind"] = name;
    }
    object["text"] = message.text.toStdString();
    object["number"] = message.number;
    if (message.kind == Kind::Request) {
        object["words"] = json::array();
        for (const QString &word : message.words)
            object["words"].push_back(word.toStdString());
        object["workingFolder"] = message.workingFolder.toStdString();
        object["input"] = message.input.toStdString();
        object["canAsk"] = message.canAsk;
    }
    return QByteArray::fromStdString(object.dump(-1, ' ', false, json::error_handler_t::replace)) + '\n';
}

std::optional<ControlMessage> decodeControl(const QByteArray &line)
{
    const json object = json::parse(line.begin(), line.end(), nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    ControlMessage message;
    const QString name = textOrNothing(object, "kind");
    bool known = false;
    for (const auto &[kind, text] : controlKinds) {
        if (name == QLatin1String(text)) {
            message.kind = kind;
            known = true;
        }
    }
    if (!known)
        return std::nullopt;
    message.text = textOrNothing(object, "text");
    if (const auto number = object.find("number"); number != object.end() && number->is_number_integer())
        message.number = number->get<int>();
    if (const auto words = object.find("words"); words != object.end() && words->is_array()) {
        for (const json &word : *words) {
            if (!word.is_string())
                return std::nullopt;
            message.words.append(QString::fromStdString(word.get<std::string>()));
        }
    }
    message.workingFolder = textOrNothing(object, "workingFolder");
    message.input = textOrNothing(object, "input");
    if (const auto canAsk = object.find("canAsk"); canAsk != object.end() && canAsk->is_boolean())
        message.canAsk = canAsk->get<bool>();
    return message;
}

} // namespace app
