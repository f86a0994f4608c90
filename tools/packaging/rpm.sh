#!/bin/sh
# Builds the packages of the RPM spec from the tarball of a release.
#     sh tools/packaging/rpm.sh DIST RECIPES OUT [RPMBUILD-OPTION...]     (--without check: without the quick tests)
set -eu
dist=$(cd "$1" && pwd)
recipes=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)
shift 3
unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS CPPFLAGS LDFLAGS

if ! command -v rpmbuild >/dev/null 2>&1; then
    echo "skipped: packages for RPM, for want of rpmbuild"
    exit 0
fi
rm -rf "${out:?}"/*
# On Debian its own packages are what is needed, and libraries are in a folder of their architecture.
if command -v dpkg-architecture >/dev/null 2>&1; then
    libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    set -- --nodeps --define "_libdir $libdir" --define "debug_package %{nil}" "$@"
fi
rpmbuild -bb --define "_topdir $out/build" --define "_sourcedir $dist" --define "_rpmdir $out" "$@" \
    "$recipes/rpm/seslite.spec" >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log"
    exit 1
}
rm -rf "$out/build"
find "$out" -name '*.rpm' -exec ls -l {} +
