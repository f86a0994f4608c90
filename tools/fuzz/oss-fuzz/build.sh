#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz wants them: with the compiler, flags and engine in the environment, from $SRC to $OUT.
# SQLite's and cJSON's sources are in $SRC; where they are not, those of the system serve, for a try without OSS-Fuzz.
cd "$SRC/seslite"
build=build/oss-fuzz
settings=(FLAVOUR=oss-fuzz CC="$CC" CFLAGS="$CFLAGS" FUZZ_LINK="$CXX" FUZZ_ENGINE="$LIB_FUZZING_ENGINE" WITH_SERVER="${WITH_SERVER-}")

if [ -e "$SRC/sqlite/configure" ]; then
    mkdir -p "$WORK/sqlite"
    (cd "$WORK/sqlite" && "$SRC/sqlite/configure" --disable-tcl >/dev/null && make -s sqlite3.c)
    settings+=(SQLITE="$WORK/sqlite/sqlite3.c")
    build=build/oss-fuzz-own-sqlite
fi
if [ -e "$SRC/cjson/cJSON.c" ]; then
    mkdir -p "$WORK/include/cjson"
    cp "$SRC/cjson/cJSON.h" "$WORK/include/cjson/"
    # shellcheck disable=SC2086 # words are meant to be split
    $CC $CFLAGS -c -o "$WORK/cJSON.o" "$SRC/cjson/cJSON.c"
    settings+=(CJSON_CFLAGS="-isystem $WORK/include" CJSON_LIBS="$WORK/cJSON.o")
fi
make -s -j"$(nproc)" "${settings[@]}" fuzz-binaries

# Inputs to begin with come from the command, which is built as users have it.
make -s -j"$(nproc)" CC="${HOST_CC:-cc}" CFLAGS=-O1 all
sh tools/fuzz/seeds.sh "$WORK/seeds" build/tools/seslite/seslite
for program in "$build"/fuzz_*; do
    target=${program##*/fuzz_}
    case $target in *.*) continue ;; esac
    cp "$program" "$OUT/"
    inputs=()
    for folder in "test/fuzz/corpus/$target" "$WORK/seeds/$target"; do
        [ ! -d "$folder" ] || inputs+=("$folder"/*)
    done
    zip -q -j "$OUT/fuzz_${target}_seed_corpus.zip" "${inputs[@]}"
    [ ! -e "test/fuzz/dict/$target.dict" ] || cp "test/fuzz/dict/$target.dict" "$OUT/fuzz_$target.dict"
    [ "$target" != foreign ] || printf '[libfuzzer]\nmax_len = 65536\nclose_fd_mask = 3\n' >"$OUT/fuzz_$target.options"
done
