#!/bin/sh
# The repository has no file that a tool has made: none that .gitignore names, no hidden one but those below,
# no binary one but the inputs of the fuzz targets, and none larger than a source file ever is. The exceptions
# are the pictures of `make pictures`, which have bounds of their own. Run from the top of the repository.
set -eu

pictures='
tools/pictures/house.svg     28672
tools/pictures/page.png      204800
tools/pictures/terminal.svg  153600
'

[ -z "$(git rev-parse --show-prefix 2>/dev/null || echo none)" ] || {
    echo "skipped: artefacts, since this is not a clone"
    exit 0
}
found=$(
    git ls-files -ci --exclude-standard
    git ls-files | awk '/(^|\/)\./ && !/^\.(ci\/(run|release)|clang-format|editorconfig|gitignore)$/'
    git ls-files --eol | awk -F '\t' '/^i\/-text/ && $2 !~ /^test\/fuzz\/corpus\// && $2 != "tools/pictures/page.png" {print $2}'
    git ls-files -z | xargs -0 wc -c | awk '$1 > 262144 && $2 != "total" {print $2}'
    git ls-files '*.svg' '*.png' '*.gif' '*.jpg' | while read -r file; do
        bound=$(echo "$pictures" | awk -v file="$file" '$1 == file {print $2}')
        [ "$(wc -c < "$file")" -le "${bound:-0}" ] || echo "$file"
    done
)
[ -z "$found" ] || {
    echo "artefacts: these files do not belong in the repository:"
    echo "$found" | sort -u
    exit 1
} >&2
echo "ok      artefacts"
