#!/bin/sh
# The C files of lib/ and include/ are as clang-format writes them, by .clang-format. Its versions differ in
# details, so only version 14, Debian 12's, is asked. Run from the top of the repository.
set -eu

format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ] || ! "$format" --version | grep -q 'version 14\.'; then
    echo "skipped: format, for want of clang-format 14"
    exit 0
fi
found=$(find lib include -name '*.[ch]' -exec "$format" -n {} + 2>&1 | grep 'warning:' || true)
[ -z "$found" ] || {
    echo "format: run $format -i on these files:"
    echo "$found" | sed 's/:.*//' | sort -u
    exit 1
} >&2
echo "ok      format"
