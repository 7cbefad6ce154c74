#pragma once

// Shared by the codec's source files alone: nlohmann's types go no further.
#include "engine/harness/codex/codexmessages.h"
#include "engine/harness/rawjson.h"

#include <nlohmann/json.hpp>

namespace engine::codex {

using Json = nlohmann::ordered_json;

const Json &at(const Json &object, const char *key);
QString textAt(const Json &object, const char *key);
// Numbers beyond the type's range are clamped, everything else is 0.
qint64 numberAt(const Json &object, const char *key);
bool boolAt(const Json &object, const char *key);
QByteArray dumped(const Json &json);
Json objectOf(const QByteArray &text); // an empty object when it is none

Item itemOf(const Json &item);
ServerRequest serverRequest(const QString &method, const QByteArray &id, const Json &params, const QByteArray &raw,
                            bool tooDeep);

} // namespace engine::codex
