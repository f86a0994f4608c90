#!/bin/sh
# Runs a command while a private PostgreSQL server is there for it, which SESLITE_POSTGRES names:
#     sh test/postgres/with_server.sh COMMAND...
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
"$@"
