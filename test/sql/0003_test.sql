.bail on
-- A later schema version, for the tests of migration only.
CREATE TEMP TABLE seslite_guard (
    ok INTEGER CONSTRAINT "seslite 0003: the file is not at version 2; nothing was changed" CHECK (ok)
);

BEGIN IMMEDIATE;

INSERT INTO temp.seslite_guard
SELECT (SELECT application_id FROM pragma_application_id) = 1397052236
   AND (SELECT user_version FROM pragma_user_version) = 2;

CREATE TABLE before_later (x INTEGER) STRICT;
CREATE TABLE later (x INTEGER) STRICT;
INSERT INTO later SELECT count(*) FROM events;

PRAGMA user_version = 3;

COMMIT;

DROP TABLE temp.seslite_guard;
