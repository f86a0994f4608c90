#!/bin/sh
# Each public header alone is good C99, C11, C++98 and C++17, with every warning an error, and so is a program
# in their common style. seslite.h names them all:
#     sh test/headers.sh BUILD-FOLDER
set -eu
build=$1
cc=${CC:-cc}
cxx=${CXX:-c++}
common="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -Iinclude"
mkdir -p "$build/test"
languages="c99 c11"
if command -v "$cxx" >/dev/null 2>&1; then
    languages="$languages c++98 c++17"
else
    echo "skipped: the headers in C++, for want of a compiler ($cxx)"
fi
# compile FILE: in each language
compile() {
    for std in $languages; do
        case $std in
        *++*) compiler="$cxx -x c++ -Wold-style-cast" ;;
        *) compiler="$cc -x c -Wstrict-prototypes" ;;
        esac
        # shellcheck disable=SC2086 # words are meant to be split
        $compiler -std=$std $common -fsyntax-only "$1"
    done
}
for header in include/*.h; do
    echo "#include \"${header##*/}\"" >"$build/test/header.c"
    compile "$build/test/header.c"
done
compile test/headers.c.in
for header in include/*.h; do
    grep -q "${header##*/}" include/seslite.h || {
        echo "headers: the head of seslite.h does not say what ${header##*/} is for" >&2
        exit 1
    }
done
version=$(sed -n 's/^#define SES_SCHEMA_VERSION //p' include/seslite.h)
for engine in sqlite postgres mysql; do
    for script in sql/$engine/0*.sql; do last=${script##*/}; done
    if [ "$version" -ne "${last%%_*}" ]; then
        echo "headers: SES_SCHEMA_VERSION is $version, and the last script is $engine/$last" >&2
        exit 1
    fi
done
echo "ok      headers"
