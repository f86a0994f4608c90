#!/bin/sh
# Makes the modules for Go: folders that `go build` can use as they are, and a module proxy that serves them.
# They contain the amalgamations of seslite and of SQLite, and need a C compiler and nothing around them.
#     sh tools/go/package.sh BUILD [MODULE]     (from the top of the repository, after `make amalgamation`)
# They are BUILD/go/module, with the module for adk-go in it, and BUILD/go/proxy. MODULE is the path under
# which they are published, in place of the one in go.mod. SESLITE_SQLITE is a folder with sqlite3.c; without
# it that is the one in the module github.com/mattn/go-sqlite3.
set -eu
build=$1
here=tools/go
path=$(sed -n 's/^module //p' $here/go.mod)
module=${2:-$path}
version=v$(awk '/define SES_VERSION_(MAJOR|MINOR|PATCH) /{v = v s $3; s = "."} END {print v}' include/seslite.h)
out=$build/go
sqlite=github.com/mattn/go-sqlite3@v1.14.53 # SQLite 3.54.1

if [ -n "${SESLITE_SQLITE:-}" ]; then
    sqlite_source=$SESLITE_SQLITE/sqlite3.c
else
    found=$(cd $here && go mod download -json "$sqlite") || {
        echo "the module $sqlite, which has SQLite in it, cannot be had; SESLITE_SQLITE names a folder with sqlite3.c" >&2
        exit 1
    }
    sqlite_source=$(printf '%s\n' "$found" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')/sqlite3-binding.c
fi

# The tree's files, with the path and the version under which they are published.
rm -rf "$out/module" "$out/proxy"
(cd $here && find . -type f \( -name '*.go' -o -name '*.[ch]' -o -name '*.md' -o -name '*.mod' -o -name '*.sum' \) ! -path './bench/*' \
    ! -name proxy.go) | while IFS= read -r file; do
    mkdir -p "$out/module/$(dirname "$file")"
    sed "s|$path\\([\"/ ]\\)|$module\\1|g; s|^module $path\$|module $module|; s|\\($module v\\)0\\.0\\.0|\\1${version#v}|" \
        "$here/$file" >"$out/module/$file"
done

lib=$out/module/internal/lib
cp "$build"/amalgamation/seslite*.h "$lib/"
rm "$lib/seslite_cjson.h"
# The headers' names keep cgo from compiling these by themselves. In one unit with SQLite its header is there
# already.
sed 's|^#include <sqlite3.h>|#ifndef SQLITE3_H\n#include <sqlite3.h>\n#endif|' "$build/amalgamation/seslite.c" \
    >"$lib/seslite_amalgamation.h"
cp "$build/amalgamation/seslite_postgres.c" "$lib/seslite_postgres_amalgamation.h"
sed '/^#ifndef USE_LIBSQLITE3$/d; /^#else \/\/ USE_LIBSQLITE3$/,$d' "$sqlite_source" >"$lib/sqlite3_amalgamation.h"

for each in . adksession; do
    [ ! -e "$out/module/$each/go.mod" ] || {
        cp LICENSE "$out/module/$each/"
        go run $here/proxy.go "$out/module/$each" "$version" "$out/proxy"
    }
done
echo "$out: $module $version"
