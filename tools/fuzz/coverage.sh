#!/bin/sh
# Runs the inputs of each fuzz target through a build that counts, and prints the lines and branches of the library, the command
# and the server that they reach, for each target and for all together; then by folder.
#     sh tools/fuzz/coverage.sh BUILD CORPUS SEEDS TARGET...
set -eu
build=$1
corpus=$2
seeds=$3
shift 3

# The tools of the clang that has built it: on Debian with the version in their names.
version=$(clang -dumpversion | cut -d . -f 1)
tool() { command -v "$1-$version" || command -v "$1"; }
cov=$(tool llvm-cov) && profdata=$(tool llvm-profdata) || {
    echo "skipped: the coverage of the fuzz targets, for want of llvm-cov and llvm-profdata"
    exit 0
}

# summary PROFILE PROGRAM...: "lines of all, branches of all", for what is ours; test/ is not counted
summary() {
    profile=$1
    shift
    objects=$1
    shift
    for program; do
        objects="$objects -object $program"
    done
    # shellcheck disable=SC2086 # words are meant to be split
    "$cov" report -instr-profile="$profile" -ignore-filename-regex='test/|build/' $objects 2>/dev/null
}

programs=
profiles=
for target; do
    program=$build/fuzz_$target
    folders=
    for folder in "$corpus/$target" "test/fuzz/corpus/$target" "$seeds/$target"; do
        [ ! -d "$folder" ] || folders="$folders $folder"
    done
    # shellcheck disable=SC2086 # words are meant to be split
    LLVM_PROFILE_FILE=$build/$target.raw "$program" -runs=0 -max_len=65536 -close_fd_mask=3 $folders >"$build/$target.log" 2>&1 || {
        tail -20 "$build/$target.log"
        exit 1
    }
    "$profdata" merge -o "$build/$target.profile" "$build/$target.raw"
    summary "$build/$target.profile" "$program" | awk -v name="$target" '$1 == "TOTAL" {
        printf "%-14s reaches %5d lines and %5d branches\n", name, $8 - $9, $11 - $12
    }'
    programs="$programs $program"
    profiles="$profiles $build/$target.profile"
done
# shellcheck disable=SC2086 # words are meant to be split
"$profdata" merge -o "$build/all.profile" $profiles
# shellcheck disable=SC2086 # words are meant to be split
summary "$build/all.profile" $programs >"$build/coverage.txt"
awk '/^[a-z].*\.[ch] / {
        folder = $1
        sub(/\/[^\/]*$/, "", folder)
        lines[folder] += $8; missed[folder] += $9; branches[folder] += $11; untaken[folder] += $12
    }
    function line(name, l, m, b, u) {
        printf "%-28s %6d lines, %5.1f %% reached; %6d branches, %5.1f %%\n", name, l, l ? 100 * (l - m) / l : 0, b, b ? 100 * (b - u) / b : 0
    }
    $1 == "TOTAL" {all = $8; all_missed = $9; of = $11; of_untaken = $12}
    END {
        for (folder in lines)
            line(folder, lines[folder], missed[folder], branches[folder], untaken[folder]) | "sort"
        close("sort")
        line("all", all, all_missed, of, of_untaken)
    }' "$build/coverage.txt"
