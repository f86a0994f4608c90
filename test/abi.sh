#!/bin/sh
# The binary interface of the headers is the one that tools/abi/abi.txt describes. If it is meant to be
# another, `make abi` writes that file, and its diff shows what has changed. The interface in
# tools/abi/released.txt, which exists from 0.2.0 on, only grows.
#     REFERENCE='include/seslite.h ...' sh test/abi.sh BUILD      (CC, AWK)
set -eu
folder=$1/test/abi
awk=${AWK:-awk}
rm -rf "$folder"
mkdir -p "$folder/include"
describe() { sh tools/abi/describe.sh "$folder" "$@" >"$folder/now.txt"; }
compare() { $awk -f tools/abi/compare.awk "$1" "$folder/now.txt"; }

# shellcheck disable=SC2086 # words are meant to be split
describe $REFERENCE || {
    [ $? -eq 77 ] || exit 1
    echo "skipped: the binary interface, which is described for 64-bit systems"
    exit 0
}
failed=0
# shellcheck disable=SC2086 # words are meant to be split
if ! $awk -f tools/abi/symbols.awk tools/abi/symbols.map $REFERENCE | diff tools/abi/symbols.map -; then
    echo "tools/abi/symbols.map and the headers (>) differ. If that is meant, run \`make abi\` and commit the file."
    failed=1
fi
released=tools/abi/released.txt
if [ -e "$released" ] && compare "$released" | grep '^BROKEN'; then
    echo "Programs that were compiled with a released header would break. Append instead, and keep what is there."
    failed=1
fi
differences=$(compare tools/abi/abi.txt)
if [ -n "$differences" ]; then
    echo "$differences"
    echo "The headers and tools/abi/abi.txt differ. If that is meant, run \`make abi\` and commit the file, also after a rebase"
    echo "on a change of the headers."
    failed=1
fi
[ "$failed" -eq 0 ] || exit 1

# ---- the versions of calls

cat >"$folder/one.map" <<'END'
SESLITE_0.2 {
global:
    ses_two;
    ses_gone;
    ses_one;
local:
    *;
};
END
# versions MINOR: the map for headers of that version, on one line
versions() {
    printf '#define SES_VERSION_MAJOR 0\n#define SES_VERSION_MINOR %s\n' "$1" >"$folder/one.h"
    printf 'SES_API int ses_%s(void);\n' one two three >>"$folder/one.h"
    $awk -f tools/abi/symbols.awk "$folder/one.map" "$folder/one.h" | tr -d '\n' | tr -s ' '
}
expect() {
    [ "$1" = "$2" ] || { echo "abi: the map is not as expected: $1" && exit 1; }
}
expect "$(versions 2)" 'SESLITE_0.2 {global: ses_one; ses_two; ses_three;local: *;};'
expect "$(versions 3)" \
    'SESLITE_0.2 {global: ses_one; ses_two;local: *;};SESLITE_0.3 {global: ses_three;} SESLITE_0.2;'

# ---- what a change of the headers is found to be

mv "$folder/now.txt" "$folder/before.txt"
# changed SED-SCRIPT: after this change of the headers the differences are the lines of standard input
changed() {
    for header in include/*.h; do
        sed "$1" "$header" >"$folder/$header"
    done
    # shellcheck disable=SC2046 # words are meant to be split
    describe $(echo "$REFERENCE" | sed "s|include/|$folder/include/|g")
    compare "$folder/before.txt" | sort >"$folder/found.txt"
    if ! sort | diff - "$folder/found.txt"; then
        echo "abi: these differences were not found (<), or were not expected (>)"
        exit 1
    fi
}
changed '
/^} ses_lease_options;/i\
    int last; /* new */
/^} ses_event;/i\
    int last; /* new */
/int64_t reserved\[5\]/c\
    int64_t first; /* new */\
    int64_t reserved[4]; /* 0 */
s/SES_OPEN_MUST_EXIST = 0x2/SES_OPEN_NEW = 0x8, \/* new *\/\
    SES_OPEN_MUST_EXIST = 0x2/
s/ses_code_text(int code/ses_code_text(int number/
/^SES_API const char \*ses_code_text(/a\
/* Returns 1. */\
SES_API int ses_one(void);
' <<'END'
added   struct ses_lease_options: 40, sized grows to 48
added   member ses_lease_options.last: 40 to 44, int
added   struct ses_event: 64, lent grows to 72
added   member ses_event.last: 64 to 68, int
added   member ses_error.first: 48 to 56, int64_t
added   member ses_error.reserved: 48 to 88, int64_t[5] becomes 56 to 88, int64_t[4]
added   constant SES_OPEN_NEW: 8
added   call ses_one: int (void)
END
changed '
/int64_t wait_ms; .* how long taking waits/i\
    int between; /* new */
/unsigned flags; *\/\* 0 \*\//a\
    int last; /* new */
/const char \*session; .* NULL only/a\
    int last; /* new */
s/int64_t seq;  .* in the order of commit/int seq; \/* in the order of commit/
s/SES_ANYWAY = 0x10000/SES_ANYWAY = 0x8/
s/X(KEY, -24/X(KEY, -26/
s/ses_code_name(int code/ses_code_name(long code/
/^SES_API const char \*ses_code_text(/d
' <<'END'
BROKEN  member ses_lease_options.between: 16 to 20, int is new within the 40 bytes that callers have: append a member, and not in padding
BROKEN  member ses_lease_options.wait_ms: 16 to 24, int64_t becomes 24 to 32, int64_t
BROKEN  member ses_lease_options.timeout_ms: 24 to 32, int64_t becomes 32 to 40, int64_t
BROKEN  member ses_lease_options.cancel: 32 to 40, ses_cancel * becomes 40 to 48, ses_cancel *
added   struct ses_lease_options: 40, sized grows to 48
BROKEN  member ses_call_options.last: 12 to 16, int is new within the 32 bytes that callers have: append a member, and not in padding
BROKEN  struct ses_key: 24, fixed becomes 32, fixed
BROKEN  member ses_key.last: 24 to 28, int is new in a struct that stays as it is
BROKEN  member ses_event.seq: 0 to 8, int64_t becomes 0 to 4, int
BROKEN  constant SES_ANYWAY: 65536 becomes 8
BROKEN  constant SES_KEY: -24 becomes -26
BROKEN  call ses_code_name: const char *(int) becomes const char *(long)
BROKEN  call ses_code_text: const char *(int) is gone
END
