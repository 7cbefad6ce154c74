#include "models/displaytext.h"

#include <QCoreApplication>

namespace models {
namespace {

constexpr qint64 minuteMs = 60'000;
constexpr qint64 hourMs = 60 * minuteMs;
constexpr qint64 dayMs = 24 * hourMs;

QString trText(const char *text)
{
    return QCoreApplication::translate("models::DisplayText", text);
}

QString scaled(double value)
{
    return QString::number(value, 'f', value < 99.95 ? 1 : 0);
}

QString twoUnits(qint64 large, qint64 small, const char *both, const char *one)
{
    return small == 0 ? trText(one).arg(large) : trText(both).arg(large).arg(small);
}

// Coarse on purpose: a relative time that changes every second draws the eye for nothing.
QString coarse(qint64 milliseconds)
{
    const qint64 ms = qMax<qint64>(0, milliseconds);
    if (ms < minuteMs)
        return trText("%1 s").arg(ms / 1000);
    if (ms < hourMs)
        return trText("%1 min").arg(ms / minuteMs);
    if (ms < 2 * dayMs)
        return trText("%1 h").arg(ms / hourMs);
    return trText("%1 d").arg(ms / dayMs);
}

} // namespace

Look look(engine::RunState state)
{
    switch (state) {
    case engine::RunState::Pending:
        return {trText("Queued"), QStringLiteral("queued"), Tone::Muted};
    case engine::RunState::Running:
        return {trText("Running"), QStringLiteral("running"), Tone::Info};
    case engine::RunState::Paused:
        return {trText("Needs you"), QStringLiteral("paused"), Tone::Attention};
    case engine::RunState::Completed:
        return {trText("Done"), QStringLiteral("done"), Tone::Good};
    case engine::RunState::Error:
        return {trText("Failed"), QStringLiteral("failed"), Tone::Danger};
    case engine::RunState::Cancelled:
        return {trText("Cancelled"), QStringLiteral("cancelled"), Tone::Neutral};
    }
    return {};
}

Look look(engine::ToolState state)
{
    switch (state) {
    case engine::ToolState::None:
        return {{}, QStringLiteral("tool"), Tone::Neutral};
    case engine::ToolState::Running:
        return {trText("Running"), QStringLiteral("running"), Tone::Info};
    case engine::ToolState::Done:
        return {trText("Done"), QStringLiteral("done"), Tone::Good};
    case engine::ToolState::Failed:
        return {trText("Failed"), QStringLiteral("failed"), Tone::Danger};
    case engine::ToolState::Denied:
        return {trText("Denied"), QStringLiteral("denied"), Tone::Neutral};
    }
    return {};
}

Look look(engine::SessionGroup group)
{
    switch (group) {
    case engine::SessionGroup::NeedsYou:
        return {trText("Needs you"), QStringLiteral("paused"), Tone::Attention};
    case engine::SessionGroup::Running:
        return {trText("Running"), QStringLiteral("running"), Tone::Info};
    case engine::SessionGroup::Queued:
        return {trText("Queued"), QStringLiteral("queued"), Tone::Muted};
    case engine::SessionGroup::Idle:
        return {trText("Idle"), QStringLiteral("idle"), Tone::Muted};
    }
    return {};
}

Look look(const engine::Approval &approval)
{
    if (approval.state == engine::ApprovalState::Pending)
        return approval.nativeLost ? Look{trText("Native execution lost"), QStringLiteral("warning"), Tone::Danger}
                                   : look(engine::RunState::Paused);
    if (approval.delivery == engine::Delivery::Lost || (approval.nativeLost && !approval.executedAt.isValid()))
        return {trText("Native execution lost"), QStringLiteral("warning"), Tone::Danger};
    switch (approval.state) {
    case engine::ApprovalState::Pending:
        break;
    case engine::ApprovalState::Approved:
    case engine::ApprovalState::Denied:
        if (approval.delivery == engine::Delivery::NotDelivered)
            return {trText("Decided, not delivered"), QStringLiteral("warning"), Tone::Attention};
        return approval.state == engine::ApprovalState::Approved
                   ? Look{trText("Approved"), QStringLiteral("done"), Tone::Good}
                   : Look{trText("Denied"), QStringLiteral("denied"), Tone::Neutral};
    case engine::ApprovalState::Expired:
        return {trText("Timed out"), QStringLiteral("expired"), Tone::Danger};
    case engine::ApprovalState::Cancelled:
        return {trText("Cancelled by the system"), QStringLiteral("cancelled"), Tone::Neutral};
    }
    return {};
}

Look look(const engine::Approval &approval, const QDateTime &now)
{
    Look result = look(approval);
    if (approval.state == engine::ApprovalState::Pending && approval.expiresAt.isValid() &&
        now.secsTo(approval.expiresAt) < lastWarningSeconds)
        result.tone = Tone::Danger;
    return result;
}

QString deliveryWords(engine::Delivery delivery)
{
    switch (delivery) {
    case engine::Delivery::None:
        return trText("nothing to deliver");
    case engine::Delivery::NotDelivered:
        return trText("decided, not delivered");
    case engine::Delivery::Written:
        return trText("written to the worker, not yet acknowledged by the harness");
    case engine::Delivery::Acknowledged:
        return trText("acknowledged by the harness");
    case engine::Delivery::Executed:
        return trText("executed");
    case engine::Delivery::Lost:
        return trText("native execution lost before the decision arrived");
    }
    return {};
}

QString kindWords(engine::ApprovalKind kind)
{
    switch (kind) {
    case engine::ApprovalKind::Tool:
        return trText("Tool");
    case engine::ApprovalKind::Question:
        return trText("Question");
    case engine::ApprovalKind::Plan:
        return trText("Plan");
    case engine::ApprovalKind::Unknown:
        return trText("Unknown kind");
    }
    return {};
}

QString harnessWords(engine::HarnessKind kind)
{
    switch (kind) {
    case engine::HarnessKind::Claude:
        return trText("Claude Code");
    case engine::HarnessKind::Codex:
        return trText("Codex");
    case engine::HarnessKind::Replay:
        return trText("Replay of a recording");
    }
    return {};
}

QString permissionModeSentence(const QString &mode)
{
    if (mode == u"default")
        return trText("Reads freely; asks you before commands, edits and anything that leaves the workspace.");
    if (mode == u"acceptEdits")
        return trText("File edits in the workspace pass without asking; commands still ask.");
    if (mode == u"plan")
        return trText("Only reads and plans; asks you to accept the plan before it changes anything.");
    if (mode == u"dontAsk")
        return trText("Never asks: what is not allowed beforehand is denied.");
    if (mode == u"bypassPermissions")
        return trText("Everything passes without asking, also commands that delete. Nothing holds it back.");
    return trText("Not a mode that this program knows.");
}

QString approvalPolicySentence(const QString &policy)
{
    if (policy.isEmpty() || policy == u"on-request")
        return trText("What the sandbox lets through runs without asking; asks you to leave it and before patches outside of it.");
    if (policy == u"untrusted")
        return trText("Asks you before every command and every patch, also harmless reads.");
    if (policy == u"never")
        return trText("Never asks: what the sandbox refuses fails. Nothing but the sandbox holds it back.");
    return trText("Not a policy that this program knows.");
}

QString sandboxModeSentence(const QString &mode)
{
    if (mode.isEmpty() || mode == u"read-only")
        return trText("Commands read everything and write nothing; no network.");
    if (mode == u"workspace-write")
        return trText("Commands write in the workspace and in temporary folders without asking; no network.");
    if (mode == u"danger-full-access")
        return trText("No sandbox: commands do whatever you can. Use it with the policy \"untrusted\" only.");
    if (mode == u"external")
        return trText("Something around Codex isolates it; it does not sandbox by itself.");
    return trText("Not a mode that this program knows.");
}

QString agentMode(const engine::Agent &agent)
{
    if (agent.harness != engine::HarnessKind::Codex)
        return agent.permissionMode;
    if (agent.gate == engine::Gate::All)
        return QStringLiteral("untrusted");
    return agent.approvalPolicy.isEmpty() ? QStringLiteral("on-request") : agent.approvalPolicy;
}

QString modeSentence(engine::HarnessKind kind, const QString &mode)
{
    return kind == engine::HarnessKind::Codex ? approvalPolicySentence(mode) : permissionModeSentence(mode);
}

QString harnessLimits(engine::HarnessKind kind)
{
    switch (kind) {
    case engine::HarnessKind::Codex:
        return trText("Codex takes no lists of tools and no limit of turns, and a command or patch can't be changed before it runs. "
                      "It reports tokens, not money.");
    case engine::HarnessKind::Claude:
        return trText("Claude Code has no sandbox of its own.");
    case engine::HarnessKind::Replay:
        break;
    }
    return {};
}

QString gateSentence(engine::Gate gate)
{
    switch (gate) {
    case engine::Gate::Native:
        return trText("The harness decides what it asks for, by its permission mode.");
    case engine::Gate::All:
        return trText("Every tool call asks a person, also harmless reads.");
    }
    return {};
}

QString providerSentence(const QString &provider)
{
    if (provider == u"host")
        return trText("No isolation: runs as you on this computer");
    return provider == u"docker" ? trText("A container of its own: no network, no key, none of your files") : provider;
}

QString duration(qint64 milliseconds)
{
    const qint64 ms = qMax<qint64>(0, milliseconds);
    if (ms < 1000)
        return trText("%1 ms").arg(ms);
    if (ms < minuteMs)
        return ms < 10'000 ? trText("%1 s").arg(QString::number(double(ms / 100) / 10.0, 'f', 1))
                           : trText("%1 s").arg(ms / 1000);
    if (ms < hourMs)
        return ms < 10 * minuteMs ? twoUnits(ms / minuteMs, ms % minuteMs / 1000, "%1 min %2 s", "%1 min")
                                  : trText("%1 min").arg(ms / minuteMs);
    if (ms < dayMs)
        return twoUnits(ms / hourMs, ms % hourMs / minuteMs, "%1 h %2 min", "%1 h");
    return twoUnits(ms / dayMs, ms % dayMs / hourMs, "%1 d %2 h", "%1 d");
}

QString countdown(qint64 seconds)
{
    const qint64 left = qMax<qint64>(0, seconds);
    const QString tail = QString::number(left % 60).rightJustified(2, u'0');
    if (left < 3600)
        return QString::number(left / 60) + u':' + tail;
    return QString::number(left / 3600) + u':' + QString::number(left % 3600 / 60).rightJustified(2, u'0') + u':' + tail;
}

QString relativeTime(const QDateTime &when, const QDateTime &now)
{
    if (!when.isValid())
        return trText("never");
    const qint64 ms = when.msecsTo(now);
    if (ms < -1000)
        return trText("in %1").arg(coarse(-ms));
    return ms < 2000 ? trText("now") : trText("%1 ago").arg(coarse(ms));
}

QString age(const QDateTime &since, const QDateTime &now)
{
    return since.isValid() ? coarse(since.msecsTo(now)) : QString();
}

QString exactUtc(const QDateTime &when)
{
    return when.isValid() ? when.toUTC().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz")) + QStringLiteral(" UTC")
                          : QString();
}

QString money(qint64 micros)
{
    const bool negative = micros < 0;
    const double dollars = double(qAbs(micros)) / 1e6;
    const int decimals = micros == 0 || dollars >= 1 ? 2 : 4;
    return (negative ? QStringLiteral("-$") : QStringLiteral("$")) + QString::number(dollars, 'f', decimals);
}

QString tokens(qint64 count)
{
    if (count < 1000)
        return count == 1 ? trText("1 token") : trText("%1 tokens").arg(count);
    if (count < 999'950)
        return trText("%1k tokens").arg(scaled(double(count) / 1e3));
    return trText("%1M tokens").arg(scaled(double(count) / 1e6));
}

QString byteSize(qint64 bytes)
{
    constexpr const char *units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < 1000)
        return trText("%1 B").arg(bytes);
    double value = double(bytes) / 1000;
    int unit = 0;
    for (; value >= 999.95 && unit < 3; ++unit)
        value /= 1000;
    return scaled(value) + u' ' + QLatin1String(units[unit]);
}

QString oneLine(const QString &text, int characters)
{
    const QString line = text.simplified();
    return line.size() > characters ? line.left(characters - 1) + u'…' : line;
}

} // namespace models
