-- fragment: approval.select
SELECT p.id, r.id AS run_id, s.id AS session_id, s.agent_id, s.title AS session_title, a.name AS agent_name, p.attempt,
    p.generation, p.kind, p.state, p.delivery, p.native_lost, p.native_session_id, p.native_request_id,
    p.native_tool_use_id, p.tool_name, p.title, p.reason, p.blocked_path, p.input, p.raw, p.cwd, p.canonical, p.digest,
    p.editable, p.edited_input, p.edited_digest, p.note, p.requested_by, p.decided_by, p.decision_key, p.requested_at,
    p.seen_at, p.seen_by, p.expires_at, p.decided_at, p.written_at, p.acknowledged_at, p.executed_at, p.executed_status
FROM approval p JOIN run r ON r.number = p.run_number JOIN session s ON s.number = p.session_number
    JOIN agent a ON a.id = s.agent_id

-- fragment: approval.filter
AND (:session_id = '' OR s.id = :session_id) AND (:run_id = '' OR r.id = :run_id)
AND (:text = '' OR instr(p.search_folded, :text) > 0 OR instr(s.title_folded, :text) > 0
    OR instr(a.name_folded, :text) > 0)

-- name: approval.insert | store an approval
INSERT INTO approval (id, run_number, session_number, attempt, generation, kind, state, delivery, native_lost,
    native_session_id, native_request_id, native_tool_use_id, tool_name, title, search_folded, reason, blocked_path,
    input, raw, cwd, canonical, digest, input_digest, editable, edited_input, edited_digest, note, requested_by,
    decided_by, decision_key, requested_at, seen_at, seen_by, expires_at, decided_at, written_at, acknowledged_at,
    executed_at, executed_status)
VALUES (:id, :run_number, :session_number, :attempt, :generation, :kind, :state, :delivery, :native_lost,
    :native_session_id, :native_request_id, :native_tool_use_id, :tool_name, :title, :search_folded, :reason,
    :blocked_path, :input, :raw, :cwd, :canonical, :digest, :input_digest, :editable, :edited_input, :edited_digest,
    :note, :requested_by, :decided_by, :decision_key, :requested_at, :seen_at, :seen_by, :expires_at, :decided_at,
    :written_at, :acknowledged_at, :executed_at, :executed_status)

-- name: approval.run | find an approval's run
SELECT r.number AS run_number, r.attempt, r.state, s.number AS session_number
FROM run r JOIN session s ON s.number = r.session_number
WHERE r.id = :run_id AND s.id = :session_id

-- name: approval.get | read an approval
-- include: approval.select
WHERE p.id = :id

-- name: approval.pending | read the pending approvals
-- include: approval.select
WHERE p.state = 'pending'
-- include: approval.filter
ORDER BY p.number LIMIT :limit OFFSET :offset

-- name: approval.history | read the approvals
-- include: approval.select
WHERE p.number > 0
-- include: approval.filter
ORDER BY p.number DESC LIMIT :limit OFFSET :offset

-- name: approval.byRun | read a run's approvals
-- include: approval.select
WHERE p.run_number = (SELECT number FROM run WHERE id = :run_id)
ORDER BY p.number

-- name: approval.pendingForRun | count a run's pending approvals
SELECT count(*) AS pending FROM approval
WHERE run_number = (SELECT number FROM run WHERE id = :run_id) AND state = 'pending'

-- name: approval.decide | store a decision
UPDATE approval SET state = :state, delivery = CASE WHEN native_lost = 1 AND :delivery = 'not_delivered' THEN 'lost'
        ELSE :delivery END,
    decided_by = :decided_by, note = :note, edited_input = :edited_input, edited_digest = :edited_digest,
    decision_key = :decision_key, decided_at = :now
WHERE id = :id AND state = 'pending' AND digest = :digest AND expires_at > :now
RETURNING session_number

-- name: approval.expire | let an approval expire
UPDATE approval SET state = 'expired', delivery = CASE WHEN native_lost = 1 THEN 'lost' ELSE 'not_delivered' END,
    note = :note, decided_at = :now
WHERE id = :id AND state = 'pending' AND expires_at <= :now
RETURNING session_number

-- name: approval.cancel | cancel an approval
UPDATE approval SET state = 'cancelled', delivery = 'none', note = :note, decided_at = :now
WHERE id = :id AND state = 'pending'
RETURNING session_number

-- name: approval.due | look for expired approvals
-- include: approval.select
WHERE p.state = 'pending' AND p.expires_at <= :now
ORDER BY p.expires_at, p.number

-- name: approval.nextExpiry | look for the next expiry
SELECT min(expires_at) AS expires_at FROM approval WHERE state = 'pending'

-- name: approval.extend | extend an approval
UPDATE approval SET expires_at = :expires_at WHERE id = :id AND state = 'pending' AND expires_at > :now

-- name: approval.deliver | store a decision's delivery
UPDATE approval SET delivery = :to_delivery,
    written_at = CASE WHEN :to_delivery = 'written' THEN :at ELSE written_at END,
    acknowledged_at = CASE WHEN :to_delivery = 'acknowledged' THEN :at ELSE acknowledged_at END,
    executed_at = CASE WHEN :to_delivery = 'executed' THEN :at ELSE executed_at END,
    executed_status = CASE WHEN :to_delivery = 'executed' THEN :status ELSE executed_status END
WHERE id = :id AND delivery = :from_delivery

-- name: approval.undelivered | look for undelivered decisions
-- include: approval.select
WHERE p.delivery = 'not_delivered' AND r.continued = 1
ORDER BY p.number

-- name: approval.seen | note who saw an approval
UPDATE approval SET seen_at = :at, seen_by = :who WHERE id = :id AND seen_at IS NULL

-- name: approval.loseOfRun | note the loss of a native execution
UPDATE approval SET native_lost = 1,
    delivery = CASE WHEN delivery = 'not_delivered' THEN 'lost' ELSE delivery END
WHERE run_number = (SELECT number FROM run WHERE id = :run_id) AND native_lost = 0
    AND (state = 'pending' OR delivery = 'not_delivered')
RETURNING id

-- name: approval.usableLost | look for an approval to use again
-- include: approval.select
WHERE p.session_number = (SELECT number FROM session WHERE id = :session_id) AND p.tool_name = :tool_name
    AND p.input_digest = :input_digest AND p.delivery = 'lost' AND p.state = 'approved' AND p.used_at IS NULL
ORDER BY p.number LIMIT 1

-- name: approval.useLost | use an approval again
UPDATE approval SET used_by = :used_by, used_at = :at
WHERE id = :id AND delivery = 'lost' AND state = 'approved' AND used_at IS NULL
