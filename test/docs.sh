#!/bin/sh
# The pages of `make docs`: a comment in a header that is not in the agreed form is a fault with its line;
# every call and type has a page; all links lead somewhere; and mandoc and groff have nothing to say about the
# man pages.
#     REFERENCE='include/seslite.h ...' sh test/docs.sh BUILD      (AWK)
set -eu
folder=$1/test/docs
awk=${AWK:-awk}
rm -rf "$folder"
mkdir -p "$folder"
complain() {
    echo "docs: $1"
    exit 1
}

# ---- the form of comments: each change of a good header makes one fault

cat >"$folder/good.h" <<'END'
/*
 * good: a header. Those of a write are MISUSE and NOMEM.
 */

/* ------------------------------------------------------------------------------- things */

/* Every code. */
#define SES_CODES(X)       \
    X(MISUSE, -1, "wrong") \
    X(NOMEM, -2, "no memory")

/* The longest name. */
#define SES_NAME_MAX 10

/* A thing. */
typedef struct ses_thing ses_thing;

typedef enum ses_open_flags {
    SES_OPEN_FAST = 0x1 /* quick */
} ses_open_flags;

typedef struct ses_open_options {
    size_t size;
    unsigned flags;   /* SES_OPEN_* */
    const char *name; /* as for ses_open */
    size_t name_len;
} ses_open_options;

/*
 * Opens a thing (see Things), as ses_open_options.name says. NOMEM: there is no room.
 *
 *  - An item of a list,
 *    in two lines.
 *
 *     verse();
 *
 * Codes: MISUSE, NOMEM.
 */
SES_API int ses_open(ses_thing **thing, const ses_open_options *options, ses_error *error);
SES_API int ses_open_by_key(ses_thing **thing, const ses_open_options *options, ses_error *error);
/* Returns `1`. */
SES_API int ses_one(void);
/* Adds a thing. Codes: NOMEM (no room), those of a write. */
SES_API int ses_add(ses_thing *thing, ses_error *error);
END
read_header() { $awk -f tools/docs/comments.awk -f tools/docs/read.awk "$folder/$1.h" >"$folder/$1.records" 2>"$folder/$1.faults"; }
read_header good || complain "a good header has faults: $(cat "$folder/good.faults")"
grep -q '^error	NOMEM		there is no room.$' "$folder/good.records" || complain "the meaning of a code is not with the code"
[ "$(tail -3 "$folder/good.records" | cut -f 2 | tr '\n' ' ')" = "NOMEM MISUSE ses_add " ] ||
    complain "the codes of a set are not those of the call"

# fault LINE MESSAGE SED-SCRIPT
fault() {
    sed "$3" "$folder/good.h" >"$folder/bad.h"
    ! cmp -s "$folder/good.h" "$folder/bad.h" || complain "$3 changes nothing"
    ! read_header bad || complain "no fault after: $3"
    [ "$(cat "$folder/bad.faults")" = "$folder/bad.h:$1: $2" ] ||
        complain "after $3: $(cat "$folder/bad.faults"); expected line $1: $2"
}
fault 8 'SES_CODES: there is no comment before it' '7s/.*//'
fault 10 'SES_NOMEM: there is no text' '10s/"no memory"/""/'
fault 13 'SES_NAME_MAX: there is no comment before it' '12s/.*//'
fault 16 'ses_thing: there is no comment before it' '15s/.*//'
fault 19 'SES_OPEN_FAST: there is no comment at it' 's|/\* quick \*/||'
fault 24 'ses_open_options.flags: there is no comment at it' 's|/\* SES_OPEN_\* \*/||'
fault 25 'ses_open_options.name: there is no comment at it' '25s|/.*/||; /name_len/d'
fault 18 'ses_mode: there is no comment before it' 's/ses_open_flags/ses_mode/'
fault 39 'ses_open: there is no comment before it' '29,38s/.*//; /ses_open_by_key/d'
fault 29 'ses_open: the comment does not begin with what the call does (Returns ..., These calls ...)' 's/Opens a thing/A thing/'
fault 29 'ses_open: the comment does not end with "Codes: ..."' '37s/Codes.*/Ends./'
fault 29 'ses_open: the comment does not end with a full stop' '37s/NOMEM\.$/NOMEM/'
fault 29 'ses_open: there is no code NOTHING' '37s/, NOMEM\.$/, NOTHING./; s/NOMEM: there/There/'
fault 29 'ses_open: the code MISUSE is listed twice' '37s/, NOMEM\.$/, MISUSE, NOMEM./'
fault 29 'ses_open: no comment above lists the codes of ses_one' '37s/Codes: .*/Codes: those of ses_one./'
fault 43 'ses_add: the code NOMEM is listed twice' 's/ (no room)//'
fault 43 'ses_add: no rule says which codes are those of a read' 's/those of a write/those of a read/'
fault 43 'ses_add: there is no code NOTHING' 's/MISUSE and NOMEM\.$/MISUSE and NOTHING./'
fault 40 'ses_two: the comment before it says nothing of this call' 's/ses_open_by_key/ses_two/'
fault 41 'ses_one: the comment does not end with a full stop' 's/`1`\. /`1` /'
fault 41 'a ` without its pair' 's/`1`/`1/'
fault 30 'ses_nothing is in no header' 's/as ses_open_options.name/as ses_nothing/'
fault 30 'ses_open_options.nothing is in no header' 's/ses_open_options.name says/ses_open_options.nothing says/'
fault 30 '(see Nothing is in no header' 's/see Things/see Nothing/'
fault 33 'the line is indented as neither text, an item nor code' 's/\*    in two/*      in two/'
fault 42 'a declaration that is not understood: int ses_one(void);' '42s/SES_API //'

# ---- the pages

# shellcheck disable=SC2086 # words are meant to be split
sh tools/docs/make.sh "$folder/pages" 1.2.3 $REFERENCE
pages=$folder/pages
sed -n -e 's/^SES_API [^(]*[ *]\(ses_[a-z0-9_]*\)(.*/\1/p' -e 's/^} \(ses_[a-z0-9_]*\);.*/\1/p' \
    -e 's/^typedef struct ses_[a-z_]* \(ses_[a-z_]*\);.*/\1/p' include/*.h | sort -u >"$folder/names"
[ "$(wc -l <"$folder/names")" -gt 200 ] || complain "the headers declare only $(wc -l <"$folder/names") names"
# has_all WHAT: the names on standard input are all those of the headers
has_all() {
    missing=$(sort -u | comm -13 - "$folder/names")
    [ -z "$missing" ] || complain "$1 lack $missing"
}
ls "$pages/man/man3" | sed 's/\.3$//' | has_all "the man pages"
sed -n 's/^\["\(ses_[a-z0-9_]*\)".*/\1/p' "$pages/html/texts.js" | has_all "the texts to search"
sed '1,2d; $d' "$pages/html/texts.js" | grep -vE '^\[("([^"\\]|\\["\\])*",?){5}\],$' && complain "these lines of texts.js are no lists"

# A page describes the flags that its options take, whether the header names them one by one or as SES_OPEN_*.
for flag in ses_open:SES_OPEN_READ_ONLY ses_append:SES_ANYWAY ses_cut:SES_SECURE ses_store_expire:SES_EXPIRE_DRY_RUN; do
    grep -q "^.fB${flag#*:}.fP (0x" "$pages/man/man3/${flag%:*}.3" || complain "the man page of ${flag%:*} lacks ${flag#*:}"
    grep -q "<dt><code><b>${flag#*:}</b>" "$pages/html/${flag%:*}.html" || complain "the page of ${flag%:*} lacks ${flag#*:}"
done

# links FILE...: each link that leads nowhere
links() {
    $awk '
        FNR == 1 {sub(/.*\//, "", FILENAME); page = FILENAME; is_place[page] = 1}
        {
            for (text = $0; match(text, /(id|href|src)="[^"]*"/); text = substr(text, RSTART + RLENGTH)) {
                value = substr(text, RSTART, RLENGTH - 1)
                if (sub(/^id="/, "", value)) {
                    if ((page "#" value) in is_place)
                        print page ": two places are called " value
                    is_place[page "#" value] = 1
                } else {
                    sub(/^(href|src)="/, "", value)
                    link[++links] = value ~ /^#/ ? page value : value
                    from[links] = page
                }
            }
        }
        page == "texts.js" && split($0, field, /","/) == 5 {link[++links] = field[3]; from[links] = page}
        END {
            for (i = 1; i <= links; i++)
                if (link[i] !~ /^https?:/ && !(link[i] in is_place))
                    print from[i] ": " link[i] " is nowhere"
            if (links < 2000)
                print "only " links + 0 " links"
        }' "$@"
}
nowhere=$(links "$pages"/html/*)
[ -z "$nowhere" ] || complain "$nowhere"

# said COMMAND...: what it says of the pages that are not just another name of one
said() { grep -L '^\.so ' "$pages"/man/man3/*.3 | xargs "$@" 2>&1 | grep -v 'missing date, using ""' || true; }
if command -v mandoc >/dev/null 2>&1; then
    words=$(said mandoc -Tlint -Wwarning)
    [ -z "$words" ] || complain "mandoc: $words"
else
    echo "skipped: the man pages by mandoc, which is not here"
fi
if command -v groff >/dev/null 2>&1; then
    words=$(said groff -man -ww -z)
    [ -z "$words" ] || complain "groff: $words"
else
    echo "skipped: the man pages by groff, which is not here"
fi
