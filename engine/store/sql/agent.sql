-- name: agent.upsert | store an agent
INSERT INTO agent (id, name, name_folded, settings, archived, created_at, updated_at)
VALUES (:id, :name, :name_folded, :settings, :archived, :created_at, :updated_at)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, name_folded = excluded.name_folded, settings = excluded.settings,
    archived = excluded.archived, updated_at = excluded.updated_at

-- name: agent.get | read an agent
SELECT id, name, settings, archived, created_at, updated_at FROM agent WHERE id = :id

-- name: agent.list | read the agents
SELECT id, name, settings, archived, created_at, updated_at FROM agent
WHERE archived = 0 OR :with_archived
ORDER BY name_folded, id
