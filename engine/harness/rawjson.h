#pragma once

#include <QByteArray>
#include <QList>
#include <optional>
#include <string_view>

namespace engine::rawjson {

// Scans of JSON text that build nothing: linear, without recursion, for text of any nesting. They trust no input but
// expect text that a parser accepted; on other text they find nothing.

// Deeper documents are only looked at near their surface: everything else here and downstream may recurse.
inline constexpr int deepest = 200;
bool isTooDeep(std::string_view text);

// The exact text of a member's value; the last one of equal names, as parsers have it. Names are given unescaped.
std::optional<std::string_view> member(std::string_view object, std::string_view name);
// The elements of an array's text.
QList<std::string_view> elements(std::string_view array);
// The top-level values that stand one behind the other in a text.
QList<std::string_view> values(std::string_view text);

// Unpaired surrogate escapes and bytes that are no UTF-8 become U+FFFD.
QByteArray repaired(const QByteArray &text);

inline std::string_view view(const QByteArray &bytes) { return {bytes.constData(), size_t(bytes.size())}; }
inline QByteArray bytes(std::string_view view) { return {view.data(), qsizetype(view.size())}; }

} // namespace engine::rawjson
