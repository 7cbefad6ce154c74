CREATE TABLE schema_migration (
    version INTEGER PRIMARY KEY,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
INSERT INTO counter (name, value) VALUES ('run.sequence', 0);

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE agent (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    settings TEXT NOT NULL,
    archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- active_run_id to block_count are derived of run, approval and block; the transactions that change those refresh them.
-- A line's head (its first PENDING run) may be claimed while active_run_id is NULL.
CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    agent_id TEXT NOT NULL REFERENCES agent (id),
    title TEXT NOT NULL,
    title_folded TEXT NOT NULL,
    workspace TEXT NOT NULL,
    native_session_id TEXT NOT NULL,
    transcript_path TEXT NOT NULL,
    transcript_size INTEGER NOT NULL,
    transcript_hash TEXT NOT NULL,
    generation INTEGER NOT NULL,
    model TEXT NOT NULL,
    permission_mode TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    active_run_id TEXT,
    active_state TEXT NOT NULL DEFAULT '' CHECK (active_state IN ('', 'RUNNING', 'PAUSED')),
    queued INTEGER NOT NULL DEFAULT 0,
    head_sequence INTEGER,
    head_available_at INTEGER,
    pending_approvals INTEGER NOT NULL DEFAULT 0,
    last_outcome TEXT NOT NULL DEFAULT 'COMPLETED' CHECK (last_outcome IN ('COMPLETED', 'ERROR', 'CANCELLED')),
    block_count INTEGER NOT NULL DEFAULT 0,
    rank INTEGER GENERATED ALWAYS AS (CASE
        WHEN active_state = 'PAUSED' THEN 0
        WHEN active_state = 'RUNNING' THEN 1
        WHEN queued > 0 THEN 2
        ELSE 3 END) STORED
) STRICT;
CREATE INDEX session_order ON session (rank, updated_at DESC, number DESC);
CREATE INDEX session_agent ON session (agent_id);
CREATE INDEX session_line ON session (head_sequence) WHERE head_sequence IS NOT NULL AND active_run_id IS NULL;

CREATE TABLE deleted_session (
    id TEXT PRIMARY KEY,
    deleted_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session_channel (
    session_number INTEGER PRIMARY KEY REFERENCES session (number),
    epoch INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    launch INTEGER NOT NULL,
    output_offset INTEGER NOT NULL,
    error_offset INTEGER NOT NULL
) STRICT;

CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    session_number INTEGER NOT NULL REFERENCES session (number),
    sequence INTEGER NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'ERROR', 'CANCELLED')),
    attempt INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    prompt TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    origin TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    error_code TEXT NOT NULL DEFAULT '',
    error_message TEXT NOT NULL DEFAULT '',
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    lease_owner TEXT NOT NULL DEFAULT '',
    steps TEXT NOT NULL DEFAULT '[]',
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    continued INTEGER NOT NULL DEFAULT 0 CHECK (continued IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX run_one_active ON run (session_number) WHERE state IN ('RUNNING', 'PAUSED');
CREATE UNIQUE INDEX run_key ON run (session_number, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX run_session ON run (session_number, sequence);
CREATE INDEX run_line ON run (session_number, sequence) WHERE state = 'PENDING';
CREATE INDEX run_waiting ON run (sequence) WHERE state = 'PENDING';
CREATE INDEX run_active ON run (state) WHERE state IN ('RUNNING', 'PAUSED');
CREATE INDEX run_ended ON run (ended_at, cost_micros) WHERE ended_at IS NOT NULL;

CREATE TABLE block (
    session_number INTEGER NOT NULL REFERENCES session (number),
    position INTEGER NOT NULL,
    run_number INTEGER,
    kind TEXT NOT NULL CHECK (kind IN ('prompt', 'answer', 'thinking', 'tool', 'approval', 'note', 'warning', 'failure',
                                       'unknown')),
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    input TEXT NOT NULL,
    output TEXT NOT NULL,
    tool_state TEXT NOT NULL CHECK (tool_state IN ('', 'running', 'done', 'failed', 'denied')),
    duration_ms INTEGER NOT NULL,
    approval_id TEXT NOT NULL,
    at INTEGER,
    PRIMARY KEY (session_number, position)
) STRICT;
CREATE UNIQUE INDEX block_key ON block (session_number, key) WHERE key <> '';

CREATE TABLE run_event (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_number INTEGER NOT NULL REFERENCES run (number),
    attempt INTEGER NOT NULL,
    at INTEGER,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX run_event_run ON run_event (run_number);

CREATE TABLE raw_line (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session_number INTEGER NOT NULL REFERENCES session (number),
    run_number INTEGER,
    generation INTEGER NOT NULL,
    launch INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER,
    direction INTEGER NOT NULL CHECK (direction IN (0, 1, 2)),
    bytes BLOB NOT NULL
) STRICT;
CREATE INDEX raw_line_launch ON raw_line (session_number, generation, launch);
CREATE INDEX raw_line_run ON raw_line (run_number) WHERE run_number IS NOT NULL;

CREATE TABLE approval (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run_number INTEGER NOT NULL REFERENCES run (number),
    session_number INTEGER NOT NULL REFERENCES session (number),
    attempt INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('tool', 'question', 'plan', 'unknown')),
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
    delivery TEXT NOT NULL CHECK (delivery IN ('none', 'not_delivered', 'written', 'acknowledged', 'executed', 'lost')),
    native_lost INTEGER NOT NULL CHECK (native_lost IN (0, 1)),
    native_session_id TEXT NOT NULL,
    native_request_id TEXT NOT NULL,
    native_tool_use_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    title TEXT NOT NULL,
    search_folded TEXT NOT NULL,
    reason TEXT NOT NULL,
    blocked_path TEXT NOT NULL,
    input BLOB NOT NULL,
    raw BLOB NOT NULL,
    cwd TEXT NOT NULL,
    canonical BLOB NOT NULL,
    digest TEXT NOT NULL,
    input_digest TEXT NOT NULL,
    editable INTEGER NOT NULL CHECK (editable IN (0, 1)),
    edited_input BLOB NOT NULL,
    edited_digest TEXT NOT NULL,
    note TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decision_key TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    seen_at INTEGER,
    seen_by TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    decided_at INTEGER,
    written_at INTEGER,
    acknowledged_at INTEGER,
    executed_at INTEGER,
    executed_status TEXT NOT NULL,
    used_by TEXT NOT NULL DEFAULT '',
    used_at INTEGER
) STRICT;
CREATE INDEX approval_pending ON approval (number) WHERE state = 'pending';
CREATE INDEX approval_pending_session ON approval (session_number) WHERE state = 'pending';
CREATE INDEX approval_expiry ON approval (expires_at) WHERE state = 'pending';
CREATE INDEX approval_run ON approval (run_number);
CREATE INDEX approval_session ON approval (session_number);
CREATE INDEX approval_undelivered ON approval (number) WHERE delivery = 'not_delivered';
CREATE INDEX approval_lost ON approval (session_number, tool_name, input_digest) WHERE delivery = 'lost';

CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    result TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'audit rows are never changed');
END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'audit rows are never deleted');
END;
