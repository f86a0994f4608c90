#!/bin/sh
# The README's code runs: its fragments as one program, and its first program.
#     sh test/readme.sh BUILD
set -eu
cd "$1/test"
./readme
rm -f agents.db
./readme_program
