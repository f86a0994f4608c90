#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz wants them: with the compiler, flags and engine in the environment, from
# $SRC to $OUT. The sources of SQLite, cJSON and libmicrohttpd are in $SRC; where they are not, those of the
# system serve, for a try without OSS-Fuzz. The system on which the targets run has none of these libraries,
# and this one not even their headers. FLAVOUR=fuzz takes what `make fuzz` has built.
cd "$SRC/seslite"
flavour=${FLAVOUR:-oss-fuzz}
build=build/$flavour
command=build/tools/seslite/seslite
settings=(FLAVOUR="$flavour" CC="$CC" CFLAGS="$CFLAGS" FUZZ_LINK="$CXX" FUZZ_ENGINE="$LIB_FUZZING_ENGINE")
# The command, which makes inputs to begin with, is built as users have it.
host=(FLAVOUR=release CC="${HOST_CC:-cc}" CFLAGS=-O1)

if [ -e "$SRC/sqlite/configure" ]; then
    mkdir -p "$WORK/sqlite"
    (cd "$WORK/sqlite" && "$SRC/sqlite/configure" --disable-tcl >/dev/null && make -s sqlite3.c)
    settings+=(SQLITE="$WORK/sqlite/sqlite3.c")
    host+=(SQLITE="$WORK/sqlite/sqlite3.c")
    build=build/$flavour-own-sqlite
    command=build/own-sqlite/tools/seslite/seslite
fi
if [ -e "$SRC/cjson/cJSON.c" ]; then
    mkdir -p "$WORK/include/cjson"
    cp "$SRC/cjson/cJSON.h" "$WORK/include/cjson/"
    # shellcheck disable=SC2086 # words are meant to be split
    $CC $CFLAGS -c -o "$WORK/cJSON.o" "$SRC/cjson/cJSON.c"
    settings+=(CJSON_CFLAGS="-isystem $WORK/include" CJSON_LIBS="$WORK/cJSON.o")
    host+=(CJSON_CFLAGS="-isystem $WORK/include")
fi
if [ -e "$SRC/libmicrohttpd/configure" ]; then
    mkdir -p "$WORK/libmicrohttpd"
    (cd "$WORK/libmicrohttpd" && "$SRC/libmicrohttpd/configure" --disable-shared --disable-https --disable-doc --disable-examples \
        --disable-tools --prefix="$WORK" >/dev/null && make -s -j"$(nproc)" -C src/microhttpd install && make -s -C src/include install) >/dev/null
    settings+=(WITH_SERVER=yes MHD_CFLAGS="-isystem $WORK/include" MHD_LIBS="$WORK/lib/libmicrohttpd.a")
fi
make -s -j"$(nproc)" "${settings[@]}" fuzz-binaries

make -s -j"$(nproc)" "${host[@]}" "$command"
sh tools/fuzz/seeds.sh "$WORK/seeds" "$command"
for program in "$build"/fuzz_*; do
    target=${program##*/fuzz_}
    case $target in *.*) continue ;; esac
    cp "$program" "$OUT/"
    # With their folders, since both may have a file of the same name.
    folders=()
    for folder in "test/fuzz/corpus/$target" "$WORK/seeds/$target"; do
        [ ! -d "$folder" ] || folders+=("$folder")
    done
    zip -q -r "$OUT/fuzz_${target}_seed_corpus.zip" "${folders[@]}"
    [ ! -e "test/fuzz/dict/$target.dict" ] || cp "test/fuzz/dict/$target.dict" "$OUT/fuzz_$target.dict"
    # As the Makefile has it.
    case $target in
    foreign) printf '[libfuzzer]\nmax_len = 65536\nclose_fd_mask = 3\n' >"$OUT/fuzz_$target.options" ;;
    server) printf '[libfuzzer]\nclose_fd_mask = 1\n' >"$OUT/fuzz_$target.options" ;;
    esac
done
