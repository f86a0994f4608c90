#!/bin/sh
# Takes over objects of the library from another build with the same flags, so that a build with another
# SQLite compiles only what sees SQLite's header, which is the room storage/sqlite.
#     sh test/shared_objects.sh FROM TO     (MAKE; FROM and TO are folders of builds)
set -eu
from=$1
to=$2
# The settings are those of the build for which this is done.
${MAKE:-make} -s --no-print-directory SQLITE= ENGINE= "$from/libseslite.a"
mkdir -p "$to/gen" "$to/lib"
# With their times, by which make sees that they are made.
cp -p "$from"/gen/*.sql "$from"/gen/*.h "$from"/gen/*.c "$to/gen/"
for object in "$from"/lib/*.o; do
    case ${object##*/} in
    storage-sqlite-*) ;;
    *) cp -p "$object" "$to/lib/" ;;
    esac
done
