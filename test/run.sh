#!/bin/sh
# Runs one test program:  sh test/run.sh one BUILD NAME
# Sums up what ran:       sh test/run.sh sum BUILD NAME...
mode=$1
build=$2
shift 2
log_of() { echo "$build/test/$1.log"; }

if [ "$mode" = one ]; then
    log=$(log_of "$1")
    if "$build/test/$1" >"$log" 2>&1; then
        skipped=$(grep -c '^skipped: ' "$log")
        echo "ok      $1$([ "$skipped" -gt 0 ] && echo " ($skipped skipped)")"
        grep '^skipped: ' "$log" | sort -u
    else
        echo "FAILED  $1; it said:"
        cat "$log"
        echo "run.sh: failed" >>"$log"
    fi
    exit 0
fi

count() { for name in $names; do cat "$(log_of "$name")"; done | sed -n "s/.*\[  $1  \] \([0-9][0-9]*\) test.*/\1/p" | awk '{n += $1} END {print n + 0}'; }
names=$*
failed=$(for name in $names; do grep -l '^run.sh: failed' "$(log_of "$name")"; done | wc -l)
[ "$failed" -eq 0 ] || echo "programs that failed: $failed"
echo "$(count PASSED) passed, $(count FAILED) failed"
[ "$failed" -eq 0 ]
