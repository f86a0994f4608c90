#!/bin/sh
# sql/sqlite/schema.sql is what the scripts make, in which every table has a primary key, and sql/README.md
# lists its tables and views.
#     sh test/schema.sh BUILD
set -eu
sh tools/schema.sh sql/sqlite/0*.sql >"$1/test/schema.sql"
cmp "$1/test/schema.sql" sql/sqlite/schema.sql || {
    echo "schema: the scripts make another schema: run make schema, and look at what git diff shows" >&2
    exit 1
}
for name in $(sed -n -e 's/^CREATE TABLE \([a-z_]*\).*/\1/p' -e 's/^CREATE VIEW \([a-z_]*\).*/\1/p' sql/sqlite/0*.sql); do
    grep -q "^|.*\`$name\`" sql/README.md || {
        echo "schema: sql/README.md does not list $name" >&2
        exit 1
    }
done
keyless=$(sqlite3 :memory: ".read $1/test/schema.sql" "SELECT name FROM pragma_table_list AS t WHERE schema = 'main' AND type = 'table'
    AND name NOT LIKE 'sqlite%' AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.pk > 0)")
[ -z "$keyless" ] || {
    echo "schema: no primary key: $keyless" >&2
    exit 1
}
echo "ok      schema"
