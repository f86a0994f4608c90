#!/bin/sh
# A program links what it uses: one that only stores has nothing of the agent layer in it.
#     CC=... LIBS=... sh test/linking.sh BUILD-FOLDER build/libseslite.a
set -eu
build=$1
archive=$2
mkdir -p "$build/test"
program=$build/test/linking

# link NAME BODY: a program of that body
link() {
    printf '#include "seslite_agent.h"\nint main(void)\n{\n    %s\n    return 0;\n}\n' "$2" >"$program-$1.c"
    # shellcheck disable=SC2086 # words are meant to be split
    ${CC:-cc} -std=c11 -Iinclude -pthread -o "$program-$1" "$program-$1.c" "$archive" ${LIBS:--lsqlite3}
}
# The functions of the agent layer: what the header declares below its title.
sed -n 's/^SES_API [^(]*[ *]\(ses_[a-z0-9_]*\)(.*/\1/p' include/seslite_agent.h |
    grep -v '^ses_text_make$' | sort >"$program.names"
# linked NAME: those of them that the program has
linked() { nm --defined-only "$program-$1" | awk '{print $3}' | sort | comm -12 - "$program.names"; }

link store 'ses_store *s = 0; if (ses_open(":memory:", 0, &s, 0) == 0) ses_append(0, "{}", 2, 0, 0, 0); ses_close(s);'
link agent 'ses_tracked *t = 0; ses_tracked_open(0, 0, &t, 0);'
if [ -n "$(linked store)" ]; then
    echo "linking: a program that only stores has in it:" $(linked store) >&2
    exit 1
fi
if [ -z "$(linked agent)" ]; then
    echo "linking: the check sees nothing of the agent layer in a program that uses it" >&2
    exit 1
fi
echo "ok      linking ($(wc -l <"$program.names") functions of the agent layer are left out when unused)"
