#!/bin/sh
# Stores a conversation in one process, reads it in another, and shows the file with the seslite command and
# the sqlite3 program: one screen. With FULL=1 much more, and a small agent with a scripted model runs.
#     sh tools/demo.sh DEMO-PROGRAM FILE AGENT-PROGRAM COMMAND      (FULL)
set -eu
demo=$1
file=$2
agent=$3
command=$4

say() { printf '\n== %s\n\n' "$1"; }
show() { printf '   sqlite3 %s "%s"\n\n' "$file" "$1"; sqlite3 -box "$file" "$1"; echo; }
# run ARGUMENT...: shows the command line, and runs it
run() { echo "   seslite -f $file $*"; echo; "$command" -f "$file" "$@"; echo; }

rm -f "$file" "$file-wal" "$file-shm" "$file-journal"

say "1. A process stores a conversation: two turns, a tool call, state in all four scopes"
"$demo" write "$file"

say "2. The same file in the sqlite3 program: a readable transcript"
show "SELECT seq, substr(time, 1, 19) AS time, author, coalesce(text, calls, responses, changes) AS what FROM transcript"

if [ -z "${FULL:-}" ]; then
    echo "   The file is kept: sqlite3 $file; $command -f $file show"
    echo "   For all that the store and the command can do: make demo FULL=1"
    exit
fi

say "3. Another process opens the file. Note: all scopes merged, exact numbers, no temp: key"
"$demo" read "$file"

say "4. State: one row per key, one table per scope, and all of it merged"
show "SELECT key, value, seq FROM app_state"
show "SELECT key, value, seq FROM user_state"
show "SELECT key, value, seq FROM session_state"
show "SELECT key, value FROM merged_state"

say "5. Sessions with their counts, and no temp: key anywhere in the file"
show "SELECT * FROM session_overview"
show "SELECT count(*) AS events_that_mention_temp FROM events WHERE body LIKE '%temp:%'"

say "6. An agent at work (tools/agent.c): state in the instructions, temp: gone with its invocation"
rm -f "$file-agent" "$file-agent-wal" "$file-agent-shm"
"$agent" "$file-agent"
echo
file=$file-agent
show "SELECT seq, author, coalesce(text, calls, responses, changes) AS what FROM transcript"
say "7. The seslite command: a transcript, the state at a point, a turn undone, a copy to experiment with, a page"
file=${file%-agent}
run list
run show
run search coat
run state reply_count
run state reply_count --at last-turn
run fork --at last-turn --as another-try
run -s trip-to-oslo rewind
run -s trip-to-oslo state reply_count
run redo trip-to-oslo
run delete another-try --dry-run
run html trip-to-oslo -o "$file.html" --replace

say "8. Export and import: JSON lines, a google-adk database; then a backup and a check"
run export -o "$file.jsonl" --replace
run export --to sqlite -o "$file.adk" --replace
run import "$file.adk" --to-user bob
run backup "$file.backup" --replace
run check
echo "   For everything else, run: seslite help"
echo
file=$file-agent
echo "Both files are kept: sqlite3 ${file%-agent}; sqlite3 $file"
