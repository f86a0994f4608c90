#!/bin/sh
# Builds the packages for Debian from the tarball of a release, and looks at them with lintian, where that is.
#     sh tools/packaging/deb.sh DIST RECIPES OUT     (DEB_BUILD_OPTIONS=nocheck: without the quick tests)
set -eu
dist=$1
recipes=$2
out=$3
unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS CPPFLAGS LDFLAGS

if ! command -v dpkg-buildpackage >/dev/null 2>&1 || ! command -v dh >/dev/null 2>&1; then
    echo "skipped: packages for Debian, for want of dpkg-dev and debhelper"
    exit 0
fi
tarball=$(cd "$dist" && ls seslite-[0-9]*.tar.gz)
folder=${tarball%.tar.gz}
version=${folder#seslite-}
rm -rf "$out"
mkdir -p "$out"
cp "$dist/$tarball" "$out/seslite_$version.orig.tar.gz"
gzip -dc "$dist/$tarball" | (cd "$out" && tar -xf -)
cp -R "$recipes/debian" "$out/$folder/debian"
(cd "$out/$folder" && dpkg-buildpackage -us -uc) >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log"
    exit 1
}
# Differences between the calls of the library and its list are warnings of dpkg-gensymbols.
if grep -A 20 'dpkg-gensymbols: warning' "$out/build.log"; then
    exit 1
fi
rm -rf "${out:?}/$folder"
if command -v lintian >/dev/null 2>&1; then
    # As root it only says so.
    (cd "$out" && lintian --allow-root --fail-on error,warning ./*.changes)
    echo "ok      lintian"
else
    echo "skipped: lintian, which is not here"
fi
ls -l "$out"/*.deb
