-- name: database.begin | begin a transaction
BEGIN IMMEDIATE

-- name: database.commit | commit a transaction
COMMIT

-- name: database.rollback | roll a transaction back
ROLLBACK

-- name: database.savepoint | begin a step of a transaction
SAVEPOINT step

-- name: database.release | end a step of a transaction
RELEASE step

-- name: database.rollbackStep | undo a step of a transaction
ROLLBACK TO step

-- name: database.wal | switch to write-ahead logging
PRAGMA journal_mode = WAL

-- name: database.synchronous | make commits durable
PRAGMA synchronous = FULL

-- name: database.foreignKeys | enforce references
PRAGMA foreign_keys = ON

-- name: database.cache | size the page cache
PRAGMA cache_size = -32768

-- name: database.checkpoint | checkpoint the write-ahead log
PRAGMA wal_checkpoint(PASSIVE)

-- name: database.optimize | refresh the query planner's statistics
PRAGMA optimize

-- name: database.engineVersion | ask for the engine's version
SELECT sqlite_version() AS version

-- name: database.tables | read the schema
SELECT count(*) AS tables, count(CASE WHEN name = 'schema_migration' THEN 1 END) AS ours
FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'

-- name: database.version | read the schema's version
SELECT COALESCE(max(version), 0) AS version FROM schema_migration

-- name: database.migrated | note a migration
INSERT INTO schema_migration (version, applied_at) VALUES (:version, :applied_at)
