#!/bin/sh
# Builds everything for processors that this machine does not have, runs tests there under qemu, and passes
# stores to and fro: what one machine wrote, the other checks, exports byte for byte and goes on with. zig
# compiles, since Debian's compilers for other processors and gcc-multilib exclude each other. Debian's
# packages have qemu (sh tools/deps.sh machines) and the libraries, which are fetched for each processor into
# a folder below BUILD. zig is ZIG, or what is in build/zig.
#     sh test/machines.sh BUILD COMMAND TEST,TEST...
# MACHINES names the processors, as Debian does: s390x, whose numbers have the other byte order, and arm64.
set -eu
build=$PWD/$1
here=$PWD/$2
tests=$3
machines=${MACHINES:-s390x arm64}
packages="libc6 libgcc-s1 libsqlite3-0 libsqlite3-dev libcjson1 libcjson-dev libcmocka0 libcmocka-dev"

skip() {
    echo "skipped: $machine, for want of $1 (sh tools/deps.sh machines)"
    exit 0
}

# The packages of another processor, without a change to what the system has installed. Debian's apt serves as
# any user.
fetch() {
    [ ! -e "$root/complete" ] || return 0
    lists=$build/$machine/apt
    mkdir -p "$lists/state/lists/partial" "$lists/cache/archives/partial" "$root"
    : >"$lists/status"
    set -- -qq -o APT::Architecture="$machine" -o APT::Architectures::="$machine" -o Dir::State="$lists/state" \
        -o Dir::State::status="$lists/status" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Languages=none
    # A source that does not have this processor is no reason to stop: the download shows what is there.
    apt-get "$@" update >"$lists/log" 2>&1 || true
    # shellcheck disable=SC2086 # words are meant to be split
    (cd "$lists" && apt-get "$@" download $packages >>log 2>&1) || return 1
    for package in "$lists"/*.deb; do
        dpkg -x "$package" "$root"
    done
    rm -rf "$lists"
    : >"$root/complete"
}

# make there: the same tree, with the compiler and the libraries of the other processor
make_there() {
    ${MAKE:-make} -s --no-print-directory FLAVOUR="machines/$machine" CC="$zig cc -target $target" RUNNER="$runner" \
        CFLAGS='-O1 -fno-sanitize=all' LDFLAGS="-Wl,-rpath,$libraries,--allow-shlib-undefined" \
        SQLITE_CFLAGS="-isystem $root/usr/include" SQLITE_LIBS="$libraries/libsqlite3.so.0" \
        CJSON_CFLAGS="-isystem $root/usr/include" CJSON_LIBS="$libraries/libcjson.so.1" \
        CMOCKA_LIBS="$libraries/libcmocka.so.0" TEST_LDFLAGS= WITH_SERVER= POSTGRES= MYSQL= "$@"
}

# The command of each machine. exec_ takes the place of the shell, so that a signal reaches the command.
exec_there() { exec $runner "$build/$machine/tools/seslite/seslite" "$@"; }
exec_here() { exec "$here" "$@"; }
there() { (exec_there "$@"); }
here() { (exec_here "$@"); }

# The output of the commands goes to a log, which is shown if one fails.
quietly() { "$@" >>"$folder/log" 2>&1; }

# One machine fills a store and is killed while it has it open, so that a write-ahead log stays.
fill() {
    for lines in test/fuzz/corpus/import/session test/fuzz/corpus/import/pruned test/fuzz/corpus/import/shared; do
        quietly "$1" -f "$2" import --rename --skip "$lines"
    done
    quietly "$1" -f "$2" -a a -u u create filled
    quietly "$1" -f "$2" -a a -u u -s filled artifact put build.txt Makefile
    quietly "$1" -f "$2" index
    "exec_$1" -f "$2" -a a -u u tail --follow filled >>"$folder/log" 2>&1 &
    follower=$!
    waited=0
    until [ -e "$2-shm" ] || [ "$waited" -eq 300 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    append "$1" "$2" 1 20
    kill -9 "$follower"
    wait "$follower" 2>/dev/null || true
    [ -s "$2-wal" ]
}

append() {
    number=$3
    while [ "$number" -le "$4" ]; do
        printf '{"id":"e%d","author":"user","invocationId":"i%d","timestamp":%d.25,"content":{"parts":[{"text":"word %d"}]},' \
            "$number" "$number" "$((1700000000 + number))" "$number"
        printf '"actions":{"stateDelta":{"n":%d.5,"app:k":[1e300,%d],"user:u":"\\u00e9"}}}\n' "$number" "$number"
        number=$((number + 1))
    done >"$folder/events"
    quietly "$1" -f "$2" -a a -u u append --input "$folder/events" filled
}

# The content of a store, as each machine reads it, must be the same to the byte.
same() {
    here -f "$1" export >"$folder/here.lines" 2>>"$folder/log"
    there -f "$1" export >"$folder/there.lines" 2>>"$folder/log"
    cmp "$folder/here.lines" "$folder/there.lines"
    grep -q '"id":"e'"$2"'"' "$folder/here.lines"
    [ "$(here -f "$1" search --words "word $2" --jsonl | grep -c .)" -gt 0 ]
    [ "$(there -f "$1" search --words "word $2" --jsonl | grep -c .)" -gt 0 ]
    quietly here -f "$1" check
    quietly there -f "$1" check
}

# exchange WRITER OTHER: the writer's store, with its log, is recovered, read, checked and continued by the
# other, and then continued by the writer.
exchange() {
    rm -f "$folder"/store*
    fill "$1" "$folder/store.db"
    same "$folder/store.db" 20
    append "$2" "$folder/store.db" 21 30
    same "$folder/store.db" 30
    quietly "$2" -f "$folder/store.db" -a a -u u rewind filled
    append "$1" "$folder/store.db" 31 40
    same "$folder/store.db" 40
    quietly "$1" -f "$folder/store.db" index --rebuild
    same "$folder/store.db" 40
    echo "ok      $machine: stores written by $1 and continued by $2"
}

try_machine() {
    case $machine in
    arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 ;;
    *) triplet=$machine-linux-gnu qemu=qemu-$machine ;;
    esac
    target=$triplet.2.31 # the oldest that has all that is called; the libraries may need a newer one
    root=$build/$machine/root
    libraries=$root/usr/lib/$triplet
    folder=$build/$machine/exchange
    zig=${ZIG:-$(command -v zig || ls "$PWD"/build/zig/lib/python*/site-packages/ziglang/zig 2>/dev/null)} || skip zig
    qemu=$(command -v "$qemu-static" || command -v "$qemu") || skip "$qemu"
    runner="$qemu -L $root"
    command -v apt-get >/dev/null && fetch || skip "the packages for it"
    rm -rf "$folder"
    mkdir -p "$folder"
    trap 'status=$?; [ "$status" -eq 0 ] || cat "$folder/log"; exit "$status"' EXIT
    echo "$machine:"
    make_there all
    exchange here there
    exchange there here
    make_there test TESTS="$tests"
}

failed=0
for machine in $machines; do
    # in the background, since a shell goes on after a failure in what stands before ||
    (try_machine) &
    wait "$!" || failed=1
done
exit "$failed"
