#!/bin/sh
# Makes inputs for the fuzz targets to begin with, besides those in test/fuzz/corpus: sessions and stores that
# the command writes in each of its formats, and recorded ones from the folder in SESLITE_TEST_DATA
# (../shared) where that is.
#     sh tools/fuzz/seeds.sh FOLDER COMMAND
set -eu
out=$1
command=$2
recorded=${SESLITE_TEST_DATA:-../shared}/data

rm -rf "$out"
mkdir -p "$out/import" "$out/session_json" "$out/foreign" "$out/server"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- a small store, in each format
"$command" -f "$work/store.db" import --skip --rename test/fuzz/corpus/import/* >/dev/null 2>&1 || true
for format in jsonl session vertex sqlite; do
    "$command" -f "$work/store.db" -a a -u u -s s export --to "$format" --output "$out/foreign/$format" >/dev/null 2>&1 || true
done
cp "$out/foreign/jsonl" "$out/import/exported"
cp "$out/foreign/session" "$out/session_json/exported"

# ---- recorded sessions and databases: a few rows of each, on small pages, so that an input is some kilobytes
shrink() {
    cp "$1" "$2"
    chmod u+w "$2"
    for table in $(sqlite3 "$2" "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"); do
        sqlite3 "$2" "DELETE FROM \"$table\" WHERE rowid NOT IN (SELECT rowid FROM \"$table\" ORDER BY length(quote(rowid)) LIMIT 3)"
    done
    sqlite3 "$2" "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM" >/dev/null
}
for database in "$recorded"/adk-stores/*.db; do
    [ ! -e "$database" ] || shrink "$database" "$out/foreign/$(basename "$database")" 2>/dev/null || true
done
for session in "$recorded"/adk-samples/*.json; do
    [ -e "$session" ] || continue
    head -c 60000 "$session" >"$out/session_json/$(basename "$session")"
    cp "$session" "$out/foreign/"
done

# ---- requests: each route of the server
request() {
    number=$((${number:-0} + 1))
    printf '%b' "$1" >"$out/server/$number"
}
session='/apps/agent/users/u/sessions'
for path in /health /version /list-apps /apps/agent/app-info "$session" "$session?limit=1" "$session/s" "$session/s/artifacts" \
    "$session/s/artifacts/a.txt" "$session/s/artifacts/a.txt/versions" "$session/s/artifacts/a.txt/versions/0/metadata" \
    "$session/s/events" /apps/agent/users/u/events /apps/agent/state /apps/agent/users/u/state "$session?label=l&value=v&token=x"; do
    request "GET $path\n\n"
done
request "POST $session\n\n"'{"sessionId":"s","state":{"k":1,"user:u":"v"},"events":[{"author":"user","content":{"parts":[{"text":"hi"}]}}]}'
request "POST $session/s\n\n"'{"k":[1.5,null,"\\u00e9"]}'
request "PATCH $session/s\n\n"'{"stateDelta":{"k":null,"app:a":2}}'
request "DELETE $session/s\n\n"
request "DELETE /apps/agent/users/u\n\n"
request "PUT $session/s/labels/l\n\n"'"v"'
request "DELETE $session/s/labels/l\n\n"
request "PATCH /apps/agent/users/u/state\n\n"'{"k":1}'
request "PATCH /apps/agent/users/u/memory\n\n"'{"session_id":"s"}'
request "POST $session/s/messages\nIdempotency-Key: one\n\n"'{"text":"hello"}'
turn='{"appName":"agent","userId":"u","sessionId":"s","newMessage":{"role":"user","parts":[{"text":"what time is it?"}]},"streaming":true,"stateDelta":{"k":1}}'
request "POST /run\nContent-Type: application/json\n\n$turn"
request "POST /run_sse\nIdempotency-Key: two\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n\n$turn"
request "POST $session/s/artifacts\n\n"'{"filename":"a.txt","artifact":{"inlineData":{"mimeType":"text/plain","data":"YWJj"}},"customMetadata":{"k":1}}'
request "DELETE $session/s/artifacts/a.txt\n\n"
request "OPTIONS $session\nOrigin: http://localhost\nAccess-Control-Request-Method: POST\n\n"
request "HEAD /health\nLast-Event-ID: 1\n\n"
echo "seeds: $(find "$out" -type f | wc -l) inputs in $out"
