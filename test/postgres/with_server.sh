#!/bin/sh
# Runs a command while a private PostgreSQL server is there for it, which SESLITE_POSTGRES names:
#     sh test/postgres/with_server.sh COMMAND...
# With PARTITIONS=8, new databases have a store whose tables are partitioned by shard into that many.
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-server-XXXXXX")
stop() {
    sh test/postgres/server.sh stop "$folder"
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
SESLITE_POSTGRES=$(sh test/postgres/server.sh start "$folder")
export SESLITE_POSTGRES
[ -z "${PARTITIONS-}" ] ||
    sh test/postgres/partitioned.sh "$PARTITIONS" | psql -X -q -1 -v ON_ERROR_STOP=1 "$SESLITE_POSTGRES dbname=template1"
"$@"
