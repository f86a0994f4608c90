#!/bin/sh
# Each public header alone is good C99, C11 and C++17, with every warning an error:
#     sh test/headers.sh BUILD-FOLDER
set -eu
build=$1
cc=${CC:-cc}
cxx=${CXX:-c++}
common="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -Iinclude"
mkdir -p "$build/test"
for header in seslite seslite_agent seslite_cjson seslite_postgres; do
    echo "#include \"$header.h\"" >"$build/test/header.c"
    cp "$build/test/header.c" "$build/test/header.cc"
    for std in c99 c11; do
        # shellcheck disable=SC2086 # words are meant to be split
        $cc -std=$std $common -Wstrict-prototypes -fsyntax-only "$build/test/header.c"
    done
    if command -v "$cxx" >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        $cxx -std=c++17 $common -Wold-style-cast -fsyntax-only "$build/test/header.cc"
    else
        echo "skipped: $header.h as C++17, for want of a C++ compiler ($cxx)"
    fi
done
version=$(sed -n 's/^#define SES_SCHEMA_VERSION //p' include/seslite.h)
for script in sql/sqlite/0*.sql; do last=${script##*/}; done
if [ "$version" -ne "${last%%_*}" ]; then
    echo "headers: SES_SCHEMA_VERSION is $version, and the last script is $last" >&2
    exit 1
fi
echo "ok      headers"
