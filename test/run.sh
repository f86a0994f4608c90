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

# Those that compare times, once more.
again() {
    for name; do
        case " ${TIMED:-} " in *" $name "*) ;; *) continue ;; esac
        log=$(log_of "$name")
        if grep -q '^run.sh: failed$' "$log" && ! grep -qE 'with exception|Sanitizer|runtime error' "$log"; then
            echo "again   $name, which compares times, alone"
            one "$name" ${RUNNER:+$RUNNER "$build/test/$name"}
        fi
    done
}

# Each reason to skip something once, however many tests gave it; and the tests that passed and failed, as
# cmocka counts them. A script is one test, and so is what ended without a count.
sum() {
    again "$@"
    for name; do
        shift
        set -- "$@" "$build/test/$name.log"
    done
    grep -ah '^skipped: ' "$@" /dev/null | sort -u
    [ -z "${LEFT:-}" ] || echo "skipped: $(echo "$LEFT" | wc -w) tests that take long, which make test-all runs"
    awk '
        function look(path,    state, line, counted, failures, is_broken) {
            while ((state = (getline line < path)) > 0) {
                if (match(line, /\[  PASSED  \] [0-9]+ test/)) {
                    passed += substr(line, RSTART + 13, RLENGTH - 18)
                    counted = 1
                } else if (match(line, /\[  FAILED  \] [0-9]+ test/)) {
                    failures += substr(line, RSTART + 13, RLENGTH - 18)
                } else if (line == "run.sh: failed") {
                    is_broken = 1
                }
            }
            close(path)
            is_broken = is_broken || state < 0
            broken += is_broken
            failed += is_broken && !failures ? 1 : failures
            passed += !is_broken && !counted
        }
        BEGIN {
            for (i = 1; i < ARGC; i++)
                look(ARGV[i])
            if (broken)
                print "programs that failed: " broken
            print passed + 0 " passed, " failed + 0 " failed"
            exit (broken > 0)
        }' "$@"
}

"$mode" "$@"
