#!/bin/sh
# Prints what these scripts make of an empty file: sql/sqlite/schema.sql.
#     sh tools/schema.sh 0*.sql
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for script in "$@"; do
    sqlite3 "$folder/store.db" <"$script"
done
cat <<'HEAD'
-- What all scripts make of an empty file. `make schema` writes it. ses_open makes new stores of it, and compares
-- a file with all but its end: see lib/storage/sqlite/connection/schema_check.c.
HEAD
objects="FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
sqlite3 "$folder/store.db" "
    SELECT char(10) || '-- ' || type || ' ' || name || char(10) || sql || ';' $objects AND type <> 'view'
    ORDER BY rowid;
    SELECT char(10) || '-- the views, the rows of a new store, and its numbers';
    SELECT sql || ';' $objects AND type = 'view' ORDER BY rowid"
sqlite3 "$folder/store.db" ".dump --data-only" | grep '^INSERT INTO'
sqlite3 "$folder/store.db" "
    SELECT 'PRAGMA application_id = ' || application_id || ';' FROM pragma_application_id;
    SELECT 'PRAGMA user_version = ' || user_version || ';' FROM pragma_user_version"
