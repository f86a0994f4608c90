#!/bin/sh
# Builds the shared library of a released version from git's history below BUILD, unless it is there, and
# prints its path. For tests of a program that still uses it. Prints nothing where there is no such history.
#     sh test/released.sh VERSION BUILD
set -eu
case $1 in
0.2.0) commit=8fd1d63d ;;
*) exit 1 ;;
esac
folder=$2/released/$1
library=$folder/build/libseslite.so
if [ ! -e "$library" ]; then
    git cat-file -e "$commit^{commit}" 2>/dev/null || exit 0
    mkdir -p "$folder"
    git archive "$commit" | tar -x -C "$folder"
    # Without the settings of the make that runs this. Optimization takes longer than the tests gain by it.
    env -i PATH="$PATH" make -s -C "$folder" shared CFLAGS=-O0 >"$folder/log" 2>&1 || {
        tail -3 "$folder/log"
        exit 1
    }
fi
echo "$library"
