#!/bin/sh
# Compares the shared library with earlier headers by abidiff, and fails if a program that was linked with a
# library of those headers could break:
#     sh tools/abi/diff.sh FOLDER EARLIER-TREE LIBRARY HEADER...      (CC, AWK, CJSON_CFLAGS)
# EARLIER-TREE has include/ and tools/abi/symbols.map. A library is made from them alone in FOLDER, whose
# calls do nothing, so the earlier sources need not be built. HEADER... are those of the library.
set -eu
tools=$(dirname "$0")
folder=$1
earlier=$2
library=$3
shift 3
awk=${AWK:-awk}
rm -rf "$folder"
mkdir -p "$folder"

# A header that the earlier tree lacks has come since.
headers=
for header in "$@"; do
    header=$(basename "$header")
    [ ! -e "$earlier/include/$header" ] || headers="$headers $earlier/include/$header"
done
# shellcheck disable=SC2086 # words are meant to be split
$awk -f "$tools/symbols.awk" "$earlier/tools/abi/symbols.map" $headers >"$folder/symbols.map"
for header in $headers; do
    echo "#include \"$(basename "$header")\""
done >"$folder/all.h"
{
    echo '#include "all.h"'
    echo '#include <stdlib.h>'
    # shellcheck disable=SC2086
    ${CC:-cc} -E -P -DSES_API=PUBLIC -I"$earlier/include" ${CJSON_CFLAGS:-} "$folder/all.h" |
        $awk 'BEGIN {RS = ";"} sub(/^.*PUBLIC/, "") {print $0, "{ abort(); }"}'
} >"$folder/calls.c"
soname=$(objdump -p "$library" | $awk '$1 == "SONAME" {print $2}')
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -g -fPIC -shared -I"$folder" -I"$earlier/include" ${CJSON_CFLAGS:-} -Wl,-soname,"$soname" \
    -Wl,--version-script="$folder/symbols.map" -o "$folder/earlier.so" "$folder/calls.c"
status=0
abidiff --no-added-syms --drop-private-types --headers-dir1 "$earlier/include" --headers-dir2 "$(dirname "$1")" \
    "$folder/earlier.so" "$library" >"$folder/report" || status=$?
# 4 alone: something has changed. A member that was inserted where no other has moved was appended, which
# breaks nothing in a struct that may grow. (compare.awk knows which may.)
breaking='data member (change|deletion)|type name changed|entity changed|return type changed|was (removed|added)'
if [ "$status" -eq 0 ] || { [ "$status" -eq 4 ] && ! grep -qE "$breaking" "$folder/report"; }; then
    exit 0
fi
cat "$folder/report"
exit 1
