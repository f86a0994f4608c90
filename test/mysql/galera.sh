#!/bin/sh
# Three nodes of a Galera cluster on 127.0.0.1, each of which is written to. Only MariaDB.
#     sh test/mysql/galera.sh start FOLDER PORT    makes them in FOLDER, and starts them; their ports are PORT, PORT + 1 and PORT + 2
#     sh test/mysql/galera.sh again FOLDER PORT N  starts node N, which was killed: it catches up from the others
#     sh test/mysql/galera.sh kill FOLDER PORT N   kills node N, as a loss of power does
#     sh test/mysql/galera.sh stop FOLDER PORT     stops them; the folder may then be removed
# server.sh says how they are used. GALERA is the cluster's library. Each node takes three further ports, from
# PORT + 3 on.
set -eu
command=$1
folder=$2
port=$3
GALERA=${GALERA:-/usr/lib/galera/libgalera_smm.so}

members() { echo "127.0.0.1:$((port + 3)),127.0.0.1:$((port + 6)),127.0.0.1:$((port + 9))"; }

# The first node founds the cluster if no members are given.
start_node() {
    own=$((port + $1 * 3))
    SERVER_OPTIONS="--wsrep-on=ON --wsrep-provider=$GALERA --wsrep-cluster-name=seslite --wsrep-cluster-address=gcomm://$2
        --wsrep-node-name=node$1 --wsrep-node-address=127.0.0.1:$own --wsrep-sst-method=rsync
        --wsrep-sst-receive-address=127.0.0.1:$((own + 2)) --binlog-format=ROW --innodb-autoinc-lock-mode=2
        --wsrep-provider-options=base_host=127.0.0.1;base_port=$own;ist.recv_addr=127.0.0.1:$((own + 1));gcache.size=32M" \
        sh test/mysql/server.sh start "$folder/node$1" $((port + $1 - 1)) >/dev/null
}

case $command in
start)
    [ -r "$GALERA" ] || {
        echo "there is no $GALERA"
        exit 1
    }
    start_node 1 ""
    start_node 2 "$(members)"
    start_node 3 "$(members)"
    ;;
again) start_node "$4" "$(members)" ;;
kill) sh test/mysql/server.sh kill "$folder/node$4" ;;
stop) for node in 1 2 3; do sh test/mysql/server.sh stop "$folder/node$node"; done ;;
*)
    echo "galera.sh: no such command: $command" >&2
    exit 1
    ;;
esac
