#!/bin/sh
# A MariaDB (or MySQL) server for tests, which nobody else sees.
#     sh test/mysql/server.sh start FOLDER [PORT]   makes it in FOLDER, starts it, prints an address for ses_open_mysql, without a
#                                                   database
#     sh test/mysql/server.sh stop FOLDER           stops it, if it runs; the folder may then be removed
#     sh test/mysql/server.sh kill FOLDER           kills it at once, as a loss of power does
# It listens on a socket in FOLDER; with a PORT also there, on 127.0.0.1. Its user `seslite` with the password `secret` may do
# anything. Since a server does not run as root, root starts it as another user, to whom FOLDER is given. MYSQL_SERVER is its
# program: the first found of mariadbd and mysqld. SERVER_OPTIONS are further options of it, as in
# SERVER_OPTIONS='--innodb-flush-log-at-trx-commit=1'.
set -eu

fail() {
    echo "server.sh: $1" >&2
    exit 1
}
[ $# -ge 2 ] || fail "wanted: a command and a folder"
command=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)

PATH=$PATH:/usr/sbin:/usr/local/sbin
server=${MYSQL_SERVER:-$(command -v mariadbd || command -v mysqld)} || fail "there is no mariadbd: make deps MYSQL=1 installs a server"

owner=mysql
id -u "$owner" >/dev/null 2>&1 || owner=nobody
user=
[ "$(id -u)" -ne 0 ] || user=--user=$owner
# The size of the log has another name in each of the two, and MySQL has one more protocol.
case $server in
*mariadbd) own=--innodb-log-file-size=16M ;;
*) own="--innodb-redo-log-capacity=32M --mysqlx=OFF --skip-log-bin --secure-file-priv=NULL" ;;
esac

alive() { kill -0 "$1" 2>/dev/null && [ "$(ps -o stat= -p "$1" | cut -c1)" != Z ]; }
runs() { [ -f "$folder/server.pid" ] && alive "$(cat "$folder/server.pid")"; }

# Options of the system's files do not count.
make_data() {
    # shellcheck disable=SC2086
    case $server in
    *mariadbd) mariadb-install-db --no-defaults $user --datadir="$folder/data" --tmpdir="$folder/tmp" --auth-root-authentication-method=normal \
        --skip-test-db --innodb-log-file-size=16M >"$folder/install.log" 2>&1 ;;
    *) "$server" --no-defaults $user --datadir="$folder/data" --initialize-insecure >"$folder/install.log" 2>&1 ;;
    esac || fail "the server's files cannot be made: $(grep -m1 ERROR "$folder/install.log" || tail -3 "$folder/install.log")"
    cat >"$folder/init.sql" <<'SQL'
CREATE USER IF NOT EXISTS seslite@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS seslite@localhost IDENTIFIED BY 'secret';
GRANT ALL ON *.* TO seslite@'%' WITH GRANT OPTION;
GRANT ALL ON *.* TO seslite@localhost WITH GRANT OPTION;
SQL
}

start() {
    port=${1:-}
    # 107 bytes are as many as the path of a socket can have.
    [ "$(printf %s "$folder/socket" | wc -c)" -le 107 ] || fail "the path $folder is too long for a socket"
    mkdir -p "$folder/tmp"
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$folder" "$folder/tmp"
    [ -d "$folder/data" ] || make_data
    if ! runs; then
        rm -f "$folder/socket" "$folder/socket.lock"
        network=--skip-networking
        [ -z "$port" ] || network="--bind-address=127.0.0.1 --port=$port"
        # shellcheck disable=SC2086
        "$server" --no-defaults $user --datadir="$folder/data" --tmpdir="$folder/tmp" --socket="$folder/socket" --pid-file="$folder/server.pid" \
            --log-error="$folder/server.log" --init-file="$folder/init.sql" $network --skip-name-resolve --max-connections=200 \
            --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2 --innodb-flush-method=nosync \
            --innodb-doublewrite=OFF --performance-schema=off --table-open-cache=4000 $own ${SERVER_OPTIONS:-} </dev/null >/dev/null 2>&1 &
        first=$!
        # The file comes before the server listens.
        for _ in $(seq 600); do
            [ ! -S "$folder/socket" ] || [ ! -f "$folder/server.pid" ] || break
            alive "$first" || fail "the server does not start: $(grep ERROR "$folder/server.log" | tail -1)"
            sleep 0.1
        done
    fi
    host=localhost
    [ -z "$port" ] || host=127.0.0.1:$port
    socket="?socket=$folder/socket"
    [ -z "$port" ] || socket=
    echo "mysql://seslite:secret@$host/$socket"
}

stop_by() {
    runs || return 0
    process=$(cat "$folder/server.pid")
    kill "-$1" "$process"
    while alive "$process"; do sleep 0.02; done
    rm -f "$folder/server.pid" "$folder/socket" "$folder/socket.lock"
}

case $command in
start) start "${3:-}" ;;
kill | stop) stop_by KILL ;;
*) fail "no such command: $command" ;;
esac
