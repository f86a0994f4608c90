#!/bin/sh
# Builds the package for JavaScript and runs its tests, where the tools are, and says what is missing. From
# the top of the repository, as `make client-js`:
#     sh tools/js/check.sh BUILD-FOLDER      (after `make amalgamation` and the command)
# What the tests need from npm is pinned in test/package.json; without it, only the tests that need it are
# skipped.
set -eu
build=$1
js=$build/js
SESLITE_COMMAND=${SESLITE_COMMAND:-$PWD/$build/tools/seslite/seslite}
export SESLITE_COMMAND
skip() {
    echo "skipped: the package for JavaScript, for want of $1"
    exit 0
}
command -v node >/dev/null 2>&1 || skip "node (https://nodejs.org)"
node --test-concurrency=2 -e "" 2>/dev/null || skip "Node 20.10 or newer"
[ -n "${ZIG:-}" ] || command -v zig >/dev/null 2>&1 || [ -x build/zig/bin/python ] || skip "zig (sh tools/deps.sh dev gets it)"
mkdir -p "$js/test"
rm -f "$js"/test/*.js "$js"/test/*.ts
packages=
if [ ! -e "$js/test/node_modules/.package-lock.json" ] || ! cmp -s tools/js/test/package.json "$js/test/package.json"; then
    cp tools/js/test/package.json "$js/test/"
    # while the module is compiled
    (cd "$js/test" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error) >"$js/npm.log" 2>&1 &
    packages=$!
fi
built=0
sh tools/js/build.sh "$build" || built=$?
if [ -n "$packages" ] && ! wait "$packages"; then
    rm -f "$js/test/node_modules/.package-lock.json"
    echo "skipped: what needs packages of npm, for want of them"
fi
[ "$built" -ne 2 ] || exit 0
[ "$built" -eq 0 ] || exit 1

[ ! -x "$js/test/node_modules/.bin/prettier" ] ||
    "$js/test/node_modules/.bin/prettier" --print-width 110 --tab-width 4 --log-level warn --check \
        tools/js/lib/*.js tools/js/lib/*.ts tools/js/test/*.js tools/js/test/*.ts
cp tools/js/test/* "$js/test/"
# The archive, as the registry takes it. In an empty folder it needs nothing else.
js=$(cd "$js" && pwd)
rm -rf "$js"/seslite-*.tgz "$js/empty" "$js/test/node_modules/seslite"
(cd "$js" && npm pack --silent ./package >/dev/null)
mkdir -p "$js/empty" "$js/test/node_modules/seslite"
(cd "$js/empty" && npm install --offline --no-audit --no-fund --silent "$js"/seslite-*.tgz &&
    (cd node_modules/seslite && sed -n '/^```js$/,/^```$/{//!p;/^```$/q}' README.md) >example.mjs && node example.mjs)
tar -xzf "$js"/seslite-*.tgz -C "$js/test/node_modules/seslite" --strip-components=1
cd "$js/test"
node --expose-gc --test-reporter=dot --test-concurrency=2 --test ./*.test.js
