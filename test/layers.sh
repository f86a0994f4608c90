#!/bin/sh
# The flow goes one way: a file of lib/ includes only headers of its own layer and of those below it; only the
# storage files know SQLite, and nothing but storage.h leads to them. Run from the top of the repository.
set -eu

# From the top down. A file stands in one layer; storage.h is the storage layer's one open door.
layer_of() {
    case $1 in
    create | append | invocation | list | cursor | read | value | text) echo 1 ;;
    session | update | list_token) echo 2 ;;
    store | range) echo 3 ;;
    state | event | delta | expected) echo 4 ;;
    storage.h) echo 5 ;;
    storage | storage_impl | transaction | writer | give_way | readers | checkpoint | registry | schema | schema_check | connection | rows_session | rows_state | rows_event | file | sql_text | statement_ids) echo 6 ;;
    json | json_write | utf8 | decimal | double | typed | scope | argument | timestamp | clock | memory | error | codes | version | common) echo 7 ;;
    seslite) echo 8 ;;
    *) echo 0 ;;
    esac
}

failed=0
complain() {
    echo "layers: $1" >&2
    failed=1
}

for file in lib/*.[ch]; do
    name=$(basename "$file")
    stem=${name%.*}
    case $stem in agent* | cjson*) continue ;; esac
    own=$(layer_of "$stem")
    [ "$name" = storage.h ] && own=5
    [ "$own" -gt 0 ] || complain "$file has no layer"
    for header in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$file"); do
        if [ "$header" = storage.h ]; then
            [ "$own" -le 6 ] || complain "$file includes $header from below"
            continue
        fi
        theirs=$(layer_of "${header%.h}")
        [ "$theirs" -gt 0 ] || complain "$file includes $header, which has no layer"
        [ "$theirs" -ge "$own" ] || complain "$file includes $header, which is above it"
        [ "$theirs" -ne 6 ] || [ "$own" -eq 6 ] || complain "$file includes $header, which is the storage layer's own"
    done
    if [ "$own" -ne 6 ] && grep -q 'sqlite3' "$file"; then
        grep -Hn 'sqlite3[_.]' "$file" | grep -v '^[^:]*:[0-9]*: *\(/\?\*\|//\)' >&2 && complain "$file knows SQLite"
    fi
done

# What is left out when nobody uses it knows the public headers, the bottom of the library, and itself.
for file in lib/agent* lib/cjson*; do
    for header in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$file"); do
        case $file:$header in
        *:seslite.h | lib/agent*:agent.h | lib/agent*:agent_object.h) ;;
        lib/agent_cjson.c:cjson_text.h | lib/cjson*:cjson_text.h | lib/cjson*:seslite_cjson.h) ;;
        *) [ "$(layer_of "${header%.h}")" -eq 7 ] || complain "$file includes $header" ;;
        esac
    done
done
[ "$failed" -eq 0 ] && echo "ok      layers"
exit "$failed"
