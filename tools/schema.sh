#!/bin/sh
# Prints the schema that these scripts make of an empty file: sql/sqlite/schema.sql.
#     sh tools/schema.sh 0*.sql
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for script in "$@"; do
    sqlite3 "$folder/store.db" <"$script"
done
cat <<'HEAD'
-- The schema that all scripts make of an empty file, without the views. `make schema` writes it. ses_open
-- compares a file with it: see lib/storage/sqlite/connection/schema_check.c.
HEAD
sqlite3 "$folder/store.db" "
    SELECT char(10) || '-- ' || type || ' ' || name || char(10) || sql || ';' FROM sqlite_schema
    WHERE type <> 'view' AND sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY rowid"
