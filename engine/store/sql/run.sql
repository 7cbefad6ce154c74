-- fragment: run.select
SELECT r.id, s.id AS session_id, s.agent_id, r.sequence, r.state, r.attempt, r.max_attempts, r.prompt, r.requested_by,
    r.origin, r.idempotency_key, r.created_at, r.available_at, r.started_at, r.ended_at, r.error_code, r.error_message,
    r.cancel_requested, r.lease_owner, r.steps, r.input_tokens, r.output_tokens, r.cache_read_tokens,
    r.cache_write_tokens, r.cost_micros, r.continued, s.active_run_id, s.active_state,
    CASE WHEN r.state = 'PENDING' THEN (SELECT count(*) FROM run p WHERE p.session_number = r.session_number
        AND p.state = 'PENDING' AND p.sequence <= r.sequence) ELSE 0 END AS position,
    CASE WHEN r.state = 'PENDING' THEN (SELECT p.id FROM run p WHERE p.session_number = r.session_number
        AND p.state = 'PENDING' AND p.sequence < r.sequence ORDER BY p.sequence DESC LIMIT 1) END AS ahead
FROM run r JOIN session s ON s.number = r.session_number

-- name: run.get | read a run
-- include: run.select
WHERE r.id = :id

-- name: run.byKey | look for a run's key
-- include: run.select
WHERE s.id = :session_id AND r.idempotency_key = :key AND r.idempotency_key <> ''

-- name: run.list | read a session's runs
-- include: run.select
WHERE r.session_number = (SELECT number FROM session WHERE id = :session_id)
ORDER BY r.sequence DESC LIMIT :limit

-- name: run.active | read the active runs
-- include: run.select
WHERE r.state IN ('RUNNING', 'PAUSED')
ORDER BY r.sequence

-- name: run.waiting | read the waiting runs
-- include: run.select
WHERE r.state = 'PENDING'
ORDER BY r.sequence LIMIT :limit

-- name: run.nextSequence | take a place in the line
UPDATE counter SET value = value + 1 WHERE name = 'run.sequence' RETURNING value

-- name: run.insert | store a run
INSERT INTO run (id, session_number, sequence, state, max_attempts, prompt, requested_by, origin, idempotency_key,
    created_at, available_at)
VALUES (:id, :session_number, :sequence, 'PENDING', :max_attempts, :prompt, :requested_by, :origin, :idempotency_key,
    :created_at, :available_at)

-- name: run.countRunning | count the running runs
SELECT count(*) AS running FROM run WHERE state IN ('RUNNING', 'PAUSED') AND state = 'RUNNING'

-- name: run.nextHead | look for the next run
SELECT head_sequence FROM session
WHERE head_sequence IS NOT NULL AND active_run_id IS NULL AND head_available_at <= :now
ORDER BY head_sequence LIMIT 1

-- name: run.nextAvailable | look for the next back-off
SELECT min(head_available_at) AS available_at FROM session
WHERE head_sequence IS NOT NULL AND active_run_id IS NULL AND head_available_at > :now

-- name: run.claim | claim a run
UPDATE run SET state = 'RUNNING', attempt = attempt + 1, started_at = :now, ended_at = NULL, lease_owner = :owner,
    continued = 0, error_code = '', error_message = '',
    steps = CASE WHEN steps = '[]' THEN '[' ELSE substr(steps, 1, length(steps) - 1) || ',' END || :steps || ']'
WHERE sequence = :sequence AND state = 'PENDING'
RETURNING id, session_number

-- name: run.move | change a run's state
UPDATE run SET state = :to_state,
    started_at = COALESCE(:started_at, started_at),
    ended_at = COALESCE(:ended_at, ended_at),
    error_code = COALESCE(:error_code, error_code),
    error_message = COALESCE(:error_message, error_message),
    input_tokens = COALESCE(:input_tokens, input_tokens),
    output_tokens = COALESCE(:output_tokens, output_tokens),
    cache_read_tokens = COALESCE(:cache_read_tokens, cache_read_tokens),
    cache_write_tokens = COALESCE(:cache_write_tokens, cache_write_tokens),
    cost_micros = COALESCE(:cost_micros, cost_micros),
    continued = COALESCE(:continued, continued),
    available_at = COALESCE(:available_at, available_at),
    lease_owner = COALESCE(:lease_owner, lease_owner),
    steps = CASE WHEN :steps = '' THEN steps
        ELSE CASE WHEN steps = '[]' THEN '[' ELSE substr(steps, 1, length(steps) - 1) || ',' END || :steps || ']' END
WHERE id = :id AND state = :from_state AND attempt = :attempt
RETURNING session_number

-- name: run.addStep | store a run's step
UPDATE run SET
    steps = CASE WHEN steps = '[]' THEN '[' ELSE substr(steps, 1, length(steps) - 1) || ',' END || :steps || ']'
WHERE id = :id AND attempt = :attempt AND state <> 'PENDING'

-- name: run.setUsage | store a run's usage
UPDATE run SET input_tokens = :input_tokens, output_tokens = :output_tokens, cache_read_tokens = :cache_read_tokens,
    cache_write_tokens = :cache_write_tokens, cost_micros = :cost_micros
WHERE id = :id AND attempt = :attempt AND state <> 'PENDING'

-- name: run.requestCancel | ask for a run's cancellation
UPDATE run SET cancel_requested = 1 WHERE id = :id AND state IN ('PENDING', 'RUNNING', 'PAUSED')

-- name: run.adopt | adopt a run
UPDATE run SET lease_owner = :owner WHERE id = :id AND attempt = :attempt AND state IN ('RUNNING', 'PAUSED')

-- name: run.requeue | requeue a run
UPDATE run SET state = 'PENDING', sequence = :sequence, max_attempts = attempt + 1, available_at = :now,
    started_at = NULL, ended_at = NULL, error_code = '', error_message = '', cancel_requested = 0, continued = 0,
    lease_owner = ''
WHERE id = :id AND state IN ('ERROR', 'CANCELLED')
RETURNING session_number

-- name: run.counts | count runs and approvals
SELECT
    (SELECT count(*) FROM run WHERE state IN ('RUNNING', 'PAUSED') AND state = 'RUNNING') AS running,
    (SELECT count(*) FROM run WHERE state IN ('RUNNING', 'PAUSED') AND state = 'PAUSED') AS paused,
    (SELECT count(*) FROM run WHERE state = 'PENDING') AS queued,
    (SELECT count(*) FROM approval WHERE state = 'pending') AS pending_approvals,
    (SELECT COALESCE(sum(cost_micros), 0) FROM run WHERE ended_at IS NOT NULL AND ended_at >= :day_start
        AND ended_at <= :now) AS cost_micros
