#include "engine/approvals/canonical.h"

#include <QCryptographicHash>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace engine {
namespace {

constexpr size_t deepestNesting = 512;

// ECMAScript's Number::toString, which RFC 8785 prescribes: the shortest digits that read back as the same double.
std::string numberText(double value)
{
    if (value == 0)
        return "0";
    char buffer[40];
    const auto [end, problem] =
        std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific);
    Q_ASSERT(problem == std::errc());
    const std::string text(buffer, end);
    const size_t e = text.find('e');
    std::string digits = text.substr(0, 1) + (e > 2 ? text.substr(2, e - 2) : std::string());
    const int point = std::atoi(text.c_str() + e + 1) + 1; // digits before the decimal point
    const int count = int(digits.size());
    std::string result;
    if (count <= point && point <= 21) {
        result = digits + std::string(size_t(point - count), '0');
    } else if (0 < point && point <= 21) {
        result = digits.substr(0, size_t(point)) + '.' + digits.substr(size_t(point));
    } else if (-6 < point && point <= 0) {
        result = "0." + std::string(size_t(-point), '0') + digits;
    } else {
        result = digits.substr(0, 1) + (count > 1 ? '.' + digits.substr(1) : std::string()) + 'e' +
                 (point > 0 ? '+' : '-') + std::to_string(std::abs(point - 1));
    }
    return value < 0 ? '-' + result : result;
}

std::string stringText(const std::string &utf8)
{
    static constexpr char hex[] = "0123456789abcdef";
    std::string result = "\"";
    for (const char c : utf8) {
        switch (c) {
        case '"':
            result += "\\\"";
            break;
        case '\\':
            result += "\\\\";
            break;
        case '\b':
            result += "\\b";
            break;
        case '\t':
            result += "\\t";
            break;
        case '\n':
            result += "\\n";
            break;
        case '\f':
            result += "\\f";
            break;
        case '\r':
            result += "\\r";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20)
                result += std::string("\\u00") + hex[(c >> 4) & 0xf] + hex[c & 0xf];
            else
                result += c;
        }
    }
    return result + '"';
}

struct Member
{
    std::u16string order; // the key as RFC 8785 sorts it: by UTF-16 code units
    std::string key;
    std::string value;
};

struct Level
{
    bool object = false;
    std::vector<Member> members; // of an array: values alone
};

// Writes canonical text from the parser's events, so that repeated keys and literals are still seen.
class CanonicalWriter final : public nlohmann::json_sax<nlohmann::json>
{
public:
    QString problem;
    std::string result;

    bool null() override { return value("null"); }
    bool boolean(bool flag) override { return value(flag ? "true" : "false"); }
    bool number_integer(number_integer_t number) override { return integer(std::to_string(number), double(number)); }
    bool number_unsigned(number_unsigned_t number) override { return integer(std::to_string(number), double(number)); }
    bool number_float(number_float_t number, const string_t &literal) override
    {
        if (literal.find_first_of(".eE") == string_t::npos)
            return integer(literal, number);
        return value(numberText(number));
    }
    bool string(string_t &text) override { return value(stringText(text)); }
    bool binary(binary_t &) override { return refuse(QStringLiteral("it holds binary data")); }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool end_array() override
    {
        std::string text = "[";
        for (const Member &member : m_levels.back().members)
            text += (text.size() > 1 ? "," : "") + member.value;
        m_levels.pop_back();
        return value(text + ']');
    }
    bool key(string_t &name) override
    {
        m_levels.back().members.push_back(
            {QString::fromUtf8(name.data(), qsizetype(name.size())).toStdU16String(), name, {}});
        return true;
    }
    bool end_object() override
    {
        std::vector<Member> members = std::move(m_levels.back().members);
        m_levels.pop_back();
        std::sort(members.begin(), members.end(), [](const Member &a, const Member &b) { return a.order < b.order; });
        std::string text = "{";
        for (size_t i = 0; i < members.size(); ++i) {
            if (i > 0 && members[i].order == members[i - 1].order)
                return refuse(QStringLiteral("the key \"%1\" is repeated").arg(QString::fromStdString(members[i].key)));
            text += (i > 0 ? "," : "") + stringText(members[i].key) + ':' + members[i].value;
        }
        return value(text + '}');
    }
    bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &error) override
    {
        return refuse(QString::fromUtf8(error.what()));
    }

private:
    bool refuse(const QString &why)
    {
        problem = why;
        return false;
    }

    bool open(bool object)
    {
        if (m_levels.size() >= deepestNesting)
            return refuse(QStringLiteral("it is nested deeper than %1").arg(deepestNesting));
        m_levels.push_back({object, {}});
        return true;
    }

    // A double would make one number of two integers: such an input keeps its literal text (see canonicalAction).
    bool integer(const std::string &literal, double number)
    {
        const std::string text = numberText(number);
        if (text != literal && literal != "-0")
            return refuse(
                QStringLiteral("the integer %1 is not exact as a double").arg(QString::fromStdString(literal)));
        return value(text);
    }

    bool value(std::string text)
    {
        if (m_levels.empty())
            result = std::move(text);
        else if (m_levels.back().object)
            m_levels.back().members.back().value = std::move(text);
        else
            m_levels.back().members.push_back({{}, {}, std::move(text)});
        return true;
    }

    std::vector<Level> m_levels;
};

std::string canonicalText(const QString &text)
{
    return stringText(text.toStdString());
}

// One member "arguments...": canonical JSON, else the exact text, else base64; the name tells which.
std::string argumentsMember(const QByteArray &input)
{
    if (const Result<QByteArray> canonical = canonicalJson(input))
        return "\"arguments\":" + canonical->toStdString();
    const QString text = QString::fromUtf8(input);
    if (text.toUtf8() == input)
        return "\"arguments_text\":" + stringText(input.toStdString());
    return "\"arguments_base64\":" + stringText(input.toBase64().toStdString());
}

} // namespace

Result<QByteArray> canonicalJson(const QByteArray &json)
{
    CanonicalWriter writer;
    if (!nlohmann::json::sax_parse(json.cbegin(), json.cend(), &writer)) {
        return fail(ErrorCode::Invalid, QStringLiteral("The text has no canonical JSON form: %1.").arg(writer.problem));
    }
    return QByteArray::fromStdString(writer.result);
}

Result<QByteArray> canonicalAction(const ActionFacts &facts)
{
    for (const QString &text :
         {facts.harness, facts.kind, facts.toolName, facts.cwd, facts.nativeSessionId, facts.nativeRequestId,
          facts.nativeToolUseId, facts.sessionId.value, facts.runId.value}) {
        if (!text.isValidUtf16()) {
            return fail(ErrorCode::Invalid,
                        QStringLiteral("The action has no canonical form: \"%1\" is no valid text.").arg(text));
        }
    }
    const std::string action =
        '{' + argumentsMember(facts.input) + ",\"attempt\":" + std::to_string(facts.attempt) +
        ",\"cwd\":" + canonicalText(facts.cwd) + ",\"generation\":" + std::to_string(facts.generation) +
        ",\"harness\":" + canonicalText(facts.harness) + ",\"kind\":" + canonicalText(facts.kind) +
        ",\"native_request_id\":" + canonicalText(facts.nativeRequestId) +
        ",\"native_session_id\":" + canonicalText(facts.nativeSessionId) +
        ",\"native_tool_use_id\":" + canonicalText(facts.nativeToolUseId) +
        ",\"run\":" + canonicalText(facts.runId.value) + ",\"session\":" + canonicalText(facts.sessionId.value) +
        ",\"tool\":" + canonicalText(facts.toolName) + '}';
    return QByteArray::fromStdString(action);
}

Digest inputDigest(const QByteArray &input)
{
    return digestOf(QByteArray::fromStdString('{' + argumentsMember(input) + '}'));
}

Digest digestOf(const QByteArray &canonical)
{
    return {QString::fromLatin1(QCryptographicHash::hash(canonical, QCryptographicHash::Sha256).toHex())};
}

} // namespace engine
