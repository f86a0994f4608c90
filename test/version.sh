#!/bin/sh
# Every file that names the version names that of include/seslite.h. Most tools read the header; this is about
# the files of those that cannot. Run from the top of the repository.
#     sh test/version.sh BUILD      (AWK)
set -eu
awk=${AWK:-awk}
folder=$1/test/version

version=$($awk '/^#define SES_VERSION_(MAJOR|MINOR|PATCH) / {v = v s $3; s = "."} END {print v}' include/seslite.h)
abi=$(echo "$version" | $awk -F. '{print $1 == 0 ? $1 "." $2 : $1}')
number=$(echo "$version" | $awk -F. '{print $1 * 1000000 + $2 * 1000 + $3}')

# The files, what each names, and the script of sed that prints it.
places() {
    cat <<'PLACES'
include/seslite.h version s/.*linked library: as a text ("\(.*\)"), and as.*/\1/p
tools/rust/Cargo.toml version s/^version = "\(.*\)"$/\1/p
tools/rust/Cargo.lock version /^name = "\(adk-session-seslite\|seslite\|seslite-sys\)"$/{n;s/^version = "\(.*\)"$/\1/p;}
tools/rust/seslite/Cargo.toml version s/^seslite-sys = { version = "=\([^"]*\)".*/\1/p
tools/rust/adk-session-seslite/Cargo.toml version s/^seslite = { version = "=\([^"]*\)".*/\1/p
tools/rust/seslite-sys/src/bindings.rs number s/^pub const SES_VERSION_NUMBER: u32 = \(.*\);$/\1/p
tools/rust/seslite/src/facts.rs version s/^\/\/\/ The version of the library: "\(.*\)"\.$/\1/p
tools/js/package.json version s/^  "version": "\(.*\)",$/\1/p
tools/packaging/README.md abi s/.*Its soname, `libseslite\.so\.\(.*\)`, changes.*/\1/p
README.md version s/^Version \([0-9.]*\) is .*/\1/p
CHANGELOG.md version /^## [0-9]/{s/^## \([0-9.]*\).*/\1/p;q;}
PLACES
}

# differing TOP: the files below it, which is the tree's or a copy, that name something else
differing() {
    places | while read -r file kind script; do
        eval "expected=\$$kind"
        found=$(sed -n "$script" "$1/$file" | sort -u)
        [ "$found" = "$expected" ] || echo "$file: $(echo "$found" | tr '\n' ' ')instead of $expected"
    done
}

found=$(differing .)
[ -z "$found" ] || {
    echo "version: these files name another version than include/seslite.h does:"
    echo "$found"
    exit 1
}

# The files of a release are there, if the change log says that this is one.
# lacking TOP: what the tree, or a copy, lacks for that
lacking() {
    grep -q "^## $version (unreleased)$" "$1/CHANGELOG.md" && return
    grep -lE 'is (unreleased|not released yet)' "$1/README.md" "$1/SECURITY.md" || true
    cmp "$1/tools/abi/abi.txt" "$1/tools/abi/released.txt" 2>&1 || true
    ls "$1/test/fixtures/$version.sql" "$1/test/fixtures/$version.jsonl" 2>&1 >/dev/null || true
}

found=$(lacking .)
[ -z "$found" ] || {
    echo "version: CHANGELOG.md calls $version released, but \`make release\` has not run, or these say otherwise:"
    echo "$found"
    exit 1
}

# A file that names another version is found, each by itself.
rm -rf "$folder"
places | while read -r file kind script; do
    mkdir -p "$folder/$(dirname "$file")"
    cp "$file" "$folder/$file"
done
places | while read -r file kind script; do
    sed -e "s/${version%.*}\(\.[0-9]\)*/9.9.9/g; s/$number;/9;/" "$file" >"$folder/$file"
    found=$(differing "$folder")
    [ "${found%%: *}" = "$file" ] && [ "$(echo "$found" | wc -l)" -eq 1 ] || {
        echo "version: another version in $file is not found, but this is:"
        echo "$found"
        exit 1
    }
    cp "$file" "$folder/$file"
done

# So is a change log that is ahead of the tree.
mkdir -p "$folder/tools/abi" "$folder/test/fixtures"
cp SECURITY.md "$folder/"
cp tools/abi/abi.txt "$folder/tools/abi/"
sed "/^## /{s/(.*)/(2026-01-31)/;:rest;n;b rest}" CHANGELOG.md >"$folder/CHANGELOG.md"
cp tools/abi/abi.txt "$folder/tools/abi/released.txt"
echo "seslite is unreleased." >"$folder/README.md"
found=$(lacking "$folder" | wc -l)
rm "$folder/tools/abi/released.txt"
[ "$found" -ge 3 ] && [ "$(lacking "$folder" | wc -l)" -gt "$found" ] || {
    echo "version: what a release lacks is not found:"
    lacking "$folder"
    exit 1
}
echo "ok      version: $version in $(places | wc -l) files"
