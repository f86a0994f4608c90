#!/bin/sh
# tools/embed_server.awk replaces the calls of macros, and refuses those that it cannot replace. What
# tools/embed_scripts.awk packs has all characters of the schema and the scripts.
#     sh test/embed.sh BUILD        (AWK)
set -eu
folder=$1/test/embed
mkdir -p "$folder"
printf '%s\n' '-- name: one' 'SELECT 1;' >"$folder/sqlite.sql"

# embed LINE...: the text of a statement that consists of the last line, after the other lines
embed() {
    while [ $# -gt 1 ]; do
        printf '%s\n' "$1"
        shift
    done >"$folder/postgres.sql"
    printf '%s\n' '' '-- name: one' "$1" >>"$folder/postgres.sql"
    : >"$folder/0001.sql"
    ${AWK:-awk} -f tools/embed_server.awk -v engine=postgres -v mode=text "$folder/sqlite.sql" "$folder/postgres.sql" "$folder/0001.sql" \
        >"$folder/sql.c" 2>"$folder/error" || {
        sed 's/.*: line/line/' "$folder/error"
        return 0
    }
    sed -n '/{$/,/^ *NULL/ s/^        "\(.*\)\\n",*$/\1/p' "$folder/sql.c"
}

# expect TEXT LINE...: these lines give this text, or this error
expect() {
    expected=$1
    shift
    found=$(embed "$@")
    [ "$found" = "$expected" ] || {
        printf '%s\n' "embed: expected $expected" "embed: but got  $found"
        exit 1
    } >&2
}

low='-- macro: LOW(number) = (number & 7)'
sum='-- macro: SUM(a, b) = a + b'

expect 'SELECT 1' 'SELECT 1;'
expect 'SELECT ($1 & 7), max(x) FROM t' "$low" 'SELECT LOW($1), max(x) FROM t;'
expect "SELECT f(1, 2) + '),'" "$sum" "SELECT SUM(f(1, 2), '),');"
expect 'SELECT (x + (y & 7) & 7)' "$low" "$sum" 'SELECT LOW(SUM(x, LOW(y)));'
expect 'SELECT (z & 7) + 1' "$low" '-- macro: UP(number) = LOW(number) + 1' 'SELECT UP(z);'
expect 'SELECT id, s.name' '-- macro: NAMES() = id,' '--     s.name' 'SELECT NAMES();'
expect "SELECT app.id, 'app' FROM s.app, kinds" "-- macro: OF(kind) = kind.id, 'kind' FROM s.kind, kinds" 'SELECT OF(app);'
expect 'SELECT b + a' "$sum" 'SELECT SUM(b, a);'
expect 'SELECT \"\\x01\" || \"&\"' '-- macro: MARKED(text) = "\x01" || text' 'SELECT MARKED("&");'

expect 'line 3: there is no macro LOW' 'SELECT LOW(1);'
expect 'line 4: LOW takes 1 arguments, not 2' "$low" 'SELECT LOW(1, 2);'
expect 'line 4: LOW takes 1 arguments, not 0' "$low" 'SELECT LOW();'
expect 'line 4: SUM takes 2 arguments, not 1' "$sum" 'SELECT SUM((1, 2));'
expect 'line 4: the call of LOW is not closed' "$low" 'SELECT LOW((1);'
expect 'line 2: the macro LOW is there twice' "$low" "$low" 'SELECT 1;'
expect 'line 1: there is no macro LOW' '-- macro: UP(number) = LOW(number) + 1' "$low" 'SELECT 1;'
expect 'line 2: there is no macro UP' '-- macro: UP(number) =' '--     UP(number) + 1' 'SELECT 1;'
expect 'line 1: a macro is defined as NAME(parameter, ...) = TEXT' '-- macro: LOW = 7' 'SELECT 1;'
# A statement of MySQL that is prepared has a text for that, and one that names its parameters.
prepared() {
    printf '%s\n' '-- name: one' '-- prepared: in a test' "$@" >"$folder/mysql.sql"
    ${AWK:-awk} -f tools/embed_server.awk -v engine=mysql -v mode=text "$folder/sqlite.sql" "$folder/mysql.sql" "$folder/0001.sql" 2>&1 |
        sed -n -e 's/.*mysql.sql: //p' -e '/"PREPARE/ { N; s/.*"PREPARE/PREPARE/; s/\n *//p; }'
}
[ "$(prepared "SELECT \$2, \$1@ses_a, 'x', \$2;")" = "PREPARE ses_one FROM '\"\"SELECT ?, ?, ''x'', ?\\n\" \"'\", \"EXECUTE ses_one USING \$2,\$1@ses_a,\$2\", \"one\"}," ]
[ "$(prepared 'SELECT 1;' 'SELECT 2;')" = 'the statement one is several, which cannot be prepared as one' ]
[ "$(prepared "SELECT '\\';")" = 'line 3: a prepared statement has no backslashes' ]
# Runs that are longer than 131 characters, overlap, or were there too long ago.
awk 'BEGIN {
    for (i = 0; i < 300; i++)
        a = a "a"
    print a "\n(first)"
    for (i = 0; i < 12000; i++)
        print i * 7919 % 100003
    print "(first)" a
}' >"$folder/0001_one.sql"
printf '%s\n' '-- a comment' '' 'SELECT "\x";' >"$folder/0002_two.sql"
printf '%s\n' '-- a comment' '' '-- table one' 'CREATE TABLE one (' '    x -- (first)' ');' '' '-- index two' \
    'CREATE INDEX two ON one (x);' >"$folder/schema.sql"
${AWK:-awk} -f tools/embed_scripts.awk "$folder"/schema.sql "$folder"/0001_one.sql "$folder"/0002_two.sql >"$folder/scripts.c"
sed -n '/packed_scripts\[\]/,/^};/ s/^    //p' "$folder/scripts.c" | tr -d ' \n' | tr ',' '\n' | awk '
    function put(character) {
        text[++len] = character
        printf "%s", character
    }
    left == 1 {left = 0; for (from = len - (far * 256 + $1); run > 0; run--) put(text[++from]); next}
    left == 2 {left = 1; far = $1; next}
    $1 > 127 {left = 2; run = $1 - 124; next}
    {put($1 == 0 ? "|" : sprintf("%c", $1 + 0))}' >"$folder/unpacked"
{
    printf 'table|one|CREATE TABLE one (\n    x -- (first)\n)|index|two|CREATE INDEX two ON one (x)|'
    cat "$folder/0001_one.sql"
    printf '|SELECT "\\x";\n|'
} | cmp - "$folder/unpacked"
printf 'ä\n' >"$folder/0001_one.sql"
if ${AWK:-awk} -f tools/embed_scripts.awk "$folder/schema.sql" "$folder/0001_one.sql" >/dev/null 2>&1; then
    echo "embed: a script that is not ASCII is packed"
    exit 1
fi
echo "ok      embed"
