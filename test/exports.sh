#!/bin/sh
# The archive has the functions of the public headers; what else is visible in it begins with ses__:
#     sh test/exports.sh build/libseslite.a
set -eu
archive=$1
expected=$(sed -n 's/^SES_API [^(]*[ *]\(ses_[a-z0-9_]*\)(.*/\1/p' include/*.h | sort -u)
actual=$(nm -g --defined-only "$archive" | awk 'NF == 3 && $3 !~ /^ses__/ {print $3}' | sort -u)
if [ "$expected" != "$actual" ]; then
    echo "exports: the headers (<) and $archive (>) differ:" >&2
    folder=$(mktemp -d)
    echo "$expected" >"$folder/headers"
    echo "$actual" >"$folder/archive"
    diff "$folder/headers" "$folder/archive" >&2 || true
    rm -r "$folder"
    exit 1
fi
echo "ok      exports ($(echo "$expected" | wc -l) functions)"
