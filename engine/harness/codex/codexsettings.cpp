#include "engine/harness/codex/codexsettings.h"

#include "engine/harness/codex/codexcodec.h"

#include <QCoreApplication>

namespace engine {
namespace {

QString codexText(const char *text)
{
    return QCoreApplication::translate("engine::Agent", text);
}

} // namespace

QStringList approvalPolicies()
{
    return {QStringLiteral("on-request"), QStringLiteral("untrusted"), QStringLiteral("never")};
}

QStringList sandboxModes()
{
    return {QStringLiteral("read-only"), QStringLiteral("workspace-write"), QStringLiteral("danger-full-access"),
            QStringLiteral("external")};
}

QString effectiveApprovalPolicy(const Agent &agent)
{
    return codex::gatePolicy(agent).approval;
}

Result<bool> takeOldSpellings(Agent &agent)
{
    if (agent.sandbox.isEmpty())
        return false;
    if (!agent.sandboxMode.isEmpty())
        return fail(ErrorCode::Invalid,
                    codexText("Agent %1 names its sandbox twice: sandbox_mode \"%2\" and, in the old spelling, "
                              "sandbox \"%3\". Keep sandbox_mode and take the other out.")
                        .arg(agent.name, agent.sandboxMode, agent.sandbox));
    agent.sandboxMode = std::exchange(agent.sandbox, {});
    return true;
}

QString oldSpellingWarning(const Agent &agent)
{
    return codexText("Agent %1 uses the old setting sandbox = \"%2\". It was taken over as sandbox_mode; use that name "
                     "from now on.")
        .arg(agent.name, agent.sandboxMode);
}

Result<void> checkCodexSettings(const Agent &agent)
{
    if (!agent.approvalPolicy.isEmpty() && !approvalPolicies().contains(agent.approvalPolicy))
        return fail(ErrorCode::Invalid, codexText("Approval policy \"%1\" is not known. Allowed: %2.")
                                            .arg(agent.approvalPolicy, approvalPolicies().join(QStringLiteral(", "))));
    if (!agent.sandboxMode.isEmpty() && !sandboxModes().contains(agent.sandboxMode))
        return fail(ErrorCode::Invalid, codexText("Sandbox mode \"%1\" is not known. Allowed: %2.")
                                            .arg(agent.sandboxMode, sandboxModes().join(QStringLiteral(", "))));
    if (Agent named = agent; !agent.sandbox.isEmpty()) {
        if (const Result<bool> taken = takeOldSpellings(named); !taken)
            return tl::unexpected<Error>(taken.error());
        return checkCodexSettings(named);
    }
    if (agent.gate == Gate::All && !agent.approvalPolicy.isEmpty() && agent.approvalPolicy != u"untrusted")
        return fail(ErrorCode::Invalid,
                    codexText("When every tool call asks a person, the approval policy is \"untrusted\"; \"%1\" "
                              "would let calls run unasked.")
                        .arg(agent.approvalPolicy));
    if (agent.sandboxMode == u"external" && agent.provider == u"host")
        return fail(ErrorCode::Invalid,
                    codexText("Sandbox mode \"external\" says that something around Codex isolates it; provider "
                              "\"host\" does not. Choose another mode or provider."));
    if (agent.keyVariable.startsWith(u"ANTHROPIC_"))
        return fail(ErrorCode::Invalid,
                    codexText("%1 holds a key of another vendor; it would be sent to Codex's. Name the variable "
                              "that holds the right key, such as OPENAI_API_KEY.")
                        .arg(agent.keyVariable));
    return {};
}

} // namespace engine
