#!/bin/sh
# Describes the binary interface that the public headers declare, on standard output, one line for each part
# of it:
#     sh tools/abi/describe.sh FOLDER HEADER...      (CC, AWK)
# The compiler gives the numbers, by a program that is made from the headers in FOLDER. They are those of
# 64-bit systems; elsewhere nothing is printed, and the exit status is 77.
set -eu
tools=$(dirname "$0")
folder=$1
shift
awk=${AWK:-awk}
mkdir -p "$folder"
$awk -f "$tools/../docs/comments.awk" -f "$tools/../docs/read.awk" "$@" >"$folder/records"
$awk -f "$tools/describe.awk" "$folder/records" >"$folder/describe.c"
# shellcheck disable=SC2086 # words are meant to be split
${CC:-cc} -std=c11 -I"$(dirname "$1")" -o "$folder/describe" "$folder/describe.c"
"$folder/describe"
