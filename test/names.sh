#!/bin/sh
# The names of the public headers follow the rule in CONTRIBUTING, "Names"; and a name that does not is found.
# Traced calls have names of theirs.
#     sh test/names.sh BUILD
set -eu
folder=$1/test/names
mkdir -p "$folder"
awk -f test/names.awk include/*.h

# caught DECLARATION PART: with this declaration the headers break the rule, and the message has this part
caught() {
    printf '%s\n' "$1" >"$folder/added.h"
    if found=$(awk -f test/names.awk include/*.h "$folder/added.h"); then
        echo "nothing was found in: $1"
        exit 1
    fi
    case $found in
    *"$2"*) ;;
    *)
        echo "wanted \"$2\", not: $found"
        exit 1
        ;;
    esac
}
caught 'SES_API int ses_vacuum(ses_store *store, ses_error *error);' 'ses_vacuum: a call about a whole store'
caught 'SES_API int ses_store_count(ses_session *session);' 'ses_store_count: begins with ses_store_'
caught 'SES_API int ses_connect(const char *path, ses_store **store);' 'ses_connect: a call that opens a store'
caught 'SES_API int ses_prune_by_key(ses_store *store, const ses_key *key);' 'ses_prune_by_key: takes other parameters'
caught 'SES_API int ses_touch_by_key(const ses_key *key);' 'ses_touch_by_key: takes no store and key'
caught '    SES_FORK_SECURE = 0x4,' 'SES_FORK_SECURE: a flag of several calls'
caught 'typedef struct ses_pair {
    const char *left;
} ses_pair;' 'ses_pair: has no `size`'

# The trace names public calls.
awk -f test/traced.awk $(find lib/session lib/agent lib/cjson -name '*.c')
printf 'static int inner(ses_store *store)\n{\n    return ses__store_begin(store, NULL);\n}\n' >"$folder/inner.c"
if awk -f test/traced.awk "$folder/inner.c" >"$folder/found"; then
    echo "nothing was found in: $(cat "$folder/inner.c")"
    exit 1
fi
grep -q 'inner is no public call' "$folder/found"
