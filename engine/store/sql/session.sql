-- fragment: session.select
SELECT s.id, s.agent_id, a.name AS agent_name, s.title, s.workspace, s.native_session_id, s.transcript_path,
    s.transcript_size, s.transcript_hash, s.generation, s.model, s.permission_mode, s.created_at, s.updated_at,
    s.active_run_id, s.active_state, s.queued, s.pending_approvals, s.last_outcome, s.block_count
FROM session s JOIN agent a ON a.id = s.agent_id

-- name: session.insert | store a session
INSERT INTO session (id, agent_id, title, title_folded, workspace, native_session_id, transcript_path, transcript_size,
    transcript_hash, generation, model, permission_mode, created_at, updated_at)
VALUES (:id, :agent_id, :title, :title_folded, :workspace, :native_session_id, :transcript_path, :transcript_size,
    :transcript_hash, :generation, :model, :permission_mode, :created_at, :updated_at)

-- name: session.get | read a session
-- include: session.select
WHERE s.id = :id

-- name: session.list | read the sessions
-- include: session.select
ORDER BY s.rank, s.updated_at DESC, s.number DESC
LIMIT :limit OFFSET :offset

-- name: session.search | search the sessions
-- include: session.select
WHERE (:agent_id = '' OR s.agent_id = :agent_id)
    AND (:text = '' OR instr(s.title_folded, :text) > 0 OR instr(a.name_folded, :text) > 0)
ORDER BY s.rank, s.updated_at DESC, s.number DESC
LIMIT :limit OFFSET :offset

-- name: session.number | find a session
SELECT number, active_run_id, queued FROM session WHERE id = :id

-- name: session.deleted | look among deleted sessions
SELECT deleted_at FROM deleted_session WHERE id = :id

-- name: session.setTitle | rename a session
UPDATE session SET title = :title, title_folded = :title_folded WHERE id = :id

-- name: session.setModel | set a session's model
UPDATE session SET model = :model WHERE id = :id

-- name: session.setMode | set a session's permission mode
UPDATE session SET permission_mode = :permission_mode WHERE id = :id

-- name: session.setNative | store a session's native identity
UPDATE session SET native_session_id = :native_session_id, transcript_path = :transcript_path,
    transcript_size = :transcript_size, transcript_hash = :transcript_hash
WHERE id = :id

-- name: session.setWorkspace | set a session's workspace
UPDATE session SET workspace = :workspace WHERE id = :id

-- name: session.setGeneration | set a session's generation
UPDATE session SET generation = :generation WHERE id = :id

-- name: session.touch | note a session's activity
UPDATE session SET updated_at = :at WHERE id = :id

-- name: session.refreshLine | refresh a session's line
UPDATE session SET
    active_run_id = (SELECT r.id FROM run r WHERE r.session_number = session.number
        AND r.state IN ('RUNNING', 'PAUSED')),
    active_state = COALESCE((SELECT r.state FROM run r WHERE r.session_number = session.number
        AND r.state IN ('RUNNING', 'PAUSED')), ''),
    queued = (SELECT count(*) FROM run r WHERE r.session_number = session.number AND r.state = 'PENDING'),
    head_sequence = (SELECT min(r.sequence) FROM run r WHERE r.session_number = session.number
        AND r.state = 'PENDING'),
    head_available_at = (SELECT r.available_at FROM run r WHERE r.session_number = session.number
        AND r.state = 'PENDING' ORDER BY r.sequence LIMIT 1),
    last_outcome = COALESCE(:outcome, last_outcome),
    updated_at = COALESCE(:at, updated_at)
WHERE number = :number

-- name: session.refreshApprovals | refresh a session's pending approvals
UPDATE session SET pending_approvals = (SELECT count(*) FROM approval p WHERE p.session_number = session.number
    AND p.state = 'pending')
WHERE number = :number

-- name: session.takePositions | extend a session's transcript
UPDATE session SET block_count = block_count + :count WHERE number = :number RETURNING block_count

-- name: session.bury | keep a deleted session's id
INSERT INTO deleted_session (id, deleted_at) VALUES (:id, :deleted_at)

-- name: session.removeRaw | delete a session's raw lines
DELETE FROM raw_line WHERE session_number = :number

-- name: session.removeBlocks | delete a session's transcript
DELETE FROM block WHERE session_number = :number

-- name: session.removeApprovals | delete a session's approvals
DELETE FROM approval WHERE session_number = :number

-- name: session.removeEvents | delete a session's events
DELETE FROM run_event WHERE run_number IN (SELECT number FROM run WHERE session_number = :number)

-- name: session.removeRuns | delete a session's runs
DELETE FROM run WHERE session_number = :number

-- name: session.removeChannel | delete a session's channel
DELETE FROM session_channel WHERE session_number = :number

-- name: session.remove | delete a session
DELETE FROM session WHERE number = :number

-- name: session.channel | read a session's channel
SELECT c.epoch, c.generation, c.launch, c.output_offset, c.error_offset
FROM session s LEFT JOIN session_channel c ON c.session_number = s.number
WHERE s.id = :id

-- name: session.setChannel | store a session's channel
INSERT INTO session_channel (session_number, epoch, generation, launch, output_offset, error_offset)
VALUES (:number, :epoch, :generation, :launch, :output_offset, :error_offset)
ON CONFLICT (session_number) DO UPDATE SET epoch = excluded.epoch, generation = excluded.generation,
    launch = excluded.launch, output_offset = excluded.output_offset, error_offset = excluded.error_offset
