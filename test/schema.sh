#!/bin/sh
# sql/sqlite/schema.sql is what the scripts make.
#     sh test/schema.sh BUILD
set -eu
sh tools/schema.sh sql/sqlite/0*.sql >"$1/test/schema.sql"
cmp "$1/test/schema.sql" sql/sqlite/schema.sql || {
    echo "schema: the scripts make another schema: run make schema, and look at what git diff shows" >&2
    exit 1
}
echo "ok      schema"
