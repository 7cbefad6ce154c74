#include "engine/harness/rawjson.h"

#include <QString>
#include <cstring>
#include <nlohmann/json.hpp>

namespace engine::rawjson {
namespace {

constexpr std::string_view replacementEscape = "\\ufffd";

bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t skipBlanks(std::string_view text, size_t at)
{
    while (at < text.size() && isBlank(text[at]))
        ++at;
    return at;
}

// Behind the closing quote of the string that begins at `at`.
size_t skipString(std::string_view text, size_t at)
{
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            return at + 1;
    }
    return text.size();
}

size_t skipValue(std::string_view text, size_t at)
{
    qsizetype depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = skipString(text, at);
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return at;
            --depth;
            ++at;
        } else if (depth == 0 && (c == ',' || c == ':' || isBlank(c))) {
            return at;
        } else {
            ++at;
            // A bare word or number ends where the next value or separator begins.
            if (depth == 0 && at < text.size() && !std::strchr("{[\",:}] \t\r\n", text[at]))
                continue;
        }
        if (depth == 0)
            return at;
    }
    return at;
}

bool nameEquals(std::string_view quoted, std::string_view name)
{
    if (quoted.size() < 2)
        return false;
    if (quoted.find('\\') == std::string_view::npos)
        return quoted.substr(1, quoted.size() - 2) == name;
    const auto json = nlohmann::json::parse(quoted, nullptr, false);
    return json.is_string() && json.get_ref<const std::string &>() == name;
}

int hexEscape(std::string_view text, size_t at)
{
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u')
        return -1;
    bool ok = false;
    const int code = QByteArray::fromRawData(text.data() + at + 2, 4).toInt(&ok, 16);
    return ok ? code : -1;
}

QByteArray withPairedSurrogates(std::string_view text)
{
    QByteArray out;
    out.reserve(qsizetype(text.size()));
    for (size_t at = 0; at < text.size();) {
        if (text[at] != '\\') {
            out.append(text[at++]);
            continue;
        }
        const int code = hexEscape(text, at);
        if (code < 0xd800 || code > 0xdfff) {
            out.append(text.data() + at, qsizetype(std::min<size_t>(2, text.size() - at)));
            at += 2;
            continue;
        }
        const int next = hexEscape(text, at + 6);
        if (code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
            out.append(text.data() + at, 12);
            at += 12;
        } else {
            out.append(replacementEscape.data(), qsizetype(replacementEscape.size()));
            at += 6;
        }
    }
    return out;
}

} // namespace

bool isTooDeep(std::string_view text)
{
    int depth = 0;
    for (size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') {
            at = skipString(text, at);
            continue;
        }
        if ((c == '{' || c == '[') && ++depth > deepest)
            return true;
        if (c == '}' || c == ']')
            --depth;
        ++at;
    }
    return false;
}

std::optional<std::string_view> member(std::string_view object, std::string_view name)
{
    std::optional<std::string_view> found;
    size_t at = skipBlanks(object, 0);
    if (at >= object.size() || object[at] != '{')
        return found;
    ++at;
    while (true) {
        at = skipBlanks(object, at);
        if (at < object.size() && object[at] == ',')
            at = skipBlanks(object, at + 1);
        if (at >= object.size() || object[at] != '"')
            return found;
        const size_t nameEnd = skipString(object, at);
        const bool wanted = nameEquals(object.substr(at, nameEnd - at), name);
        at = skipBlanks(object, nameEnd);
        if (at >= object.size() || object[at] != ':')
            return found;
        at = skipBlanks(object, at + 1);
        const size_t end = skipValue(object, at);
        if (end == at)
            return found;
        if (wanted)
            found = object.substr(at, end - at);
        at = end;
    }
}

QList<std::string_view> elements(std::string_view array)
{
    const size_t at = skipBlanks(array, 0);
    if (at >= array.size() || array[at] != '[')
        return {};
    QList<std::string_view> found;
    for (size_t i = at + 1; i < array.size();) {
        i = skipBlanks(array, i);
        if (i < array.size() && array[i] == ',')
            i = skipBlanks(array, i + 1);
        const size_t end = skipValue(array, i);
        if (end == i)
            break;
        found.append(array.substr(i, end - i));
        i = end;
    }
    return found;
}

QList<std::string_view> values(std::string_view text)
{
    QList<std::string_view> found;
    for (size_t at = skipBlanks(text, 0); at < text.size(); at = skipBlanks(text, at)) {
        const size_t end = skipValue(text, at);
        if (end == at)
            return {};
        found.append(text.substr(at, end - at));
        at = end;
    }
    return found;
}

QByteArray repaired(const QByteArray &text)
{
    // QString's decoder puts U+FFFD where a byte sequence is no UTF-8.
    return withPairedSurrogates(view(QString::fromUtf8(text).toUtf8()));
}

} // namespace engine::rawjson
