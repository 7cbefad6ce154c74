#pragma once

#include "engine/types/agent.h"
#include "engine/types/approval.h"
#include "engine/types/block.h"
#include "engine/types/computer.h"
#include "engine/types/run.h"
#include "engine/types/session.h"

namespace models {

// The meaning of a colour; which colour it is, is the theme's business.
enum class Tone { Neutral, Muted, Info, Attention, Danger, Good };

// A state is never a colour alone: word, icon and tone travel together. `icon` is a name of ui/widgets/icons.
struct Look
{
    QString word;
    QString icon;
    Tone tone = Tone::Neutral;

    bool operator==(const Look &) const = default;
};
Look look(engine::RunState state);
Look look(engine::ToolState state);
Look look(engine::SessionGroup group);
// The whole truth of an approval: a decision that did not arrive or whose harness is gone says so.
Look look(const engine::Approval &approval);
// Under 60 s a pending approval turns to danger.
Look look(const engine::Approval &approval, const QDateTime &now);

constexpr int lastWarningSeconds = 60;

QString deliveryWords(engine::Delivery delivery);
QString kindWords(engine::ApprovalKind kind);
QString harnessWords(engine::HarnessKind kind);
// What a permission mode lets through, in a plain sentence.
QString permissionModeSentence(const QString &mode);
// Codex's own settings; an empty word means the default.
QString approvalPolicySentence(const QString &policy);
QString sandboxModeSentence(const QString &mode);
// The mode an agent's sessions start in, in its harness's word, and what that means.
QString agentMode(const engine::Agent &agent);
QString modeSentence(engine::HarnessKind kind, const QString &mode);
// What this harness can't do and another can; empty: nothing.
QString harnessLimits(engine::HarnessKind kind);
QString gateSentence(engine::Gate gate);
// "No isolation: runs as you on this computer" for the host provider.
QString providerSentence(const QString &provider);

// One style of durations: "61 ms", "1.4 s", "3 min", "2 h 5 min", "3 d 4 h".
QString duration(qint64 milliseconds);
// "14:05", "1:02:03"; "0:00" when the time is over.
QString countdown(qint64 seconds);
// "now", "12 s ago", "3 min ago", "2 h ago", "4 d ago"; "in 5 min" for the future.
QString relativeTime(const QDateTime &when, const QDateTime &now);
// The same without "ago", for narrow columns.
QString age(const QDateTime &since, const QDateTime &now);
// "2026-12-01 06:25:03.120 UTC" for tooltips.
QString exactUtc(const QDateTime &when);
// "$0.0013", "$1.24"; from millionths of a dollar.
QString money(qint64 micros);
// "950 tokens", "12.3k tokens", "1.2M tokens".
QString tokens(qint64 count);
// "80 B", "12.4 kB", "3.1 MB".
QString byteSize(qint64 bytes);
// Sandboxes. A frozen computer says "Frozen": "paused" is the word for a run that needs a person.
Look look(const engine::Computer &computer);
// "Docker", "This computer".
QString providerName(const QString &provider);
// "3.2 %"; a dash when not known. 100 % is one processor.
QString processorText(double percent);
// Memory counts in powers of two, as its limits do: "312 MB", "1.5 GB".
QString memorySize(qint64 bytes);
// "312 MB of 2 GB"
QString memoryText(qint64 bytes, qint64 limit);
// "warm, 4 min 12 s left"; empty while nothing counts down.
QString warmText(const QDateTime &until, const QDateTime &now);
// The same below a heading "Warm": "4 min 12 s left".
QString warmLeft(const QDateTime &until, const QDateTime &now);
QString leftoverWords(engine::Leftover::Kind kind);
QString leftoverIcon(engine::Leftover::Kind kind);
// The twelve characters that container engines show, without "sha256:".
QString shortId(const QString &id);
// "Docker 20.10", "Docker: not running"
QString engineWords(const engine::SandboxEngine &engine);
// A prompt or title on one line of at most `characters`.
QString oneLine(const QString &text, int characters);

} // namespace models
