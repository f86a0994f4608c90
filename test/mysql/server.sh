#!/bin/sh
# A MariaDB (or MySQL) server for tests, which nobody else sees.
#     sh test/mysql/server.sh start FOLDER [PORT]   makes it in FOLDER, starts it, prints an address for ses_open_mysql, without a
#                                                   database
#     sh test/mysql/server.sh stop FOLDER           stops it, if it runs; the folder may then be removed
#     sh test/mysql/server.sh kill FOLDER           kills it at once, as a loss of power does
#     sh test/mysql/server.sh replica FOLDER PORT OF   makes a replica of the server on port OF, which has a binary log, and starts
#                                                   it. It is read-only. Only MariaDB
#     sh test/mysql/server.sh promote FOLDER        makes a replica a primary when it has applied all that it has received. From then
#                                                   on a commit waits for a replica
# It listens on a socket in FOLDER; with a PORT also there, on 127.0.0.1. Its user `seslite` with the password
# `secret` may do anything, and `agent` with the same password may do anything in databases called `agents`.
# Since a server does not run as root, root starts it as another user, to whom FOLDER is given. MYSQL_SERVER
# is its program: the first found of mariadbd and mysqld. SERVER_OPTIONS are further options of it, as in
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
    mkdir -p "$folder/tmp"
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$folder" "$folder/tmp"
    # shellcheck disable=SC2086
    case $server in
    *mariadbd) mariadb-install-db --no-defaults $user --datadir="$folder/data" --tmpdir="$folder/tmp" --auth-root-authentication-method=normal \
        --skip-test-db --innodb-log-file-size=16M >"$folder/install.log" 2>&1 ;;
    *) "$server" --no-defaults $user --datadir="$folder/data" --initialize-insecure >"$folder/install.log" 2>&1 ;;
    esac || fail "the server's files cannot be made: $(grep -m1 ERROR "$folder/install.log" || tail -3 "$folder/install.log")"
    cat >"$folder/init.sql" <<'SQL'
SET sql_log_bin = 0;
CREATE USER IF NOT EXISTS seslite@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS seslite@localhost IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS agent@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS agent@localhost IDENTIFIED BY 'secret';
GRANT ALL ON *.* TO seslite@'%' WITH GRANT OPTION;
GRANT ALL ON *.* TO seslite@localhost WITH GRANT OPTION;
GRANT ALL ON agents.* TO agent@'%';
GRANT ALL ON agents.* TO agent@localhost;
SQL
}

start() {
    port=${1:-}
    # 107 bytes are as many as the path of a socket can have.
    [ "$(printf %s "$folder/socket" | wc -c)" -le 107 ] || fail "the path $folder is too long for a socket"
    [ -d "$folder/data" ] || make_data
    if ! runs; then
        rm -f "$folder/socket" "$folder/socket.lock"
        network=--skip-networking
        [ -z "$port" ] || network="--bind-address=127.0.0.1 --port=$port --server-id=$port"
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

ask() { mariadb --no-defaults --socket="$folder/socket" -useslite -psecret -BN -e "$1"; }

# The content of the folder is replaced. The number of the last transaction that is in the copy goes into the
# replica's own binary log, since it may become a primary.
replica() {
    stop_by KILL
    rm -rf "$folder/data"
    if [ ! -d "$folder/empty" ]; then
        make_data
        cp -a "$folder/data" "$folder/empty"
    else
        cp -a "$folder/empty" "$folder/data"
    fi
    start "$1" >/dev/null
    of="--no-defaults --host=127.0.0.1 --port=$2 -useslite -psecret"
    # shellcheck disable=SC2086
    databases=$(mariadb $of -BN -e "SHOW DATABASES" | grep -vxE 'mysql|sys|test|information_schema|performance_schema')
    # shellcheck disable=SC2086
    { echo "SET sql_log_bin = 0;" && mariadb-dump $of --single-transaction --gtid --master-data --hex-blob --databases $databases; } \
        >"$folder/copy.sql" || fail "the server on port $2 is not copied"
    ask "source $folder/copy.sql" >/dev/null || fail "the copy cannot be read"
    rm "$folder/copy.sql"
    position=$(ask "SELECT @@gtid_slave_pos")
    ask "SET GLOBAL gtid_binlog_state = '$position'; SET GLOBAL read_only = 1;
         CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=$2, MASTER_USER='seslite', MASTER_PASSWORD='secret',
             MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1;
         START SLAVE" || fail "the replica does not start"
}

promote() {
    ask "STOP SLAVE IO_THREAD"
    received=$(mariadb --no-defaults --socket="$folder/socket" -useslite -psecret -e 'SHOW SLAVE STATUS\G' | sed -n 's/ *Gtid_IO_Pos: //p')
    [ "$(ask "SELECT master_gtid_wait('$received', 60)")" = 0 ] || fail "the replica does not apply all that it has received"
    ask "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL rpl_semi_sync_master_enabled = ON; SET GLOBAL read_only = 0"
}

case $command in
replica) replica "$3" "$4" ;;
promote) promote ;;
start) start "${3:-}" ;;
kill | stop) stop_by KILL ;;
*) fail "no such command: $command" ;;
esac
