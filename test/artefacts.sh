#!/bin/sh
# The repository has no file that a tool has made: none that .gitignore names, no hidden one but those below, no binary one
# but the inputs of the fuzz targets, and none larger than a source file ever is. Run from the top of the repository.
set -eu

[ -z "$(git rev-parse --show-prefix 2>/dev/null || echo none)" ] || {
    echo "skipped: artefacts, since this is not a clone"
    exit 0
}
found=$(
    git ls-files -ci --exclude-standard
    git ls-files | awk '/(^|\/)\./ && !/^\.(ci\/run|clang-format|editorconfig|gitignore)$/'
    git ls-files --eol | awk -F '\t' '/^i\/-text/ && $2 !~ /^test\/fuzz\/corpus\// {print $2}'
    git ls-files -z | xargs -0 wc -c | awk '$1 > 262144 && $2 != "total" {print $2}'
)
[ -z "$found" ] || {
    echo "artefacts: these files do not belong in the repository:"
    echo "$found" | sort -u
    exit 1
} >&2
echo "ok      artefacts"
