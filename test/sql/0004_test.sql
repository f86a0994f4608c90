.bail on
-- A later schema version, for the tests of migration only.
CREATE TEMP TABLE seslite_guard (
    ok INTEGER CONSTRAINT "seslite 0004: the file is not at version 3, or uses other features; nothing was changed" CHECK (ok)
);

BEGIN IMMEDIATE;

INSERT INTO temp.seslite_guard
SELECT (SELECT application_id FROM pragma_application_id) = 1397052236
   AND (SELECT user_version FROM pragma_user_version) = 3
   AND NOT EXISTS (SELECT 1 FROM features WHERE needs <> 1 AND name NOT IN ('search', 'families'));

ALTER TABLE session_leases ADD COLUMN duration_us INTEGER;
ALTER TABLE event_marks ADD COLUMN "made by" TEXT NOT NULL DEFAULT 'seslite' CHECK ("made by" <> '');
DROP INDEX sessions_by_expiry;
CREATE TABLE before_later (x INTEGER) STRICT;
CREATE TABLE later (x INTEGER, y TEXT, z TEXT) STRICT;
CREATE TABLE quoted ([a b] BLOB DEFAULT x'4a', `c``d` TEXT DEFAULT 'it''s', "e""f" ANY) STRICT;
CREATE INDEX later_by_x ON later (x) WHERE x > 0;
INSERT INTO later SELECT count(*), 'y', 'z' FROM events;

PRAGMA user_version = 4;

COMMIT;

DROP TABLE temp.seslite_guard;
