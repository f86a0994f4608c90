#!/bin/sh
# Runs one test, a program of cmocka or the command given, and keeps what it says in BUILD/test/NAME.log; how
# long it took is told from five seconds on:
#     sh test/run.sh one BUILD NAME [COMMAND...]
# Sums up what ran, and says what was skipped, and left out (LEFT="NAME..."); fails when one of them has failed:
#     sh test/run.sh sum BUILD NAME...
# Before that, the tests of TIMED="NAME..." that failed beside others run again, alone: they compare times,
# which a busy machine spoils. A crash, or an error found by a sanitizer, is no matter of time.
# SESLITE_TEST_TIMES=FILE: a line for each test goes there, with its seconds, those of the processors (user
# and system), and its name.
set -eu
mode=$1
build=$2
shift 2
log_of() { echo "$build/test/$1.log"; }

# The files of tests are in memory, where there is enough of it, but for those that are about flushing to a
# disk and for those of PostgreSQL.
choose_folder() {
    case $1 in
    storage/*kills | storage/stress | storage/backup_flush) return ;;
    storage/open_durability | storage/open_media | postgres/*) return ;;
    esac
    [ -z "${TMPDIR:-}" ] && [ -d /dev/shm ] && [ -w /dev/shm ] || return 0
    free_kb=$(df -Pk /dev/shm | awk 'NR == 2 {print $4}')
    [ "${free_kb:-0}" -lt 1000000 ] || export TMPDIR=/dev/shm
}

timed() {
    if [ -n "${SESLITE_TEST_TIMES:-}" ]; then
        env time -a -o "$SESLITE_TEST_TIMES" -f "%e %U %S $name" "$@"
    else
        "$@"
    fi
}

one() {
    name=$1
    shift
    log=$(log_of "$name")
    mkdir -p "${log%/*}"
    [ $# -gt 0 ] || set -- "$build/test/$name"
    choose_folder "$name"
    begun=$(date +%s)
    if timed "$@" >"$log" 2>&1; then
        took=$(($(date +%s) - begun))
        skipped=$(grep -c '^skipped: ' "$log" || true)
        echo "ok      $name$([ "$skipped" -eq 0 ] || echo " ($skipped skipped)")$([ "$took" -lt 5 ] || echo " [$took s]")"
    else
        echo "FAILED  $name; it said:"
        grep -avE '^\[ (RUN  |      OK) ' "$log" || true # names the tests that passed
        echo "run.sh: failed" >>"$log"
    fi
}

# Each reason once, however many tests gave it.
reasons() {
    for name; do
        grep '^skipped: ' "$(log_of "$name")" || true
    done | sort -u
}

# The tests that passed and failed, as cmocka counts them. A script is one test, and so is what ended without
# a count.
again() {
    for name; do
        log=$(log_of "$name")
        case " ${TIMED:-} " in *" $name "*) ;; *) continue ;; esac
        if grep -q '^run.sh: failed$' "$log" && ! grep -qE 'with exception|Sanitizer|runtime error' "$log"; then
            echo "again   $name, which compares times, alone"
            one "$name" ${RUNNER:+$RUNNER "$build/test/$name"}
        fi
    done
}

sum() {
    again "$@"
    reasons "$@"
    [ -z "${LEFT:-}" ] || echo "skipped: $(echo "$LEFT" | wc -w) tests that take long, which make test-all runs"
    for name; do
        awk '
            match($0, /\[  PASSED  \] [0-9]+ test/) {passed += substr($0, RSTART + 13, RLENGTH - 18); counted = 1}
            match($0, /\[  FAILED  \] [0-9]+ test/) {failed += substr($0, RSTART + 13, RLENGTH - 18)}
            /^run.sh: failed$/ {broken = 1}
            END {
                if (broken && !failed)
                    failed = 1
                else if (!broken && !counted)
                    passed = 1
                print passed + 0, failed + 0, broken + 0
            }' "$(log_of "$name")"
    done | awk '
        {passed += $1; failed += $2; broken += $3}
        END {
            if (broken)
                print "programs that failed: " broken
            print passed + 0 " passed, " failed + 0 " failed"
            exit (broken > 0)
        }'
}

"$mode" "$@"
