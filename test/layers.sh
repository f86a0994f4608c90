#!/bin/sh
# Rooms are floors: a folder of lib/ includes only what stands below it. And no files form a circle, in lib/
# or in tools/bench/, tools/formats/, tools/seslite/ and tools/server/, whose objects are given in OBJECTS,
# BENCH_OBJECTS, FORMAT_OBJECTS, COMMAND_OBJECTS and SERVER_OBJECTS. The command has rooms, too, and stands on
# public calls and on the headers of tools/formats alone. The formats, files of other programs, know SQLite;
# and of the library the strict JSON reader that keeps each byte, what that stands on, and the table of the
# ADK's fields, since a second one of either would differ in what it accepts. Run from the top of the
# repository.
set -eu

# Each room, and what its files may include: rooms, and single headers of a room.
models='model model/adk model/event model/state model/usage model/words json base base/sha256'
sql='storage/sql storage'
rooms="
base            base
base/sha256     base/sha256 base
json            json base
model/adk       model/adk json base
model/state     model/state json base
model/words     model/words json base
model/event     model/event model/state json base
model/usage     model/usage model/event model/state json base
model           $models
storage         storage $models
storage/sql     $sql $models
storage/sql/derived   storage/sql/derived $sql $models
storage/sql/rows      storage/sql/rows storage/sql/derived $sql $models
storage/sql/session   storage/sql/session storage/sql/rows $sql $models
storage/sql/transfer  storage/sql/transfer storage/sql/session storage/sql/rows $sql $models
storage/sql/usage     storage/sql/usage storage/sql/derived storage/sql/rows $sql $models
storage/sql/upkeep    storage/sql/upkeep storage/sql/usage storage/sql/derived storage/sql/session storage/sql/rows $sql $models
storage/sqlite/connection  storage/sqlite/connection $sql $models
storage/sqlite  storage/sqlite storage/sqlite/connection storage/sql/upkeep storage/sql/derived storage/sql/rows $sql $models
storage/sqlite/backup  storage/sqlite/backup storage/sqlite storage/sqlite/connection $sql $models
storage/sqlite/wal     storage/sqlite/wal storage/sqlite storage/sqlite/connection $sql $models
storage/server  storage/server storage/sql/upkeep storage/sql/session storage/sql/rows $sql $models
storage/postgres/connection  storage/postgres/connection storage/server storage/sql/rows $sql $models
storage/postgres  storage/postgres storage/postgres/connection storage/server storage/sql/upkeep storage/sql/session storage/sql/rows $sql $models
storage/mysql/connection  storage/mysql/connection storage/server storage/sql/rows $sql $models
storage/mysql  storage/mysql storage/mysql/connection storage/server storage/sql/upkeep storage/sql/session storage/sql/rows $sql $models
session         session storage $models
session/follow  session/follow session storage $models
session/read    session/read session storage $models
session/transfer  session/transfer session storage $models
inbox           inbox session/sql session storage/sql/rows storage/sql storage $models
draft           draft session storage/sql/rows storage/sql storage $models
artifact        artifact session storage/sql/rows storage/sql storage $models
erase/find      erase/find session/read session storage/sql/rows storage/sql storage $models
erase           erase session storage/sql/session storage/sql/rows storage/sql storage $models
usage           usage session/read session/sql session storage/sql/usage storage/sql/derived storage/sql/rows storage/sql storage $models
session/sql     session/sql session/read session storage/sql/session storage/sql/derived storage/sql/rows storage/sql storage $models
session/sql/history  session/sql/history session storage/sql/session storage/sql/rows storage/sql storage $models
session/sqlite  session/sqlite session storage/sqlite/connection storage $models
session/server  session/server session storage/server storage $models
session/postgres  session/server session storage/postgres/connection storage $models
session/mysql   session/server session storage/mysql/connection storage $models
agent           agent session/append_extras.h session/handle.h $models
agent/context   agent/context agent artifact/begun.h session/append_extras.h session/handle.h $models
memory          memory search session session/read session/transfer storage $models
search          search session/read session/sql session storage/sql/derived storage/sql/rows storage/sql storage $models
cjson           cjson json base
"
# The rooms of the formats.
floor='formats/text.h formats/bytes.h json base'
reading="formats/formats.h formats/times.h formats/json $floor"
format_rooms="
json            formats/json $floor
pickle          formats/pickle $floor
database        formats/database $reading
read            formats/read formats/database formats/pickle $reading model/adk
load            formats/load formats/database $reading
write           formats/write formats/write.h formats/json $floor model/adk
artifacts       formats/artifacts formats/write formats/write.h $reading base/sha256
.               formats formats/read/table.h formats/database $reading
"
# The rooms of the command, and single headers of its top.
said='output files text command.h formats/text.h'
held="store $said"
command_rooms="
text            text formats/text.h
files           files text formats/bytes.h
output          $said
store           $held
help            help $said commands.h embedded.h
complete        complete $held parse.h
commands        commands $held commands.h
search          search commands/content.h $held commands.h
usage           usage write formats/json/members.h formats/times.h $held commands.h
html/page       html/page $held
html            html html/page $held commands.h embedded.h
write           write $held commands.h
artifact        artifact write $held commands.h
import          import formats/formats.h formats/times.h formats/bytes.h $held commands.h
export          export formats/write.h $held commands.h
.               complete help $held commands.h commands_table.h parse.h
"
failed=0
complain() {
    echo "layers: $1" >&2
    failed=1
}
# check_rooms TOP ROOMS HEADERS: each file below TOP includes only what its room may, and HEADERS.
check_rooms() {
    for folder in $(find "$1" -type d); do
        [ "$(find "$folder" -maxdepth 1 -name '*.[ch]' | wc -l)" -le 25 ] ||
            complain "$folder has more than 25 files"
    done
    said=$(find "$1" -name '*.[ch]' -exec env ROOMS="$2" HEADERS="$3" awk -v top="$1" '
        BEGIN {
            for (i = split(ENVIRON["ROOMS"], lines, "\n"); i > 0; i--) {
                for (j = split(lines[i], words); j > 1; j--)
                    allowed[words[1], words[j]] = 1
                if (words[1] != "")
                    is_room[words[1]] = 1
            }
            for (i = split(ENVIRON["HEADERS"], words); i > 0; i--)
                anywhere[words[i]] = 1
        }
        FNR == 1 {
            room = FILENAME
            sub(/\/[^\/]*$/, "", room)
            room = room == top ? "." : substr(room, length(top) + 2)
            if (!(room in is_room))
                print FILENAME " stands in no room"
        }
        /^#include ".*"$/ {
            header = folder = substr($2, 2, length($2) - 2)
            sub(/\/[^\/]*$/, "", folder)
            if (!((room, folder) in allowed) && !((room, header) in allowed) && !(header in anywhere))
                print FILENAME " includes " header
        }' {} +)
    [ -z "$said" ] || complain "$said"
}
public=$(cd include && echo *.h)
check_rooms lib "$rooms" "$public statements.h postgres_statements.h mysql_statements.h"
check_rooms tools/formats "$format_rooms" "$public"
check_rooms tools/seslite "$command_rooms" "$public"
grep -rln '<sqlite3.h>' lib | grep -v '^lib/storage/sqlite/' >&2 && complain "only storage/sqlite knows SQLite"
grep -rln '<libpq' lib include | grep -v '^lib/storage/postgres/' >&2 && complain "only storage/postgres knows libpq"
grep -rln '<mysql' lib include | grep -v '^lib/storage/mysql/' >&2 && complain "only storage/mysql knows MariaDB's client library"
grep -rln '<cjson/' lib include | grep -vx 'include/seslite_cjson.h' >&2 && complain "only cjson knows cJSON"
grep -rn '<sqlite3.h>\|ses__' tools/seslite >&2 && complain "the command stands on public calls alone"
grep -rn '<cjson/' tools/seslite tools/formats >&2 && complain "the command does not know cJSON"

# Prints which object uses which other, by their symbols.
uses() {
    $NM -P -A "$@" | awk '
        {object = $1; sub(/:$/, "", object)}
        $3 == "U" {users[object " " $2] = $2}
        $3 ~ /^[A-TV-Z]$/ {owner[$2] = object}
        END {
            for (pair in users) {
                split(pair, user, " ")
                other = owner[users[pair]]
                if (other != "" && other != user[1])
                    print user[1], other
            }
        }'
}
# Symbols tell more than includes: nothing but its own rooms needs a named engine. (storage/sqlite/door.c is a
# part of the door, for whichever engine.)
for engine in sqlite postgres mysql; do
    uses $OBJECTS | grep "/storage-$engine-[^/]*$" | grep -v '/storage-sqlite-door.o$' | grep -v "^[^ ]*/\(storage\|session\)-$engine-" >&2 &&
        complain "objects need the engine $engine by name"
done
check_circles() {
    folder=$1
    shift
    circle=$(uses "$@" | tsort 2>&1 >/dev/null || true)
    [ -z "$circle" ] || complain "files of $folder form a circle: $circle"
}
check_circles lib $OBJECTS
check_circles tools/bench $BENCH_OBJECTS
check_circles tools/formats $FORMAT_OBJECTS
check_circles tools/seslite $COMMAND_OBJECTS
[ -z "$SERVER_OBJECTS" ] || check_circles tools/server $SERVER_OBJECTS
[ "$failed" -eq 0 ] && echo "ok      layers"
exit "$failed"
