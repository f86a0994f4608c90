#!/bin/sh
# Runs a command while a private MariaDB server is there for it, which SESLITE_MYSQL names, with an empty
# database `unused`:
#     sh test/mysql/with_server.sh COMMAND...
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-server-XXXXXX")
stop() {
    sh test/mysql/server.sh stop "$folder"
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
SESLITE_MYSQL=$(sh test/mysql/server.sh start "$folder")
export SESLITE_MYSQL
mariadb --no-defaults --socket="$folder/socket" -useslite -psecret -e "CREATE DATABASE unused"
"$@"
