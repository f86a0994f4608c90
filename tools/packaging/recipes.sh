#!/bin/sh
# Writes the descriptions of the packages for a release that `make dist` has made: the templates of the
# folders here, with its version and checksums.
#     sh tools/packaging/recipes.sh DIST OUT     (from the top of a clone; HOMEPAGE, DOWNLOADS, MAINTAINER; AWK,
#                                                 SOURCE_DATE_EPOCH)
set -eu
dist=$1
out=$2
here=tools/packaging
awk=${AWK:-awk}
export LC_ALL=C TZ=UTC

tarball=$(cd "$dist" && ls seslite-[0-9]*.tar.gz)
version=${tarball#seslite-}
version=${version%.tar.gz}
amalgamation=seslite-amalgamation-$version.tar.gz
abi=$(echo "$version" | $awk -F. '{print $1 == 0 ? $1 "." $2 : $1}')
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
date=$(date -u -R -d "@$epoch" 2>/dev/null || date -u -R -r "$epoch")

# sum BITS FILE
sum() {
    { sha"$1"sum "$dist/$2" 2>/dev/null || shasum -a "$1" "$dist/$2"; } | cut -d ' ' -f 1
}
settings="s|@VERSION@|$version|g; s|@ABI@|$abi|g; s|@HOMEPAGE@|$HOMEPAGE|g; s|@DOWNLOADS@|$DOWNLOADS|g
s|@MAINTAINER@|$MAINTAINER|g; s|@DATE@|$date|g
s|@SHA256@|$(sum 256 "$tarball")|g; s|@SHA512@|$(sum 512 "$tarball")|g
s|@AMALGAMATION_SHA256@|$(sum 256 "$amalgamation")|g; s|@AMALGAMATION_SHA512@|$(sum 512 "$amalgamation")|g"

rm -rf "$out"
for file in $(cd $here && find alpine arch conan debian homebrew meson nix rpm vcpkg -type f | sort); do
    made=$out/${file%.in}
    mkdir -p "${made%/*}"
    case $file in
    *.in) sed "$settings" "$here/$file" >"$made" ;;
    *) cp "$here/$file" "$made" ;;
    esac
    [ ! -x "$here/$file" ] || chmod +x "$made"
done

$awk -v whole=1 -f test/readme.awk README.md >"$out/conan/test_package/program.c"

# Debian names a library's package by its soname, and lists the calls with the version that each has come
# with.
for file in "$out"/debian/libseslite.*; do
    mv "$file" "$out/debian/libseslite$abi.${file##*.}"
done
{
    echo "libseslite.so.$abi libseslite$abi #MINVER#"
    $awk '
        /^SESLITE_/ {node = $1; since = substr(node, 9) ".0"; print " " node "@" node " " since}
        /^ +ses_/ {sub(/;.*/, "", $1); print " " $1 "@" node " " since}' tools/abi/symbols.map | sort
} >"$out/debian/libseslite$abi.symbols"
echo "$out: $(ls "$out" | tr '\n' ' ')"
