#!/bin/sh
# Puts the library into one C file and one header, for projects that compile it themselves.
#     sh tools/amalgamate.sh OUT-FOLDER GEN-FOLDER
# GEN-FOLDER has what tools/embed.awk made. The order is that of the layers, from the bottom up.
set -eu
out=$1
gen=$2
mkdir -p "$out"

headers="common error memory utf8 json_write json decimal double typed scope argument timestamp clock storage sql_text file connection storage_impl
registry schema delta expected event state store range session list_token agent agent_object"
sources="version codes error memory utf8 json_write json decimal double typed scope argument timestamp clock sql_text connection file registry
schema schema_check rows_session rows_state rows_event transaction give_way writer readers checkpoint storage delta expected event state store range session update
create append invocation list_token list cursor read value text agent_tracked agent_view agent_append agent_builder agent_parts
agent_object agent_content agent_render agent_output"
# And in seslite_cjson.c:
cjson_headers="common double json_write cjson_text"
cjson_sources="double json_write cjson_text cjson agent_cjson"

# Every file has its place in the lists above.
for file in lib/*.[ch]; do
    name=$(basename "${file%.*}")
    case " $headers $sources $cjson_headers $cjson_sources " in
    *[\ "
"]"$name"[\ "
"]*) ;;
    *)
        echo "amalgamate: $file has no place" >&2
        exit 1
        ;;
    esac
done

add() {
    printf '\n/* ---- %s ---- */\n\n' "$(basename "$1")"
    # System headers stay where they are; ours are all in this file.
    sed '/^#include "/d' "$1"
}

cp include/seslite.h "$out/seslite.h"
cp include/seslite_cjson.h "$out/seslite_cjson.h"
head_of() {
    echo "#if !defined(_POSIX_C_SOURCE)"
    echo "#define _POSIX_C_SOURCE 200809L"
    echo "#endif"
    echo "#if !defined(_DEFAULT_SOURCE)"
    echo "#define _DEFAULT_SOURCE"
    echo "#endif"
    echo "#if !defined(_DARWIN_C_SOURCE)"
    echo "#define _DARWIN_C_SOURCE"
    echo "#endif"
    echo "#define SESLITE_PRIVATE static"
    echo
    echo "#include \"$1\""
}

{
    echo "/*"
    echo " * What seslite has for callers who hold cJSON trees, made by tools/amalgamate.sh: link with -lcjson."
    echo " *"
    echo " * SPDX-License-Identifier: Apache-2.0"
    echo " */"
    head_of seslite_cjson.h
    for name in $cjson_headers; do add "lib/$name.h"; done
    for name in $cjson_sources; do add "lib/$name.c"; done
} >"$out/seslite_cjson.c.new"
mv "$out/seslite_cjson.c.new" "$out/seslite_cjson.c"
{
    echo "/*"
    echo " * seslite in one file, made by tools/amalgamate.sh: compile it with your program, and link with"
    echo " * -lsqlite3 -pthread. (seslite_cjson.c beside it is for callers who hold cJSON trees.)"
    echo " *"
    echo " * SPDX-License-Identifier: Apache-2.0"
    echo " */"
    head_of seslite.h
    add lib/common.h
    add "$gen/statement_ids.h"
    for name in $headers; do
        [ "$name" = common ] || add "lib/$name.h"
    done
    for name in $sources; do
        if [ "$name" = sql_text ]; then add "$gen/sql_text.c"; else add "lib/$name.c"; fi
    done
} >"$out/seslite.c.new"
mv "$out/seslite.c.new" "$out/seslite.c"
