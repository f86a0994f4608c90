.bail on
-- One more.
CREATE TEMP TABLE seslite_guard (
    ok INTEGER CONSTRAINT "seslite 0005: the file is not at version 4, or uses other features; nothing was changed" CHECK (ok)
);

BEGIN IMMEDIATE;

INSERT INTO temp.seslite_guard
SELECT (SELECT application_id FROM pragma_application_id) = 1397052236
   AND (SELECT user_version FROM pragma_user_version) = 4
   AND NOT EXISTS (SELECT 1 FROM features WHERE needs <> 1 AND name NOT IN ('search', 'families'));

-- To rename or drop a column, SQLite reads every view, and the library lets no view read another.
DROP VIEW session_overview;
DROP VIEW usage;
DROP VIEW tool_calls;
DROP VIEW transcript;
DROP VIEW event_log;
DROP VIEW merged_state;

-- The triggers of the table name the column, too.
ALTER TABLE session_details RENAME COLUMN initial_state TO first_state;
ALTER TABLE later RENAME COLUMN x TO "how many";
ALTER TABLE later DROP COLUMN y;
ALTER TABLE before_later RENAME TO earlier;

CREATE INDEX sessions_by_expiry ON sessions (expires_us) WHERE expires_us IS NOT NULL;
DROP TRIGGER guard_session_labels_insert;
CREATE TRIGGER guard_session_labels_insert BEFORE INSERT ON session_labels
BEGIN
    SELECT RAISE(ABORT, 'session_labels: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
END;

PRAGMA user_version = 5;

COMMIT;

DROP TABLE temp.seslite_guard;
