#!/bin/sh
# test/README.md names a test for each part of the store and each operation, or says why nothing can break
# there. Each cell must be there once, and its test must exist and be run.
#     sh test/cells.sh
set -eu
page=test/README.md
operations='append batch duplicate rewind redo fork cut pop prune expire delete delete_user redact find load import_UPDATE export
copy backup check upgrade shared_commit'

# Prints "PART|OPERATION|FILE|TEST" for each cell; FILE is "none" where there is none, and TEST the reason.
list_cells() {
    LC_ALL=C awk -F '|' '
        /^## / { inside = $0 == "## Each part and each operation" }
        inside && /^### / { part = substr($0, 5) }
        inside && /^\|/ && $2 !~ /^ operation |^-/ {
            test = $3
            gsub(/^ *`?|`? *$/, "", test)
            colon = index(test, ": ")
            gsub(/import UPDATE/, "import_UPDATE", $2)
            gsub(/shared commit/, "shared_commit", $2)
            gsub(/^ | $/, "", $2)
            count = split($2, names, ", ")
            for (i = 1; i <= count; i++)
                print part "|" names[i] "|" substr(test, 1, colon - 1) "|" substr(test, colon + 2)
        }' $page
}

fail() {
    echo "cells: $page: $1" >&2
    failed=yes
}

failed=
cells=$(list_cells)
parts=$(echo "$cells" | cut -d '|' -f 1 | sort -u | wc -l)
[ "$parts" -ge 11 ] || fail "there are only $parts parts"
expected=$(echo "$operations" | tr ' ' '\n' | sort)
IFS='
'
for part in $(echo "$cells" | cut -d '|' -f 1 | sort -u); do
    found=$(echo "$cells" | awk -F '|' -v part="$part" '$1 == part { print $2 }' | sort)
    [ "$found" = "$expected" ] || fail "\"$part\" does not have each operation once"
done

IFS='|'
while read -r part operation file test; do
    case $file in
    none) [ -n "$test" ] || fail "\"$part\", $operation: there is no reason" ;;
    *.py) grep -q "^ *\(async \)\?def $test(" "$file" || fail "\"$part\", $operation: $file has no $test" ;;
    *)
        grep -q "^[A-Z_]*TEST[A-Z_]*(.*\\<$test)$" "test/$file" 2>/dev/null || fail "\"$part\", $operation: test/$file has no $test"
        ;;
    esac
done <<END
$cells
END
[ -z "$failed" ]
echo "ok      cells"
