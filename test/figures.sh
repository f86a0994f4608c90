#!/bin/sh
# Compares the figures that test/README.md has for each run of CI with what was measured last: by the logs of
# tests and the coverage below each BUILD, of which the best counts. Fails if the page says more than was
# measured.
#     sh test/figures.sh BUILD...
set -eu

# The sum of what the tests have said of one figure: see support_figure.
sum_of() {
    find "$1/test" -name '*.log' -exec cat {} + 2>/dev/null | awk -v name="$2" '$1 == "figure" && $2 == name {sum += $3} END {print sum + 0}'
}

tests_of() {
    find "$1/test" -name '*.log' -exec cat {} + 2>/dev/null | awk '
        match($0, /\[  PASSED  \] [0-9]+ test/) {passed += substr($0, RSTART + 13, RLENGTH - 18)}
        END {print passed + 0}'
}

# The line of gcovr for all files together, if it has been made: "line_percent": 97.1
coverage_of() {
    sed -n 's/"files": \[.*\]//; s/.*"'"$2"'_percent": *\([0-9.]*\).*/\1/p' "$1/coverage.json" 2>/dev/null || true
}

measure() {
    case $2 in
    tests) tests_of "$1" ;;
    lines) coverage_of "$1" line ;;
    branches) coverage_of "$1" branch ;;
    *) sum_of "$1" "$2" ;;
    esac
}

best_of() {
    name=$1
    shift
    for build; do
        measure "$build" "$name"
    done | sort -g | tail -1
}

# Rows begin with the name of the figure in backquotes, and what CI makes at least.
failed=0
while read -r name written; do
    measured=$(best_of "$name" "$@")
    if [ -z "$measured" ] || [ "$measured" = 0 ]; then
        echo "skipped: figure $name, which was not measured"
    elif awk -v a="$written" -v b="$measured" 'BEGIN {exit !(a > b)}'; then
        echo "FAILED  figure $name: test/README.md says $written, and $measured were measured"
        failed=1
    else
        echo "ok      figure $name: $measured, at least $written"
    fi
done <<END
$(awk -F '|' '/^\| `[a-z-]+` \|/ {gsub(/[` ,%]/, "", $2); gsub(/[ ,%]/, "", $3); print $2, $3}' test/README.md)
END
exit "$failed"
