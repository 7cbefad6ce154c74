#pragma once

#include <QHash>
#include <QString>
#include <compare>

namespace engine {

// A word of the domain as a type of its own: ids of different kinds never mix. Any thread, by value.
template <class Tag> struct Id
{
    QString value;

    bool isEmpty() const { return value.isEmpty(); }
    friend bool operator==(const Id &, const Id &) = default;
    friend std::strong_ordering operator<=>(const Id &a, const Id &b)
    {
        return a.value.compare(b.value) <=> 0;
    }
    friend size_t qHash(const Id &id, size_t seed = 0) { return ::qHash(id.value, seed); }
};

using AgentId = Id<struct AgentTag>;
using SessionId = Id<struct SessionTag>;
using RunId = Id<struct RunTag>;
using ApprovalId = Id<struct ApprovalTag>;
// Lower-case hexadecimal SHA-256 of a canonical action.
using Digest = Id<struct DigestTag>;

// "s-5f0c..." style: a short prefix and 16 random hexadecimal digits.
QString newIdValue(const char *prefix);
inline AgentId newAgentId() { return {newIdValue("a")}; }
inline SessionId newSessionId() { return {newIdValue("s")}; }
inline RunId newRunId() { return {newIdValue("r")}; }
inline ApprovalId newApprovalId() { return {newIdValue("p")}; }

} // namespace engine
