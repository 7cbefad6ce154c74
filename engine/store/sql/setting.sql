-- name: setting.get | read a setting
SELECT value FROM setting WHERE key = :key

-- name: setting.set | store a setting
INSERT INTO setting (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: setting.all | read the settings
SELECT key, value FROM setting ORDER BY key
