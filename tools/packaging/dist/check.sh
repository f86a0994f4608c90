#!/bin/sh
# Builds, tests and installs what `make dist` has made, as whoever downloads it would: in a folder that is no
# clone.
#     sh tools/packaging/dist/check.sh DIST [BUILD]     (MAKE, CC, CFLAGS, LDFLAGS, PKG_CONFIG; TESTS: in place of the
#                                                        quick ones)
# BUILD is a build of the same commit with the same flags: the libraries and the command must be equal to
# those in it.
set -eu
dist=$(cd "$1" && pwd)
build=${2:-}
tree=$(pwd)
make="${MAKE:-make} --no-print-directory"
cc=${CC:-cc}
export CFLAGS="${CFLAGS:--O2 -g}" LDFLAGS="${LDFLAGS:-}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-distcheck.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "distcheck: $1" >&2
    exit 1
}
# run COMMAND...: shows what it said if it fails
run() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "failed: $*"; }; }

# ---- as it was sent
cd "$dist"
if command -v sha256sum >/dev/null 2>&1; then
    run sha256sum -c seslite-[0-9]*.sha256
else
    run shasum -a 256 -c seslite-[0-9]*.sha256
fi
umask 077
for each in seslite-[0-9]*.tar.gz seslite-amalgamation-*.tar.gz; do
    gzip -dc "$each" | (cd "$folder" && tar -xf -)
done
cd "$folder"
version=$(echo seslite-[0-9]* | sed 's/^seslite-//')

# ---- the sources
cp -R "seslite-$version" unchanged
cd "seslite-$version"
# shellcheck disable=SC2086 # words are meant to be split
run $make all shared
if [ -n "$build" ] && git -C "$tree" diff --quiet HEAD; then
    for each in libseslite.a libseslite.so."$version" tools/seslite/seslite; do
        [ ! -e "build/$each" ] || cmp "build/$each" "$tree/$build/$each" ||
            fail "$each differs from the one built in the tree (with other flags? then make clean)"
    done
    echo "ok      distcheck: the libraries and the command equal those of the tree"
fi
# shellcheck disable=SC2086
if [ -n "${TESTS:-}" ]; then
    $make test TESTS="$TESTS"
else
    $make quick TESTS=
fi
# shellcheck disable=SC2086
run $make install DESTDIR="$folder/root" PREFIX=/usr
awk -v whole=1 -f test/readme.awk README.md >"$folder/program.c"
rm -rf build
cd ..
diff -r unchanged "seslite-$version" || fail "building has changed the sources"
# shellcheck disable=SC2086
run $cc $CFLAGS -o installed program.c -Iroot/usr/include -Lroot/usr/lib -lseslite $LDFLAGS
export LD_LIBRARY_PATH="$folder/root/usr/lib"
run ./installed
grep -q '"counter":42' log || fail "the README's first program has printed something else"
root/usr/bin/seslite --version | grep -qF "$version" || fail "the installed command has another version"
echo "ok      distcheck: the README's first program, with what is installed"

# ---- the amalgamation
rm -f agents.db
# shellcheck disable=SC2086
run $cc $CFLAGS -o amalgamated program.c "-Iseslite-amalgamation-$version" "seslite-amalgamation-$version/seslite.c" \
    $LDFLAGS ${SQLITE_LIBS:--lsqlite3} -pthread
run ./amalgamated
grep -q '"counter":42' log || fail "the README's first program has printed something else with the amalgamation"
echo "ok      distcheck: the README's first program, with the amalgamation"

# ---- the SBOM
cd "$tree"
sh tools/packaging/dist/check_sbom.sh "$dist/seslite-$version.spdx.json"
