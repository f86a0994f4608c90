#!/bin/sh
# Runs the test programs one after the other and sums up: sh test/run.sh BUILD PROGRAM...
build=$1
shift
failed=0
for program in "$@"; do
    log=$build/test/$(basename "$program").log
    if "$program" >"$log" 2>&1; then
        skipped=$(grep -c '^skipped: ' "$log")
        echo "ok      $(basename "$program")$([ "$skipped" -gt 0 ] && echo " ($skipped skipped)")"
        grep '^skipped: ' "$log" | sort -u
    else
        failed=$((failed + 1))
        echo "FAILED  $(basename "$program"); it said:"
        cat "$log"
    fi
done
count() { cat "$build"/test/*.log | sed -n "s/.*\[  $1  \] \([0-9][0-9]*\) test.*/\1/p" | awk '{n += $1} END {print n + 0}'; }
echo "$(count PASSED) passed, $(count FAILED) failed"
[ "$failed" -eq 0 ]
