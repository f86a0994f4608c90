#!/bin/sh
# Runs tools/fuzz/oss-fuzz/build.sh as OSS-Fuzz does, but with this system's libraries and what `make fuzz`
# has built in BUILD. Each target then starts from the folder of all that OSS-Fuzz takes, on the inputs that
# are packed for it.
#     sh test/oss_fuzz.sh BUILD          (CLANG)
set -eu
build=$1
folder=$PWD/$build/oss-fuzz
for program in bash zip unzip; do
    command -v "$program" >/dev/null || {
        echo "skipped: the targets as OSS-Fuzz builds them, for want of $program"
        exit 0
    }
done
[ -e "$build/fuzz_event" ] || {
    echo "skipped: the targets as OSS-Fuzz builds them, for want of them"
    exit 0
}

log=$folder/log
# run COMMAND...: shows what it said if it fails
run() { "$@" >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }; }

rm -rf "$folder"
mkdir -p "$folder/src" "$folder/out" "$folder/work"
ln -s "$PWD" "$folder/src/seslite"
run env SRC="$folder/src" OUT="$folder/out" WORK="$folder/work" FLAVOUR="${build##*/}" CC="${CLANG:-clang}" CFLAGS= \
    CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer bash tools/fuzz/oss-fuzz/build.sh
count=0
for program in "$build"/fuzz_*; do
    target=${program##*/}
    seeds=$folder/seeds/$target
    mkdir -p "$seeds"
    run unzip -q -d "$seeds" "$folder/out/${target}_seed_corpus.zip"
    set --
    [ ! -e "$folder/out/$target.dict" ] || set -- -dict="$folder/out/$target.dict"
    run "$folder/out/$target" -runs=0 -close_fd_mask=3 -artifact_prefix="$folder/" "$@" "$seeds"
    # It keeps those that reach something new.
    grep -aq 'INITED.* corp: [1-9]' "$log" || { tail -n 40 "$log"; exit 1; }
    count=$((count + 1))
done
echo "ok      oss-fuzz: $count targets"
