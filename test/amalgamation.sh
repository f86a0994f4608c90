#!/bin/sh
# The amalgamation compiles without a warning, also within a program that asks for more of the system than
# POSIX, and programs link with it.
#     sh test/amalgamation.sh BUILD     (CC, CFLAGS, LDFLAGS, SQLITE_CFLAGS, SQLITE_LIBS, CJSON_CFLAGS, CJSON_LIBS;
#                                        POSTGRES=1, POSTGRES_CFLAGS, POSTGRES_LIBS, and the same with MYSQL)
set -eu
build=$1
folder=$build/test/amalgamation
sh tools/amalgamate.sh "$folder" "$build/gen"

# Without optimization, which takes a quarter of the time: what optimizing says of the code is said of its
# single files.
# compile ARGUMENT...
compile() {
    # shellcheck disable=SC2086 # words are meant to be split
    ${CC:-cc} -std=c11 ${CFLAGS:-} ${TEST_OPTIMIZATION:--O0} -Wall -Wextra -Wshadow -Werror -I"$folder" ${SQLITE_CFLAGS:-} ${CJSON_CFLAGS:-} "$@"
}
compile -c -o "$folder/seslite.o" "$folder/seslite.c"
compile -c -o "$folder/seslite_cjson.o" "$folder/seslite_cjson.c"
compile -D_GNU_SOURCE -fsyntax-only "$folder/seslite.c"

cat >"$folder/program.c" <<'END'
#include "seslite_cjson.h"

int main(void)
{
    ses_store *store = 0;
    ses_session *session = 0;
    ses_key key = {"app", "user", "session"};
    cJSON *state = cJSON_Parse("{\"pi\":3.25}");
    int code = ses_open(":memory:", 0, &store, 0);

    if (code == SES_OK)
        code = ses_create_cjson(store, &key, state, 0, &session, 0);
    cJSON_Delete(state);
    ses_session_close(session);
    ses_close(store);
    return code == SES_OK ? 0 : 1;
}
END
# shellcheck disable=SC2086
compile -pthread -o "$folder/program" "$folder/program.c" "$folder/seslite_cjson.o" "$folder/seslite.o" \
    ${LDFLAGS:-} ${SQLITE_LIBS:--lsqlite3} ${CJSON_LIBS:--lcjson}
"$folder/program"
# shellcheck disable=SC2086
compile -pthread -o "$folder/readme_program" "$build/test/chapters/README.c" "$folder/seslite.o" \
    ${LDFLAGS:-} ${SQLITE_LIBS:--lsqlite3}

# try_server ENGINE CFLAGS LIBS: the file of an engine for servers
try_server() {
    cat >"$folder/$1.c" <<END
#include "seslite_$1.h"

int main(void)
{
    ses_store *store = 0;
    return ses_open_$1("no connection string", 0, 0, &store, 0) == SES_INVALID ? 0 : 1;
}
END
    # shellcheck disable=SC2086
    compile $2 -c -o "$folder/seslite_$1.o" "$folder/seslite_$1.c"
    # shellcheck disable=SC2086
    compile -pthread -o "$folder/$1" "$folder/$1.c" "$folder/seslite_$1.o" "$folder/seslite.o" \
        ${LDFLAGS:-} ${SQLITE_LIBS:--lsqlite3} $3
    "$folder/$1"
}
[ -z "${POSTGRES:-}" ] || try_server postgres "${POSTGRES_CFLAGS:-}" "${POSTGRES_LIBS:--lpq}"
[ -z "${MYSQL:-}" ] || try_server mysql "${MYSQL_CFLAGS:-}" "${MYSQL_LIBS:--lmariadb}"
