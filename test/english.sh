#!/bin/sh
# The comments and documents of each folder have few headless sentences, and few lines are wider than 110
# columns: english.awk says what counts. Run from the top of the repository.
#     sh test/english.sh          (AWK)
set -eu
awk=${AWK:-awk}

# FOLDER, the headless sentences that it may have in 1,000 lines of comments, and its wide lines. They only
# become fewer.
limits='
. 1 0
include 1 0
lib 1 0
lib/agent 1 0
lib/artifact 1 0
lib/base 1 0
lib/cjson 1 0
lib/erase 1 0
lib/json 1 0
lib/model 0 2
lib/search 1 0
lib/session 0 0
lib/storage 0 0
lib/usage 1 0
sql 1 60
test 1 31
tools 1 31
'

look() {
    LC_ALL=C $awk -f test/english.awk "$@"
}

# The check finds each kind of sentence, and no other.
test_the_check() {
    folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-english-XXXXXX")
    trap 'rm -rf "$folder"' EXIT
    cat >"$folder/a.c" <<'END'
/* What is stored. */
static int a; /* Of a session. Its owner. */
/*
 * Reads what is stored. Who reads it waits.
 *
 *  - Whatever it is.
 *  - Is it there?
 */
const char *b = "/* What is no comment. */"; // So many bytes.
END
    cat >"$folder/b.sh" <<'END'
#!/bin/sh
# Prints the sum. The same of
# a table.
echo "# What is no comment" # in vain
END
    printf -- '-- Of an index.\nSELECT 1;\n' >"$folder/c.sql"
    printf '# What it is\n\nWhat it does. Why?\n\n| What | Of |\n' >"$folder/d.md"
    printf 'echo %0120d\n' 0 >"$folder/e.sh"
    found=$(look "$folder"/* | sort)
    [ "${found#* }" = '17 10 1' ] || {
        echo "english: expected 17 lines, 10 headless sentences and 1 wide line, but found: $found"
        return 1
    }
}

git ls-files --error-unmatch README.md >/dev/null 2>&1 || {
    echo "skipped: english, since this is not a clone"
    exit 0
}
test_the_check >&2
# shellcheck disable=SC2046 # paths have no spaces
found=$(look $(git ls-files '*.[ch]' '*.h.in' '*.sql' '*.sh' '*.awk' '*.md' \
    ':!CHANGELOG.md' ':!test/fixtures' ':!sql/sqlite/schema.sql'))
printf '%s\n' "$limits" "-" "$found" | $awk '
    /^$/ {next}
    /^-$/ {counts = 1; next}
    !counts {headless[$1] = $2; wide[$1] = $3; next}
    $3 * 1000 > headless[$1] * $2 {
        print "english: " $1 ": " $3 " headless sentences in " $2 " lines of comments"
        bad = 1
    }
    $4 > wide[$1] + 0 {print "english: " $1 ": " $4 " lines are wider than 110 columns"; bad = 1}
    END {exit bad}' >&2 || {
    echo "english: LC_ALL=C awk -v all=1 -f test/english.awk FILE... prints them" >&2
    exit 1
}
echo "ok      english"
