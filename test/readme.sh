#!/bin/sh
# The chapters are true: every link leads somewhere, the code runs (their fragments as one program, the first
# program by itself), and so do the shell blocks that are marked `sh run`, on the store of the first program.
# The code in the documents for contributors is the library's own, and the pieces of a program are in it.
#     sh test/readme.sh BUILD
set -eu
programs=$(cd "$1/test/chapters" && pwd)
PATH=$(cd "$1/tools/seslite" && pwd):$PATH
awk -f test/contributing.awk CONTRIBUTING.md test/README.md $(find lib test -name "*.c")
awk -v 'begin=```c chat.c' -f test/contributing.awk tools/chat/README.md tools/chat/chat.c

if git ls-files --error-unmatch README.md >/dev/null 2>&1; then
    # shellcheck disable=SC2046 # paths have no spaces
    FILES=$(git ls-files) awk -f test/links.awk $(git ls-files '*.md') \
        $(git grep -l 'README' -- include lib sql tools ':!*.md')
else
    echo "skipped: links, since this is not a clone"
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-readme-XXXXXX")
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && "$programs/fragments" >/dev/null)
chapters=$(ls README.md */README.md */*/README.md */*/*/README.md)
for chapter in $chapters; do
    awk -v folder="$folder" '
        /^```sh run$/ {file = sprintf("%s/%d.sh", folder, ++count); print FILENAME ":" FNR > (file ".name"); next}
        /^```$/ {file = ""}
        file {print > file}' "$chapter"
    for script in "$folder"/*.sh; do
        [ -e "$script" ] || break
        (cd "$folder" && rm -f ./*.db* && "$programs/README" && sh -eux "$script") >"$folder/log" 2>&1 || {
            echo "$(cat "$script.name"): this shell block fails:"
            cat "$folder/log"
            exit 1
        }
    done
    rm -f "$folder"/*.sh
done
