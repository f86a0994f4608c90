#!/bin/sh
# The archive defines the functions of the public headers and others that begin with ses__; the shared library
# exports the former alone.
#     HEADERS='include/seslite.h ...' sh test/exports.sh BUILD
set -eu
build=$1
folder=$build/test/exports
mkdir -p "$folder"
sed -n 's/^SES_API [^(]*[ *]\(ses_[a-z0-9_]*\)(.*/\1/p' $HEADERS | sort -u >"$folder/headers"
# symbols ARGUMENT...: what nm lists as defined, without the underscore that macOS puts before each name
symbols() { nm "$@" 2>/dev/null | awk 'NF == 3 {sub(/^_ses_/, "ses_", $3); print $3}' | sort -u; }
names() { symbols "$@" | sed '/^SESLITE_/d; s/@.*//'; }

# same WHAT FILE: the file has the headers' functions
same() {
    if ! cmp -s "$folder/headers" "$2"; then
        echo "the headers (<) and $1 (>) differ:"
        diff "$folder/headers" "$2" || true
        exit 1
    fi
}

names -g --defined-only "$build/libseslite.a" >"$folder/all"
grep -v '^ses__' "$folder/all" >"$folder/archive"
same "the archive" "$folder/archive"
shared=$build/libseslite.so
if [ -e "$shared" ]; then
    names -D --defined-only "$shared" >"$folder/shared"
    # Each has its version. The map lists it as the linker was told, and the rest is new.
    symbols -D --defined-only "$shared" | sed -n 's/@@*/ /p' | sort >"$folder/versions"
    awk '/^SESLITE_/ {version = $1} /^ +ses_/ {sub(/;/, ""); print $1, version}' "$build/gen/symbols.map" |
        sort >"$folder/map"
    if ! diff "$folder/map" "$folder/versions"; then
        echo "the versions of calls in the map (<) and in the shared library (>) differ"
        exit 1
    fi
else
    names -gU "$build/libseslite.dylib" >"$folder/shared"
fi
same "the shared library" "$folder/shared"
