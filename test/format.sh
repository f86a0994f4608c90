#!/bin/sh
# The C files are as clang-format writes them, by .clang-format. Its versions differ in details, so only
# version 14, Debian 12's, is asked. Files that the package for Python makes are left out. Run from the top
# of the repository.
set -eu

format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ] || ! "$format" --version | grep -q 'version 14\.'; then
    echo "skipped: format, for want of clang-format 14"
    exit 0
fi
found=$(find lib include test tools -name '*.[ch]' ! -path 'tools/python/build/*' \
    ! -path 'tools/python/csrc/*' -exec "$format" -n {} + 2>&1 | grep 'warning:' || true)
[ -z "$found" ] || {
    echo "format: run $format -i on these files:"
    echo "$found" | sed 's/:.*//' | sort -u
    exit 1
} >&2
echo "ok      format"
