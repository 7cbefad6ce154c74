#include "engine/store/approvalrow.h"

namespace engine {

Approval approvalOf(const Row &row)
{
    Approval approval;
    approval.id = {row.text("id")};
    approval.runId = {row.text("run_id")};
    approval.sessionId = {row.text("session_id")};
    approval.agentId = {row.text("agent_id")};
    approval.sessionTitle = row.text("session_title");
    approval.agentName = row.text("agent_name");
    approval.attempt = row.integer("attempt");
    approval.generation = row.integer("generation");
    approval.kind = row.word("kind", &approvalKindFromString, ApprovalKind::Unknown);
    approval.state = row.word("state", &approvalStateFromString, ApprovalState::Cancelled);
    approval.delivery = row.word("delivery", &deliveryFromString, Delivery::None);
    approval.nativeLost = row.flag("native_lost");
    approval.nativeSessionId = row.text("native_session_id");
    approval.nativeRequestId = row.text("native_request_id");
    approval.nativeToolUseId = row.text("native_tool_use_id");
    approval.toolName = row.text("tool_name");
    approval.title = row.text("title");
    approval.reason = row.text("reason");
    approval.blockedPath = row.text("blocked_path");
    approval.input = row.bytes("input");
    approval.raw = row.bytes("raw");
    approval.cwd = row.text("cwd");
    approval.canonical = row.bytes("canonical");
    approval.digest = {row.text("digest")};
    approval.editable = row.flag("editable");
    approval.editedInput = row.bytes("edited_input");
    approval.editedDigest = {row.text("edited_digest")};
    approval.note = row.text("note");
    approval.requestedBy = row.text("requested_by");
    approval.decidedBy = row.text("decided_by");
    approval.decisionKey = row.text("decision_key");
    approval.requestedAt = row.time("requested_at");
    approval.seenAt = row.time("seen_at");
    approval.seenBy = row.text("seen_by");
    approval.expiresAt = row.time("expires_at");
    approval.decidedAt = row.time("decided_at");
    approval.writtenAt = row.time("written_at");
    approval.acknowledgedAt = row.time("acknowledged_at");
    approval.executedAt = row.time("executed_at");
    approval.executedStatus = row.text("executed_status");
    return approval;
}

} // namespace engine
