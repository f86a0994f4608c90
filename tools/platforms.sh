#!/bin/sh
# Compiles the library for systems that this one is not, with warnings as errors, and links it with their C
# library: with musl-gcc, and with zig, which has the headers of all of them. SQLite's and cJSON's headers are
# this system's, since they are the same everywhere; functions that do nothing stand in for the libraries.
#     sh tools/platforms.sh      (PLATFORMS="aarch64-macos x86_64-freebsd": of zig's, only these)
# zig is ZIG, or the program of that name, or what `sh tools/deps.sh dev` puts into build/zig.
set -eu
make=${MAKE:-make}
folder=build/platforms
targets=${PLATFORMS:-x86_64-macos aarch64-macos x86_64-freebsd aarch64-linux-musl arm-linux-musleabihf}
failed=0

# Headers without the rest of /usr/include, which is this system's alone.
mkdir -p "$folder/include/cjson"
header() { echo "#include <$1>" | ${CC:-cc} -E -x c - | sed -n "s|^# 1 \"\(/.*$1\)\".*|\1|p" | head -1; }
cp "$(header sqlite3.h)" "$folder/include/"
cp "$(header cjson/cJSON.h)" "$folder/include/cjson/"
grep -rohE '\b(sqlite3|cJSON)_[A-Za-z0-9_]+ ?\(' lib tools/seslite tools/formats | tr -d ' (' | sort -u |
    sed 's/.*/void &(void);\nvoid &(void) {}/' >"$folder/stubs.c"

# try NAME FLAGS COMPILER...: the archive, and the shared library without a name undefined
try() {
    name=$1
    flags=$2
    shift 2
    log=$folder/$name.log
    mkdir -p "$folder/$name"
    if { "$@" -fPIC -c -o "$folder/$name/stubs.o" "$folder/stubs.c" &&
        "$make" --no-print-directory FLAVOUR="platforms/$name" CC="$*" CFLAGS="-O0 -fno-sanitize=all -Werror" LDFLAGS="$flags" \
            SQLITE_CFLAGS="-isystem $folder/include" CJSON_CFLAGS="-isystem $folder/include" \
            SQLITE_LIBS="$folder/$name/stubs.o" CJSON_LIBS= all shared; } >"$log" 2>&1; then
        echo "ok      $name"
    else
        echo "FAILED  $name; it said:"
        cat "$log"
        failed=1
    fi
}

if command -v musl-gcc >/dev/null 2>&1; then
    try musl-gcc -Wl,--no-undefined musl-gcc
else
    echo "skipped: musl-gcc, which is not here"
fi
if [ -z "${ZIG:-}" ]; then
    if command -v zig >/dev/null 2>&1; then
        ZIG=zig
    elif [ -x build/zig/bin/python ]; then
        ZIG="build/zig/bin/python -m ziglang"
    fi
fi
for target in $targets; do
    case $target in
    *macos*) flags=-Wl,-undefined,error ;;
    *) flags=-Wl,--no-undefined ;;
    esac
    if [ -n "${ZIG:-}" ]; then
        # shellcheck disable=SC2086 # words are meant to be split
        try "$target" $flags $ZIG cc -target "$target"
    else
        echo "skipped: $target, for want of zig (sh tools/deps.sh dev gets it)"
    fi
done
exit "$failed"
