#!/bin/sh
# A PostgreSQL server for tests, which nobody else sees.
#     sh test/postgres/server.sh start FOLDER [PORT]   makes it in FOLDER, starts it, prints a connection string for libpq
#     sh test/postgres/server.sh stop FOLDER           stops it, if it runs; the folder may then be removed
#     sh test/postgres/server.sh standby FOLDER OF     makes a standby of the server in the folder OF, and starts it; its
#                                                      name for synchronous_standby_names is that of its folder
#     sh test/postgres/server.sh promote FOLDER        makes a standby a primary
#     sh test/postgres/server.sh kill FOLDER           kills all its processes at once, as a loss of power does
# It listens on a socket in FOLDER; with a PORT also there, on 127.0.0.1. It trusts whoever reaches it. Since
# a server does not run as root, root starts it as another user, to whom FOLDER is given. SERVER_OPTIONS are
# further options of postgres, as in SERVER_OPTIONS='-c fsync=on'.
set -eu

fail() {
    echo "server.sh: $1" >&2
    exit 1
}
[ $# -ge 2 ] || fail "wanted: a command and a folder"
command=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)

# Debian keeps the server's programs out of PATH.
bin=$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || fail "there is no initdb: make deps POSTGRES=1 installs a server"
bin=$(readlink -f "$bin")
bin=${bin%/*}

# Runs it as the user that the server belongs to.
as_owner() {
    if [ "$(id -u)" -ne 0 ]; then
        (cd "$folder" && "$@")
    else
        (cd "$folder" && exec runuser -u "$owner" -- "$@")
    fi
}
owner=postgres
id -u "$owner" >/dev/null 2>&1 || owner=nobody

start() {
    port=${1:-}
    # 107 bytes are as many as the path of a socket can have.
    [ "$(printf %s "$folder/.s.PGSQL.${port:-5432}" | wc -c)" -le 107 ] || fail "the path $folder is too long for a socket"
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$folder"
    [ -f "$folder/data/PG_VERSION" ] ||
        as_owner "$bin/initdb" -D "$folder/data" -U seslite -A trust -E UTF8 --locale=C.UTF-8 -N >"$folder/initdb.log" 2>&1 ||
        fail "initdb: $(tail -3 "$folder/initdb.log")"
    address=
    [ -z "$port" ] || address=127.0.0.1
    as_owner "$bin/pg_ctl" -D "$folder/data" status >/dev/null 2>&1 ||
        as_owner "$bin/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 -o "-k '$folder' -p ${port:-5432} \
            -c listen_addresses='$address' -c fsync=off -c full_page_writes=off -c max_connections=200 ${SERVER_OPTIONS:-}" start >/dev/null 2>&1 ||
        fail "the server does not start: $(tail -3 "$folder/server.log")"
    echo "host=$folder port=${port:-5432} user=seslite dbname=postgres"
}

# The content of the folder is replaced.
standby() {
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$folder"
    as_owner "$bin/pg_ctl" -D "$folder/data" status >/dev/null 2>&1 && fail "a server runs in $folder"
    rm -rf "$folder/data"
    as_owner "$bin/pg_basebackup" -D "$folder/data" -R -c fast -X stream -N \
        -d "host=$1 user=seslite application_name=${folder##*/}" >"$folder/basebackup.log" 2>&1 ||
        fail "pg_basebackup: $(tail -3 "$folder/basebackup.log")"
    start
}

# The first process is stopped, so that it starts no others meanwhile. Its piece of shared memory would stay.
kill_all() {
    first=$(head -1 "$folder/data/postmaster.pid")
    memory=$(awk 'NR == 7 {print $2}' "$folder/data/postmaster.pid")
    kill -STOP "$first"
    all="$first $(ps -o pid= --ppid "$first")"
    # shellcheck disable=SC2086
    kill -KILL $all 2>/dev/null || true
    for process in $all; do
        while kill -0 "$process" 2>/dev/null && [ "$(ps -o stat= -p "$process" | cut -c1)" != Z ]; do sleep 0.02; done
    done
    [ -z "$memory" ] || ipcrm -m "$memory" 2>/dev/null || true
    rm -f "$folder/data/postmaster.pid" "$folder"/.s.PGSQL.*
}

case $command in
start) start "${3:-}" ;;
standby) standby "$3" ;;
promote) as_owner "$bin/pg_ctl" -D "$folder/data" -w -t 60 promote >/dev/null 2>&1 || fail "$folder is not promoted" ;;
kill) kill_all ;;
stop)
    as_owner "$bin/pg_ctl" -D "$folder/data" status >/dev/null 2>&1 || exit 0
    as_owner "$bin/pg_ctl" -D "$folder/data" -w -m immediate stop >/dev/null 2>&1 || fail "the server does not stop"
    ;;
*) fail "no such command: $command" ;;
esac
