#!/bin/sh
# Builds everything with SQLite3 Multiple Ciphers in place of SQLite, and runs tests on encrypted stores.
# SQLITE names its amalgamation; otherwise npm fetches the package better-sqlite3-multiple-ciphers, which has
# it, and which is kept below BUILD.
#     sh test/encrypted.sh BUILD TEST,TEST...
set -eu
build=$PWD/$1
tests=$2
package=better-sqlite3-multiple-ciphers
version=12.11.1

fetch() {
    [ ! -e "$build/package/deps/sqlite3/sqlite3.c" ] || return 0
    mkdir -p "$build"
    (cd "$build" && npm pack --silent "$package@$version" >/dev/null && tar xzf "$package-$version.tgz")
}

sqlite=${SQLITE:-$build/package/deps/sqlite3/sqlite3.c}
if [ -z "${SQLITE:-}" ]; then
    command -v npm >/dev/null || {
        echo "skipped: encrypted stores, for want of npm or SQLITE="
        exit 0
    }
    fetch || {
        echo "skipped: encrypted stores, for want of the package $package"
        exit 0
    }
fi
sh test/shared_objects.sh "build${FLAVOUR:+/$FLAVOUR}" "build/${FLAVOUR:+$FLAVOUR-}encrypted"
# Without optimization, which would take longer than the tests gain by it.
SQLITE_FLAGS='-O0 -g'
export SQLITE_FLAGS
[ -n "${FLAVOUR:-}" ] ||
    ${MAKE:-make} -s --no-print-directory ENGINE=encrypted SQLITE="$sqlite" all shared build/encrypted/tools/demo
${MAKE:-make} -s --no-print-directory ENGINE=encrypted SQLITE="$sqlite" test TESTS="$tests"
