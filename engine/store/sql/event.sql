-- name: event.fence | check a run's attempt
SELECT number, attempt, state FROM run WHERE id = :id

-- name: event.runNumber | find a run
SELECT number FROM run WHERE id = :id AND session_number = :session_number

-- name: event.insertRaw | store raw lines
INSERT INTO raw_line (session_number, run_number, generation, launch, attempt, at, direction, bytes)
VALUES (:session_number, :run_number, :generation, :launch, :attempt, :at, :direction, :bytes)

-- name: event.insertEvent | store run events
INSERT INTO run_event (run_number, attempt, at, kind, text) VALUES (:run_number, :attempt, :at, :kind, :text)
RETURNING number

-- name: event.insertBlock | store a piece of a transcript
INSERT INTO block (session_number, position, run_number, kind, key, text, tool_name, input, output, tool_state,
    duration_ms, approval_id, at)
VALUES (:session_number, :position, :run_number, :kind, :key, :text, :tool_name, :input, :output, :tool_state,
    :duration_ms, :approval_id, :at)

-- name: event.changeBlock | change a piece of a transcript
UPDATE block SET run_number = :run_number, kind = :kind, text = :text, tool_name = :tool_name, input = :input,
    output = :output, tool_state = :tool_state, duration_ms = :duration_ms, approval_id = :approval_id
WHERE session_number = :session_number AND key = :key AND key <> ''
RETURNING position, at

-- fragment: block.select
SELECT b.position, r.id AS run_id, b.kind, b.key, b.text, b.tool_name, b.input, b.output, b.tool_state, b.duration_ms,
    b.approval_id, b.at
FROM block b LEFT JOIN run r ON r.number = b.run_number

-- name: event.blockTotal | measure a transcript
SELECT number, block_count FROM session WHERE id = :id

-- name: event.blocks | read a transcript
-- include: block.select
WHERE b.session_number = :session_number AND b.position >= :first AND b.position < :end
ORDER BY b.position

-- name: event.blockByKey | read a piece of a transcript
-- include: block.select
WHERE b.session_number = :session_number AND b.key = :key AND b.key <> ''

-- fragment: raw.select
SELECT l.number, r.id AS run_id, l.generation, l.attempt, l.at, l.direction, l.bytes
FROM raw_line l LEFT JOIN run r ON r.number = l.run_number

-- name: event.rawOfSession | read a session's raw lines
-- include: raw.select
WHERE l.session_number = :session_number
ORDER BY l.generation DESC, l.launch DESC, l.number DESC LIMIT :limit

-- name: event.rawOfRun | read a run's raw lines
-- include: raw.select
WHERE l.run_number = (SELECT number FROM run WHERE id = :run_id) AND l.session_number = :session_number
ORDER BY l.number DESC LIMIT :limit

-- name: event.rawOfLaunch | read a launch's raw lines
-- include: raw.select
WHERE l.session_number = :session_number AND l.generation = :generation AND l.launch = :launch
ORDER BY l.number

-- name: event.ofRun | read a run's events
SELECT e.number, s.id AS session_id, r.id AS run_id, e.attempt, e.at, e.kind, e.text
FROM run r JOIN session s ON s.number = r.session_number JOIN run_event e ON e.run_number = r.number
WHERE r.id = :run_id
ORDER BY e.number DESC LIMIT :limit
