#pragma once

#include "engine/harness/codex/codexmessages.h"
#include "engine/harness/rawjson.h"

#include <cmath>

// Reading of a parsed document, whatever its type: missing and ill-typed members read as nothing. Shared by the codec's
// sources alone.
namespace engine::codex {

template<class Json> const Json &at(const Json &object, const char *key)
{
    static const Json none;
    if (!object.is_object())
        return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

template<class Json> QString textAt(const Json &object, const char *key)
{
    const Json &value = at(object, key);
    return value.is_string() ? QString::fromStdString(value.template get_ref<const std::string &>()) : QString();
}

// Numbers beyond the type's range are clamped, everything else is 0.
template<class Json> qint64 numberAt(const Json &object, const char *key)
{
    const Json &value = at(object, key);
    if (!value.is_number())
        return 0;
    const double number = value.template get<double>();
    return std::isfinite(number) ? qint64(std::clamp(number, -9.0e15, 9.0e15)) : 0;
}

template<class Json> bool boolAt(const Json &object, const char *key)
{
    const Json &value = at(object, key);
    return value.is_boolean() && value.template get<bool>();
}

template<class Json> QByteArray dumped(const Json &json)
{
    return QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Of the text of an item, and of a request's parameters; empty when they are too deep to be looked at.
Item itemOf(const QByteArray &item);
ServerRequest serverRequest(const QString &method, const QByteArray &id, const QByteArray &params,
                            const QByteArray &raw);

} // namespace engine::codex
