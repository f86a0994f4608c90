#!/bin/sh
# PgBouncer for tests, in transaction mode (the database statement_mode: in that one), before a server of
# server.sh:
#     sh test/postgres/bouncer.sh start FOLDER SERVER  starts it in FOLDER, before the server in the folder SERVER; prints a
#                                                      connection string, or "none" where there is no pgbouncer
#     sh test/postgres/bouncer.sh stop FOLDER
# Like the server, it does not run as root.
set -eu
command=$1
folder=$2
bouncer=$(PATH=$PATH:/usr/sbin:/sbin command -v pgbouncer || true)

start() {
    [ -n "$bouncer" ] || { echo none; exit 0; }
    mkdir -p "$folder"
    echo '"seslite" ""' >"$folder/users"
    cat >"$folder/bouncer.ini" <<-END
	[databases]
	statement_mode = host=$1 port=5432 pool_mode=statement
	* = host=$1 port=5432
	[pgbouncer]
	pool_mode = transaction
	default_pool_size = 3
	auth_type = trust
	auth_file = $folder/users
	unix_socket_dir = $folder
	listen_port = 6432
	logfile = $folder/log
	pidfile = $folder/pid
	END
    set -- "$bouncer" -q -d "$folder/bouncer.ini"
    if [ "$(id -u)" -eq 0 ]; then
        owner=postgres
        id -u "$owner" >/dev/null 2>&1 || owner=nobody
        chown -R "$owner" "$folder"
        set -- runuser -u "$owner" -- "$@"
    fi
    "$@" >"$folder/start.log" 2>&1 || { echo "bouncer.sh: $(tail -3 "$folder/start.log")"; exit 1; }
    echo "host=$folder port=6432 user=seslite"
}

case $command in
start) start "$3" ;;
stop) [ ! -f "$folder/pid" ] || kill "$(cat "$folder/pid")" ;;
esac
