#!/bin/sh
# Makes man pages and HTML pages from the public headers:
#     sh tools/docs/make.sh FOLDER VERSION HEADER...      (AWK)
# FOLDER is made anew, with man/man3 and html in it, and the records of read.awk.
set -eu
tools=$(dirname "$0")
folder=$1
version=$2
shift 2
awk=${AWK:-awk}
rm -rf "$folder"
mkdir -p "$folder/man/man3" "$folder/html"
records=$folder/records.new
$awk -f "$tools/comments.awk" -f "$tools/read.awk" "$@" >"$records"
$awk -f "$tools/records.awk" -f "$tools/man.awk" -v version="$version" -v folder="$folder/man/man3" "$records"
$awk -f "$tools/records.awk" -f "$tools/html_index.awk" -f "$tools/html.awk" -v version="$version" -v folder="$folder/html" "$records"
cp "$tools/style.css" "$tools/search.js" "$folder/html"
mv "$records" "$folder/records" # last, so that a run that was ended halfway is begun again
