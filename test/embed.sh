#!/bin/sh
# tools/book.awk makes the book of each engine from the statements that engines share and from its own. It
# replaces the calls of macros, and refuses those that it cannot replace. tools/embed_server.awk prepares
# statements. The text that tools/embed_scripts.awk packs has all characters of the schema and the scripts.
#     sh test/embed.sh BUILD        (AWK)
set -eu
folder=$1/test/embed
mkdir -p "$folder"
echo '-- nothing' >"$folder/none.sql"

# book ENGINE SHARED OWN: the statements of these two books, or the error
book() {
    ${AWK:-awk} -f tools/book.awk -v "engine=$1" "$2" "$3" 2>&1 |
        sed -e 's/.*: line/line/' -e '/^$/d' -e '/^-- name/d'
}

# is TEXT EXPECTED
is() {
    [ "$1" = "$2" ] || {
        printf '%s\n' "embed: expected $2" "embed: but got  $1"
        exit 1
    } >&2
}

# expect TEXT LINE...: a statement of the last line, after the other lines, has this text, or this error
expect() {
    expected=$1
    shift
    while [ $# -gt 1 ]; do
        printf '%s\n' "$1"
        shift
    done >"$folder/own.sql"
    printf '%s\n' '' '-- name: one' "$1" >>"$folder/own.sql"
    is "$(book postgres "$folder/none.sql" "$folder/own.sql" | sed 's/;$//')" "$expected"
}

# each LINE SQLITE POSTGRES MYSQL: a line that is shared has these texts
each() {
    printf '%s\n' '-- name: one' "$1" >"$folder/shared.sql"
    is "$(book sqlite "$folder/shared.sql" "$folder/none.sql")" "$2"
    is "$(book postgres "$folder/shared.sql" "$folder/none.sql")" "$3"
    is "$(book mysql "$folder/shared.sql" "$folder/none.sql")" "$4"
}

each 'SELECT key, monkey, a.key FROM apps AS a JOIN us WHERE x = $12::bigint AND y = $3::text;' \
    'SELECT key, monkey, a.key FROM apps AS a JOIN us WHERE x = ?12 AND y = ?3;' \
    'SELECT key, monkey, a.key FROM seslite.apps AS a JOIN seslite.us WHERE x = $12::bigint AND y = $3::text;' \
    'SELECT `key`, monkey, a.`key` FROM seslite_apps AS a JOIN seslite_us WHERE x = $12 AND y = $3;'
each 'UPDATE apps SET a = b IS DISTINCT FROM b.c, d = (SELECT 1 FROM (SELECT 2)), e = f(g FROM h());' \
    'UPDATE apps SET a = b IS DISTINCT FROM b.c, d = (SELECT 1 FROM (SELECT 2)), e = f(g FROM h());' \
    'UPDATE seslite.apps SET a = b IS DISTINCT FROM b.c, d = (SELECT 1 FROM (SELECT 2)), e = f(g FROM h());' \
    'UPDATE seslite_apps SET a = b IS DISTINCT FROM b.c, d = (SELECT 1 FROM (SELECT 2)), e = f(g FROM h());'
each 'DELETE FROM t WHERE shard = $1 AND session_id = $1 AND +session_id = $1;' \
    'DELETE FROM t WHERE shard = ?1 AND session_id = ?1 AND +session_id = ?1;' \
    'DELETE FROM seslite.t WHERE shard = $1 AND session_id = $1;' \
    'DELETE FROM seslite_t WHERE shard = $1 AND session_id = $1;'
each 'SELECT greatest(a, $1) FROM t;' 'SELECT max(a, ?1) FROM t;' 'SELECT greatest(a, $1) FROM seslite.t;' \
    'SELECT greatest(a, $1) FROM seslite_t;'
each 'SELECT 1 FROM t AS a INDEXED BY t_by_x JOIN u ON u.shard = a.shard AND u.x = a.x;' \
    'SELECT 1 FROM t AS a INDEXED BY t_by_x JOIN u ON u.x = a.x;' \
    'SELECT 1 FROM seslite.t AS a JOIN seslite.u ON u.shard = a.shard AND u.x = a.x;' \
    'SELECT 1 FROM seslite_t AS a JOIN seslite_u ON u.x = a.x;'
each 'ON CONFLICT (shard, a, b) DO UPDATE SET a = excluded.a, b = excluded.b;' \
    'ON CONFLICT DO UPDATE SET a = excluded.a, b = excluded.b;' \
    'ON CONFLICT (shard, a, b) DO UPDATE SET a = excluded.a, b = excluded.b;' \
    'ON DUPLICATE KEY UPDATE a = values(a), b = values(b);'

# Shards of numbers that a macro of the engine finds, macros that are shared, and statements of two engines.
cat >"$folder/shared.sql" <<'END'
-- macro: TWO(row) = row.a,
--     row.b FROM t AS row
-- name: one
-- locks: FOR UPDATE
-- prepared: here
SELECT TWO(x) WHERE x.shard = SHARD(THE($1)) AND x.a = THE($1);
-- name: two
-- only: sqlite mysql
INSERT INTO t (shard, a) VALUES (SHARD($1), $1);
-- name: three
-- only: postgres mysql
-- locks: FOR SHARE
SELECT 3;
END
printf '%s\n' '-- macro: THE(id) = +id' '-- name: three' 'SELECT ?1;' >"$folder/sqlite.sql"
printf '%s\n' '-- macro: THE(id) = found(id)' '-- macro: SHARD(id) = id % 8' '-- own: four why' \
    '-- name: two' "SELECT '-- name', \$2 FROM t;" >"$folder/postgres.sql"
printf '%s\n' '-- macro: THE(id) = id@the' >"$folder/mysql.sql"
is "$(book sqlite "$folder/shared.sql" "$folder/sqlite.sql")" "SELECT x.a, x.b FROM t AS x WHERE x.a = +?1;
INSERT INTO t (a) VALUES (?1);
SELECT ?1;"
is "$(book postgres "$folder/shared.sql" "$folder/postgres.sql")" "-- own: four why
-- locks: FOR UPDATE
SELECT x.a, x.b FROM seslite.t AS x WHERE x.shard = found(\$1) % 8 AND x.a = found(\$1);
-- locks: FOR SHARE
SELECT 3;
SELECT '-- name', \$2 FROM t;"
is "$(book mysql "$folder/shared.sql" "$folder/mysql.sql")" "-- locks: FOR UPDATE
-- prepared: here
SELECT x.a, x.b FROM seslite_t AS x WHERE x.a = \$1@the;
INSERT INTO seslite_t (a) VALUES (\$1);
-- locks: FOR SHARE
SELECT 3;"
printf '%s\n' '-- name: one' 'SELECT 1;' >>"$folder/mysql.sql"
is "$(book mysql "$folder/shared.sql" "$folder/mysql.sql")" 'line 2: the statement one is there twice'

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
expect 'SELECT "\x01" || "&"' '-- macro: MARKED(text) = "\x01" || text' 'SELECT MARKED("&");'

expect 'line 3: there is no macro LOW' 'SELECT LOW(1);'
expect 'line 4: LOW takes 1 arguments, not 2' "$low" 'SELECT LOW(1, 2);'
expect 'line 4: LOW takes 1 arguments, not 0' "$low" 'SELECT LOW();'
expect 'line 4: SUM takes 2 arguments, not 1' "$sum" 'SELECT SUM((1, 2));'
expect 'line 4: the call of LOW is not closed' "$low" 'SELECT LOW((1);'
expect 'line 2: the macro LOW is there twice' "$low" "$low" 'SELECT 1;'
expect 'line 1: there is no macro LOW' '-- macro: UP(number) = LOW(number) + 1' "$low" 'SELECT 1;'
expect 'line 2: there is no macro UP' '-- macro: UP(number) =' '--     UP(number) + 1' 'SELECT 1;'
expect 'line 1: a macro is defined as NAME(parameter, ...) = TEXT' '-- macro: LOW = 7' 'SELECT 1;'

printf '%s\n' '-- name: one' 'SELECT 1;' >"$folder/sqlite.sql"
: >"$folder/0001.sql"
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
    'CREATE INDEX two ON one (x);' '' '-- the views, the rows' 'CREATE VIEW v AS SELECT 1;' >"$folder/schema.sql"
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
    printf 'table|one|CREATE TABLE one (\n    x -- (first)\n)|index|two|CREATE INDEX two ON one (x)|CREATE VIEW v AS SELECT 1;\n|'
    cat "$folder/0001_one.sql"
    printf '|SELECT "\\x";\n|'
} | cmp - "$folder/unpacked"
printf 'ä\n' >"$folder/0001_one.sql"
if ${AWK:-awk} -f tools/embed_scripts.awk "$folder/schema.sql" "$folder/0001_one.sql" >/dev/null 2>&1; then
    echo "embed: a script that is not ASCII is packed"
    exit 1
fi
echo "ok      embed"
