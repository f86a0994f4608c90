#!/bin/sh
# Runs tests with other versions of SQLite than the system's: those that releases of the crate libsqlite3-sys
# carry, which cargo fetches. Built once, they are kept below BUILD.
#     sh test/sqlite_versions.sh BUILD TEST,TEST...
# SQLITE_CRATES names the releases. The first has the oldest SQLite: all is compiled with its header.
set -eu
build=$PWD/$1
tests=$2
# 3.37.0, the oldest that the library takes; 3.46.0, Debian 13's but for its patches; 3.54.1, the newest
crates=${SQLITE_CRATES:-0.23.2 0.30.1 0.40.0}
command -v cargo >/dev/null || {
    echo "skipped: other versions of SQLite, for want of cargo"
    exit 0
}

source_of() { echo "$build/$1/vendor/libsqlite3-sys/sqlite3"; }

fetch() { sh tools/sqlite.sh "$build" "$1" >/dev/null; }

compile() {
    [ ! -e "$build/$1/libsqlite3.so.0" ] || return 0
    # without optimization, which would take longer than the tests gain by it
    ${CC:-cc} -O0 -w -fPIC -pthread -shared -Wl,-soname,libsqlite3.so.0 \
        -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_DBSTAT_VTAB \
        -o "$build/$1/sqlite.new" "$(source_of "$1")/sqlite3.c" -lm -ldl
    mv "$build/$1/sqlite.new" "$build/$1/libsqlite3.so.0"
}

for crate in $crates; do
    fetch "$crate" || {
        echo "skipped: other versions of SQLite, for want of the packages of the crate"
        exit 0
    }
done
compilers=
for crate in $crates; do
    compile "$crate" &
    compilers="$compilers $!"
done
for compiler in $compilers; do
    wait "$compiler"
done

sh test/shared_objects.sh build build/sqlite

# Programs find the library by one name, whichever version it is.
oldest=${crates%% *}
mkdir -p "$build/now"
for crate in $crates; do
    ln -sf "$build/$crate/libsqlite3.so.0" "$build/now/libsqlite3.so.0"
    ln -sf libsqlite3.so.0 "$build/now/libsqlite3.so"
    echo "SQLite $(sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"/\1/p' "$(source_of "$crate")/sqlite3.h"):"
    ${MAKE:-make} -s --no-print-directory FLAVOUR=sqlite SQLITE_CFLAGS="-I$(source_of "$oldest")" \
        SQLITE_LIBS="-L$build/now -lsqlite3 -Wl,-rpath,$build/now" test TESTS="$tests"
done
