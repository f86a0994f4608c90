#!/bin/sh
# Compiles the README's first program with the library that pkg-config finds, and runs it in FOLDER.
#     sh tools/packaging/first_program.sh FOLDER [PROGRAM.c]     (from the top of the sources; CC, PKG_CONFIG)
# PROGRAM.c is that program where the sources are not at hand.
set -eu
folder=$1
program=${2:-$folder/program.c}
[ -n "${2:-}" ] || awk -v whole=1 -f test/readme.awk README.md >"$program"
# shellcheck disable=SC2046,SC2086 # words are meant to be split
${CC:-cc} -o "$folder/program" "$program" $(${PKG_CONFIG:-pkg-config} --cflags --libs seslite)
cd "$folder"
rm -f agents.db
state=$(./program)
echo "$state"
case $state in
*'"counter":42'*) echo "ok      the README's first program" ;;
*) exit 1 ;;
esac
