-- name: audit.append | store an audit entry
INSERT INTO audit (at, who, what, subject, result, detail) VALUES (:at, :who, :what, :subject, :result, :detail)
RETURNING number

-- name: audit.list | read the audit list
SELECT number, at, who, what, subject, result, detail FROM audit ORDER BY number DESC LIMIT :limit
