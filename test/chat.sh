#!/bin/sh
# The program of tools/chat prints what its chapter says: with a worker that lives, and with one that is
# killed while it answers, after which another worker answers the same message.
#     sh test/chat.sh BUILD
set -eu
chat=$(cd "$1/tools/chat" && pwd)/chat
folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-chat-XXXXXX")
trap 'rm -rf "$folder"' EXIT
awk '
    /^```$/ {inside = 0}
    inside && !/^\$ / {print}
    /^```text$/ {inside = 1}' tools/chat/README.md >"$folder/expected"
cd "$folder"

# play NAME: begins the scene, in a store of that name
play() {
    "$chat" "$1.db" >"$1.out" 2>"$1.drafts" &
    scene=$!
}

# finish NAME WORKER: the scene has printed all, and shown drafts. A worker ends if it gets no message for
# some time, as on a busy machine, and is then started again.
finish() {
    for _ in 1 2 3; do
        cmp -s expected "$1.out" || "$chat" "$1.db" "$2"
    done
    kill "$scene" 2>/dev/null || true # it waits if no answer came
    wait "$scene"
    diff expected "$1.out"
    grep -q 'Take a coat' "$1.drafts"
}

# The first worker is killed in the middle of its first answer.
kill_one() {
    play killed
    "$chat" killed.db worker-1 &
    worker=$!
    tries=0
    until grep -q Take killed.drafts; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ]
        sleep 0.1
    done
    kill -9 "$worker"
    wait "$worker" || true
    [ ! -s killed.out ]
    finish killed worker-2
}

kill_one &
killed=$!
play whole
finish whole worker-1
wait "$killed"
