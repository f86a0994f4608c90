#!/bin/sh
# The shared library has the binary interface of the headers, and of the last release, as abidiff sees it.
# Changes that break programs are found, and others are not.
#     HEADERS='include/seslite.h ...' sh test/abidiff.sh BUILD      (CC, AWK, CJSON_CFLAGS)
set -eu
library=$1/libseslite.so
folder=$1/test/abidiff
if ! command -v abidiff >/dev/null 2>&1 || [ ! -e "$library" ]; then
    echo "skipped: the binary interface of the library, for want of abidiff (sh tools/deps.sh dev gets it)"
    exit 0
fi
if ! readelf -S "$library" | grep -q '\.debug_info'; then
    echo "skipped: the binary interface of the library, which has no debug information"
    exit 0
fi
mkdir -p "$folder"
# shellcheck disable=SC2086 # words are meant to be split
compare() { sh tools/abi/diff.sh "$folder/made" "$1" "$library" $HEADERS; }

compare . || { echo "abidiff: the headers and the library differ" && exit 1; }

# ---- the last release

if release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
    rm -rf "$folder/$release"
    mkdir -p "$folder/$release"
    git archive "$release" include tools/abi | tar -x -C "$folder/$release"
    compare "$folder/$release" || {
        echo "abidiff: programs that were linked with $release would break"
        exit 1
    }
else
    echo "abidiff: there is no tag of a release to compare with"
fi

# ---- what is found

# from FILE SED-SCRIPT: compares with a tree in which that file was different
from() {
    rm -rf "$folder/earlier"
    mkdir -p "$folder/earlier/tools/abi"
    cp -R include "$folder/earlier/"
    cp tools/abi/symbols.map "$folder/earlier/tools/abi/"
    sed "$2" "$1" >"$folder/earlier/$1"
    if cmp -s "$1" "$folder/earlier/$1"; then
        echo "abidiff: this changes nothing in $1: $2"
        exit 1
    fi
    compare "$folder/earlier" >"$folder/found" 2>&1
}
breaks() {
    if from "$@"; then
        echo "abidiff: this change of $1 was not found: $2"
        exit 1
    fi
    grep -q "$3" "$folder/found" || { cat "$folder/found" && exit 1; }
}
fits() { from "$@" || { cat "$folder/found" && echo "abidiff: this change of $1 breaks nothing: $2" && exit 1; }; }

breaks include/seslite.h '$i\
SES_API int ses_gone(void);' ses_gone
breaks include/seslite.h 's/ses_code_name(int code/ses_code_name(long code/' ses_code_name
breaks include/seslite.h 's/int64_t commits; /int commits; /' ses_store_stats
breaks include/seslite_live.h '/int64_t wait_ms;/d' wait_ms
breaks tools/abi/symbols.map 's/SESLITE_0\.2/SESLITE_0.1/' ses_append
fits include/seslite_history.h '/ses_store_space(/,/;/d'
fits include/seslite_history.h '/^typedef struct ses_maintain_options/,/^}/{
/ses_cancel /d
}'
