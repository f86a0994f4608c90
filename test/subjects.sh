#!/bin/sh
# Checks that the subjects of commits are `area: verb what`, as CONTRIBUTING.md describes. Older commits are
# not looked at.
#     sh test/subjects.sh        the commits of this clone, after the last one of the older form
#     sh test/subjects.sh -      the subjects on standard input, one per line
set -eu
last_of_older_form=e921912969319f938ee7ef687bbcb188b4770ed7

# Prints each bad subject with the reason, and fails if there is one.
check() {
    LC_ALL=C awk '
        function length_in_utf8(text) {
            gsub(/[\200-\277]/, "", text) # the bytes of a character after its first
            return length(text)
        }
        function refuse(reason) {
            print reason ": " $0
            failed = 1
        }
        {
            what = $0
            if (!sub(/^[a-z0-9_.\/-]+(, [a-z0-9_.\/-]+)*: /, "", what))
                refuse("no lower-case area")
            else if (what !~ /^[a-z][a-z-]* ./ || what ~ /^(a|an|the|this|these|what|no|not|now|how) /)
                refuse("no verb after the area")
            else if (what ~ /[. ]$/)
                refuse("a full stop or a space at the end")
            else if (length_in_utf8($0) > 72)
                refuse("longer than 72 characters")
        }
        END {exit failed}'
}

good='session: reserve for a handle what its events need
expiry, lease: count idleness from the commit
test/run.sh: sort the names of the tests by how long each has taken last
json: accept é in the first of seventy-two characters, not bytes: éééé.é'

# Each with the reason for which it must be refused.
bad='no lower-case area: Sessions reserve what their events need
no lower-case area: Session: reserve what the events need
no lower-case area: session,lease: count idleness from the commit
no lower-case area: session:reserve what the events need
no lower-case area: : reserve what the events need
no lower-case area: Revert "session: reserve what the events need"
no lower-case area: 
no verb after the area: session: Reserve what the events need
no verb after the area: session: the events that are reserved
no verb after the area: session: what is reserved
no verb after the area: session: fixes
no verb after the area: session:  reserve two spaces
a full stop or a space at the end: session: reserve what the events need.
longer than 72 characters: test/run.sh: sort the names of the tests by how long each has taken lasts
longer than 72 characters: json: accept é in the first of seventy-two characters, not of bytes: éé.é'

test_the_check() {
    printf '%s\n' "$good" | check
    refused=$(printf '%s\n' "$bad" | sed 's/^[^:]*: //' | check) && return 1
    [ "$refused" = "$bad" ] || {
        echo "subjects: expected these to be refused:"
        echo "$bad"
        echo "subjects: but of these it refused:"
        echo "$refused"
        return 1
    }
}

if [ "${1:-}" = - ]; then
    check
    exit
fi
test_the_check >&2
git merge-base --is-ancestor "$last_of_older_form" HEAD 2>/dev/null || {
    echo "skipped: subjects, since this is not a clone with the whole history"
    exit 0
}
git log --no-merges --format=%s "$last_of_older_form..HEAD" | check >&2
echo "ok      subjects"
