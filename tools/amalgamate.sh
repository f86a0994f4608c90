#!/bin/sh
# Puts the library into one C file and one header, for projects that compile it themselves.
#     sh tools/amalgamate.sh OUT-FOLDER GEN-FOLDER
# GEN-FOLDER has what tools/embed*.awk made. A header stands before the first file that includes it. The
# engines for servers, and the calls that know cJSON, have files of their own: they need more libraries.
set -eu
out=$1
gen=$2
export LC_ALL=C # for the order of the files
mkdir -p "$out"
cp include/*.h "$out/"

# merge PUBLIC-HEADERS TITLE FILE...
merge() {
    printf '/*\n * %s\n *\n * SPDX-License-Identifier: Apache-2.0\n */\n' "$2"
    printf '#if !defined(_DEFAULT_SOURCE)\n#define _DEFAULT_SOURCE\n#endif\n'
    printf '#if !defined(_FILE_OFFSET_BITS)\n#define _FILE_OFFSET_BITS 64\n#define _TIME_BITS 64\n#endif\n'
    for header in $1; do
        printf '\n#include "%s"\n' "$header"
    done
    shift 2
    awk -v gen="$gen" '
        # System headers stay where they are; ours are inserted where they are first included.
        function add(file,    line, name, lines, at) {
            if (file in added)
                return
            added[file] = 1
            at = 0
            while ((getline line < file) > 0) {
                if (line ~ /^#include "seslite/)
                    continue
                if (line ~ /^#include "/) {
                    split(line, name, "\"")
                    add(name[2] ~ /^((postgres|mysql)_)?statements\.h$/ ? gen "/" name[2] : "lib/" name[2])
                } else {
                    lines[++at] = line
                }
            }
            close(file)
            sub(/^.*\/gen\//, "gen/", file)
            print "\n/* ---- " file " ---- */\n"
            for (line = 1; line <= at; line++)
                print lines[line]
        }
        BEGIN { for (i = 1; i < ARGC; i++) add(ARGV[i]) }
    ' "$@"
}

merge "seslite_agent.h seslite_artifact.h seslite_draft.h seslite_inbox.h seslite_search.h seslite_memory.h seslite_usage.h seslite_erase.h" "seslite in one file, made by tools/amalgamate.sh: compile it with your program and link with -lsqlite3 -pthread.
 * (Beside it, seslite_cjson.c has the calls for programs that use cJSON, seslite_postgres.c and
 * seslite_mysql.c stores on a server.)" \
    $(find lib -name '*.c' ! -path 'lib/cjson/*' ! -path '*/postgres/*' ! -path '*/mysql/*' | sort) "$gen/statements.c" "$gen/scripts.c" >"$out/seslite.c.new"
mv "$out/seslite.c.new" "$out/seslite.c"
merge seslite_cjson.h "The calls of seslite for programs that use cJSON, made by tools/amalgamate.sh: compile it beside seslite.c and
 * link with -lcjson." $(find lib/cjson -name '*.c' | sort) >"$out/seslite_cjson.c.new"
mv "$out/seslite_cjson.c.new" "$out/seslite_cjson.c"
merge seslite_postgres.h "Stores of seslite on a PostgreSQL server, made by tools/amalgamate.sh: compile it beside seslite.c and link with
 * -lpq." $(find lib -path '*/postgres/*.c' | sort) "$gen/postgres_sql.c" >"$out/seslite_postgres.c.new"
mv "$out/seslite_postgres.c.new" "$out/seslite_postgres.c"
merge seslite_mysql.h "Stores of seslite on a server of MySQL or MariaDB, made by tools/amalgamate.sh: compile it beside seslite.c and link
 * with -lmariadb." $(find lib -path '*/mysql/*.c' | sort) "$gen/mysql_sql.c" >"$out/seslite_mysql.c.new"
mv "$out/seslite_mysql.c.new" "$out/seslite_mysql.c"
