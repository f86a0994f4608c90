#!/bin/sh
# Runs the inputs of each fuzz target through a build that counts, and prints how many lines of the library,
# the command and the server they reach: for each target, with its shares of lib/ and of the files that read
# its inputs; then by folder, and in all.
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

# Where the inputs of a target are read: the beginning of the names of these files.
reader_of() {
    case $1 in
    content) echo lib/agent/content ;;
    event) echo lib/model/event/event.c ;;
    foreign) echo tools/formats/ ;;
    import) echo lib/session/transfer/import ;;
    pickle) echo tools/formats/pickle/ ;;
    redact) echo lib/erase/ ;;
    render) echo lib/agent/template ;;
    server) echo tools/server/ ;;
    session_json) echo lib/session/transfer/load_json.c ;;
    store) echo lib/storage/ ;;
    tokens) echo lib/session/token.c ;;
    *) echo lib/ ;;
    esac
}

# summary PROFILE PROGRAM...: the lines and branches of each file of ours; test/ is not counted
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
    summary "$build/$target.profile" "$program" >"$build/$target.coverage"
    programs="$programs $program"
    profiles="$profiles $build/$target.profile"
done
# shellcheck disable=SC2086 # words are meant to be split
"$profdata" merge -o "$build/all.profile" $profiles
# shellcheck disable=SC2086 # words are meant to be split
summary "$build/all.profile" $programs >"$build/coverage.txt"
for target; do
    awk -v target="$target" -v reader="$(reader_of "$target")" '
        FNR == NR {all += /^lib\// ? $8 : 0; next}
        /^lib\// {reached += $8 - $9}
        index($1, reader) == 1 {lines += $8; missed += $9}
        $1 == "TOTAL" {total = $8 - $9}
        END {
            printf "%-14s %6d lines, %5.1f %% of lib/, %5.1f %% of %s\n", target, total, 100 * reached / all, \
                lines ? 100 * (lines - missed) / lines : 0, reader
        }' "$build/coverage.txt" "$build/$target.coverage"
done
awk '/^[a-z].*\.[ch] / {
        folder = $1
        sub(/\/[^\/]*$/, "", folder)
        add(folder)
        add(substr(folder, 1, 4) == "lib/" ? "all of lib" : "all of tools")
    }
    function add(name) {
        lines[name] += $8; missed[name] += $9; branches[name] += $11; untaken[name] += $12
    }
    function share(left, of) {return of ? 100 * (of - left) / of : 0}
    END {
        for (name in lines)
            if (lines[name] > 0)
                printf "%-34s %6d lines, %5.1f %% reached; %6d branches, %5.1f %%\n", name, lines[name], \
                    share(missed[name], lines[name]), branches[name], share(untaken[name], branches[name]) | "sort"
    }' "$build/coverage.txt"
