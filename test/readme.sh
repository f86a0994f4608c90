#!/bin/sh
# The README's code runs: its fragments as one program, and its first program. CONTRIBUTING's is the library's own.
#     sh test/readme.sh BUILD
set -eu
awk -f test/contributing.awk CONTRIBUTING.md lib/*/*.c lib/*/*/*.c
cd "$1/test"
./readme
rm -f agents.db
./readme_program
