#!/bin/sh
# Compiles the library and SQLite to WebAssembly, and puts the package together as npm has it, into
# BUILD/js/package:
#     sh tools/js/build.sh BUILD-FOLDER      (after `make amalgamation`; `make js` does both)
# zig is ZIG, or the program of that name, or what `sh tools/deps.sh dev` puts into build/zig. SQLite's
# amalgamation is in SQLITE_AMALGAMATION, or comes from tools/sqlite.sh. Where one of them is missing, it says
# so, makes nothing, and ends with 2.
set -eu
build=$1
here=tools/js
out=$build/js

missing() {
    echo "skipped: the package for JavaScript, for want of $1"
    exit 2
}

if [ -z "${ZIG:-}" ]; then
    if command -v zig >/dev/null 2>&1; then
        ZIG=zig
    elif [ -x build/zig/bin/python ]; then
        ZIG="build/zig/bin/python -m ziglang"
    else
        missing "zig (sh tools/deps.sh dev gets it)"
    fi
fi

mkdir -p "$out"
sqlite=${SQLITE_AMALGAMATION:-$(sh tools/sqlite.sh build/sqlite)} || missing "SQLite's sources"

# compile OBJECT SOURCE FLAGS...: zig remembers what it has compiled of equal files
compile() {
    object=$1
    source=$2
    shift 2
    # shellcheck disable=SC2086 # words are meant to be split
    $ZIG cc -target wasm32-wasi -Os -std=c11 -D_GNU_SOURCE "$@" -c -o "$out/$object" "$source"
}
# With mutexes that do nothing, since the library asks for a SQLite that is safe with threads.
compile sqlite.o "$sqlite/sqlite3.c" -w -DSQLITE_OS_OTHER=1 -DSQLITE_THREADSAFE=2 -DSQLITE_TEMP_STORE=3 -DSQLITE_ENABLE_FTS5 \
    -DSQLITE_DQS=0 -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_DEPRECATED \
    -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_USE_ALLOCA &
compiler=$!
compile seslite.o "$build/amalgamation/seslite.c" -w -I"$sqlite" -I"$build/amalgamation" -include "$here/src/shim.h"
for name in shim vfs calls walks tokens artifacts; do
    compile "$name.o" "$here/src/$name.c" -Wall -Wextra -Werror -I"$sqlite" -I"$build/amalgamation"
done
wait "$compiler"

# shellcheck disable=SC2086 # words are meant to be split
$ZIG cc -target wasm32-wasi -mexec-model=reactor -Os -s -Wl,--gc-sections -Wl,-z,stack-size=1048576 \
    -o "$out/seslite.wasm" "$out/seslite.o" "$out/sqlite.o" "$out/shim.o" "$out/vfs.o" "$out/calls.o" "$out/walks.o" "$out/tokens.o" "$out/artifacts.o"

# The package. Its files are copied, so that it lies together as npm has it.
rm -rf "$out/package.new"
mkdir -p "$out/package.new/lib"
for file in package.json README.md; do
    cp "$here/$file" "$out/package.new/"
done
cp LICENSE "$out/package.new/"
cp "$here"/lib/*.js "$here"/lib/*.d.ts "$out/seslite.wasm" "$out/package.new/lib/"
rm -rf "$out/package"
mv "$out/package.new" "$out/package"
