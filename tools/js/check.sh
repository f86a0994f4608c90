#!/bin/sh
# Builds the package for JavaScript and runs its tests, where the tools are, and says what is missing. From the top of the
# repository, as `make client-js`:
#     sh tools/js/check.sh BUILD-FOLDER      (after `make amalgamation` and the command)
# What the tests need from npm is pinned in test/package.json; without it, only the tests that need it are skipped.
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
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || skip "Node 20 or newer"
sh tools/js/build.sh "$build" || {
    [ $? -eq 2 ] || exit 1
    exit 0
}

mkdir -p "$js/test"
rm -f "$js"/test/*.js "$js"/test/*.ts
if [ ! -e "$js/test/node_modules/.package-lock.json" ] || ! cmp -s tools/js/test/package.json "$js/test/package.json"; then
    cp tools/js/test/package.json "$js/test/"
    if ! command -v npm >/dev/null 2>&1 ||
        ! (cd "$js/test" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error) >"$js/npm.log" 2>&1; then
        rm -f "$js/test/package.json"
        echo "skipped: what needs packages of npm, for want of them"
    fi
fi
cp tools/js/test/* "$js/test/"
mkdir -p "$js/test/node_modules"
rm -rf "$js/test/node_modules/seslite"
cp -R "$js/package" "$js/test/node_modules/seslite" # no link: what it imports is looked for around it
cd "$js/test"
node --expose-gc --test-reporter=dot --test ./*.test.js
