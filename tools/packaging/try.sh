#!/bin/sh
# Installs packages in an empty Debian, compiles and runs the README's first program there, and removes them
# again.
#     sh tools/packaging/try.sh deb|rpm PACKAGES SUITE ROOTS     (as root, from the top of the sources)
# The Debian of a SUITE (bookworm, trixie) is made by debootstrap, once, in ROOTS; `here` is this system
# itself, if it is a Debian without seslite. An RPM is installed with no more than rpm: what it needs comes
# from Debian.
set -eu
format=$1
packages=$2
suite=$3
mkdir -p "$4"
roots=$(cd "$4" && pwd)

skip() {
    echo "skipped: the packages ($format) in $suite, for want of $1"
    exit 0
}
fail() {
    echo "$format in $suite: $1"
    exit 1
}
[ "$(id -u)" -eq 0 ] || skip "root"
[ "$format" != rpm ] || command -v rpm >/dev/null 2>&1 || skip rpm
[ -n "$(find "$packages" -name "*.$format" 2>/dev/null)" ] || skip "packages in $packages"
if [ "$suite" = here ]; then
    command -v apt-get >/dev/null 2>&1 || skip Debian
    ! dpkg-query -W -f '${Status}\n' '*seslite*' 2>/dev/null | grep -q ' installed' || skip "a system without seslite"
else
    command -v debootstrap >/dev/null 2>&1 || skip debootstrap
fi

log=$roots/$suite-$format.log
# run COMMAND...: shows what it said if it fails
run() { "$@" >"$log" 2>&1 || { tail -n 40 "$log"; fail "failed: $*"; }; }
# within COMMAND...: in that Debian
within() { run $enter env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
get() { within apt-get install -y --no-install-recommends "$@"; }
ours() { dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${binary:Package}\n' '*seslite*' 2>/dev/null || true; }

# The Debian is below $root, and this test's files are in $folder of it.
if [ "$suite" = here ]; then
    root=
    enter=
    folder=$(mktemp -d)
    chmod 755 "$folder"
    # shellcheck disable=SC2046 # words are meant to be split
    trap '[ -z "$(ours)" ] || apt-get purge -y $(ours) >/dev/null 2>&1; rm -rf "$folder"' EXIT
else
    root=$roots/$suite-$format
    enter="chroot $root"
    folder=/tmp
    trap 'rm -rf "$root"' EXIT
    if [ ! -d "$roots/$suite" ]; then
        rm -rf "$roots/$suite.new"
        run debootstrap --variant=minbase "$suite" "$roots/$suite.new"
        mv "$roots/$suite.new" "$roots/$suite"
    fi
    rm -rf "$root"
    cp -a "$roots/$suite" "$root"
    within apt-get update
fi
trap 'exit 1' HUP INT TERM

mkdir "$root$folder/packages"
find "$packages" -name "*.$format" ! -name '*dbgsym*' -exec cp {} "$root$folder/packages/" \;
awk -v whole=1 -f test/readme.awk README.md >"$root$folder/program.c"
cp tools/packaging/first_program.sh "$root$folder/"
if [ "$format" = deb ]; then
    # shellcheck disable=SC2046
    get $(cd "$root$folder" && find packages -name '*.deb' | sed "s|^|$folder/|") gcc libc6-dev pkgconf
else
    get gcc libc6-dev pkgconf libcjson-dev libmariadb-dev libpq-dev libsqlite3-dev
    # Debian's rpm asks to be told that an RPM is meant.
    own=
    ! rpm --help | grep -q force-debian || own=--force-debian
    run rpm --root "$root/" $own --nodeps -i "$root$folder"/packages/*.rpm
    within ldconfig
fi

# ---- used
within sh "$folder/first_program.sh" "$folder" "$folder/program.c"
grep -q '^ok' "$log" || fail "the README's first program"
within ldd "$folder/program"
grep -q 'libseslite\.so\.[0-9.]* => ' "$log" || fail "the program is not linked with the shared library"
within sh -c "cd $folder && cc -o static program.c -l:libseslite.a -lsqlite3 -pthread && rm agents.db && ./static"
within seslite -f "$folder/agents.db" list
grep -q alice "$log" || fail "the command does not list the session"

# ---- removed
# shellcheck disable=SC2046
if [ "$format" = deb ]; then
    within apt-get purge -y $(ours)
else
    run rpm --root "$root/" $own --nodeps -e $(rpm --root "$root/" -qa | grep seslite)
fi
left=$(cd "$root/" && find usr/include usr/lib usr/bin usr/share etc var/lib/dpkg -name '*seslite*' | head)
[ -z "$left" ] || fail "removing leaves $left"
echo "ok      $format in $suite: installed, used, removed"
