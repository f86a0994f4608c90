#!/bin/sh
# A program has in it what it uses: one that opens, creates and appends has nothing of the agent layer, no
# statement of other calls and at most 180 KB of text, and one that makes no call of seslite_cjson.h is built
# where there is no cJSON. The archive has in it what there is a source of.
#     sh test/linking.sh BUILD          (CC, CFLAGS, LDFLAGS, SQLITE_LIBS, MAKE)
set -eu
build=$1
folder=$build/test/linking
# A copy, as an include path without cJSON.
rm -rf "$folder"
mkdir -p "$folder/include"
cp include/*.h "$folder/include/"

case $(${CC:-cc} -dumpmachine) in
*darwin* | *macos*) sections=-Wl,-dead_strip ;;
*) sections=-Wl,--gc-sections ;;
esac

# link NAME BODY: a program of that body
link() {
    printf '#include "seslite_agent.h"\nint main(void)\n{\n    %s\n    return 0;\n}\n' "$2" >"$folder/$1.c"
    # shellcheck disable=SC2086 # words are meant to be split
    ${CC:-cc} -std=c11 ${CFLAGS:-} -I"$folder/include" -pthread -o "$folder/$1" "$folder/$1.c" "$build/libseslite.a" \
        $sections ${LDFLAGS:-} ${SQLITE_LIBS:--lsqlite3}
}
# defined FILE...: the functions of seslite that it defines
defined() { nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 {sub(/^_ses_/, "ses_", $3); print $3}' | grep '^ses_' | sort -u; }

link store 'ses_store *store = 0;
    ses_session *session = 0;
    ses_key key = {"app", "user", "session"};
    if (ses_open(":memory:", 0, &store, 0) < 0 || ses_create(store, &key, "{}", 2, 0, &session, 0) < 0 ||
        ses_append(session, "{}", 2, 0, 0, 0) < 0)
        return 1;
    ses_session_close(session);
    ses_close(store);'
link agent 'ses_builder *builder = 0;
    ses_builder_open(0, "agent", "invocation", &builder, 0);'
"$folder/store"

# The symbols of the rooms agent, cjson, draft, inbox and usage.
defined "$build"/lib/agent-*.o "$build"/lib/draft-*.o "$build"/lib/inbox-*.o "$build"/lib/cjson-*.o \
    "$build"/lib/usage-*.o "$build"/lib/storage-sql-usage-*.o >"$folder/apart"
defined "$folder/store" | comm -12 - "$folder/apart" >"$folder/linked"
if [ -s "$folder/linked" ]; then
    echo "a program that only opens, creates and appends has in it:" $(cat "$folder/linked")
    exit 1
fi
if ! defined "$folder/agent" | comm -12 - "$folder/apart" | grep -q .; then
    echo "the check sees nothing of the agent layer in a program that uses it"
    exit 1
fi
defined "$folder/store" | grep '^ses__statement_' >"$folder/statements"
if ! grep -q '^ses__statement_event_add$' "$folder/statements" || grep '^ses__statement_events_copy$' "$folder/statements"; then
    echo "a program that forks no session has in it, or the check does not see, the statements: $(wc -l <"$folder/statements")"
    exit 1
fi
if nm -u "$folder/store" "$folder/agent" | grep -i cjson; then
    echo "a program that makes no call of cJSON asks for it"
    exit 1
fi
# On other machines, or with other compilers, the same program is shorter or longer. So it is with what
# protects stacks, jumps and copies, which the flags of packages turn on, and Ubuntu's gcc by itself.
# shellcheck disable=SC2086 # words are meant to be split
protected=$(${CC:-cc} ${CFLAGS:-} -dM -E -x c /dev/null | grep -c '_FORTIFY_SOURCE\|__SSP_STRONG__\|__CET__' || true)
case "$protected $(${CC:-cc} -dumpmachine) $(${CC:-cc} --version | head -1) ${CFLAGS:-}" in
[1-9]*) echo "skipped: the length of a program, which is known without a compiler's protections" ;;
*clang*) echo "skipped: the length of a program, which is known with gcc" ;;
*x86_64-*linux*-O2*)
    text=$(size "$folder/store" | awk 'NR == 2 {print $1}')
    if [ "$text" -gt $((180 * 1024)) ]; then
        echo "a program that opens, creates and appends has $text bytes of text, more than 180 KB: nm --size-sort -S $folder/store"
        exit 1
    fi
    ;;
*) echo "skipped: the length of a program, which is known on x86-64 with gcc -O2" ;;
esac

# A source that is removed leaves the archive, though no file is newer than before.
copy=$folder/copy
member=session-cancel.o
mkdir -p "$copy"
cp -Rp "$build/lib" "$build/gen" "$copy/"
# archive VARIABLE...: makes that of the copy, without compiling anything
archive() {
    MAKEFLAGS='' MAKELEVEL=1 ${MAKE:-make} -s B="$copy" CC=false "$@" "$copy/libseslite.a"
    ar t "$copy/libseslite.a"
}
archive | grep -q "^$member$" || { echo "the archive lacks $member"; exit 1; }
rest=$(find lib -name '*.c' ! -path '*/postgres/*' ! -path '*/mysql/*' ! -path '*/server/*' ! -path lib/session/cancel.c | sort | tr '\n' ' ')
if archive SOURCES="$rest" | grep "^$member$"; then
    echo "a source that was removed is still in the archive"
    exit 1
fi
