#!/bin/sh
# Installs what seslite is built and tested with, by the system's own package manager.
#     sh tools/deps.sh          to build, to run the demonstration and the tests
#     sh tools/deps.sh dev      also what checks the code: clang, sanitizers, coverage, valgrind, formatting, and what it
#                               is built for and with besides: 32 bit, musl, CMake, Meson, zig for other systems, a checker
#                               of SBOMs
#     sh tools/deps.sh browser  also Chromium and chromedriver, in which the page of `seslite html` is tested
#     sh tools/deps.sh postgres also libpq, and for the tests a PostgreSQL server and PgBouncer
#     sh tools/deps.sh mysql    also MariaDB's client library, and for the tests a MariaDB server
#     sh tools/deps.sh machines also qemu, which runs programs of other processors, and zig, which compiles them
# Without permission to install, it prints the commands and fails.
set -eu

dev=
browser=
postgres=
mysql=
machines=
[ "${1:-}" != dev ] || dev=yes
[ "${1:-}" != browser ] || browser=yes
case " $* " in *" postgres "*) postgres=yes ;; esac
case " $* " in *" mysql "*) mysql=yes ;; esac
[ "${1:-}" != machines ] || machines=yes
foreign=
chromium=
if command -v apt-get >/dev/null 2>&1; then
    update="apt-get update"
    install="apt-get install -y --no-install-recommends"
    packages="make gcc g++ libc6-dev binutils pkg-config sqlite3 libsqlite3-dev libcjson-dev libcmocka-dev \
        libmicrohttpd-dev libcurl4-openssl-dev"
    more="clang clang-format libclang-rt-dev lld llvm gcovr valgrind git cmake cmark meson ninja-build musl-tools mandoc abigail-tools python3-venv python3-dev \
        dpkg-dev debhelper lintian libpq-dev libmariadb-dev ruby nix-bin zip unzip"
    chromium="chromium chromium-driver"
    server="libpq-dev postgresql postgresql-client pgbouncer"
    mariadb="libmariadb-dev mariadb-server mariadb-client"
    foreign="qemu-user-static"
    check="dpkg -s"
    [ "$(dpkg --print-architecture)" != amd64 ] || more="$more gcc-multilib"
elif command -v dnf >/dev/null 2>&1; then
    update=""
    install="dnf install -y"
    packages="make gcc gcc-c++ binutils pkgconf-pkg-config sqlite sqlite-devel cjson-devel libcmocka-devel \
        libmicrohttpd-devel libcurl-devel"
    more="clang clang-tools-extra compiler-rt lld gcovr valgrind git libasan libubsan libtsan libabigail cmake cmark meson"
    chromium="chromium chromedriver"
    server="libpq-devel postgresql-server postgresql pgbouncer"
    mariadb="mariadb-connector-c-devel mariadb-server mariadb"
    check="rpm -q"
elif command -v apk >/dev/null 2>&1; then
    update=""
    install="apk add"
    packages="make gcc g++ musl-dev binutils pkgconf sqlite sqlite-dev cjson-dev cmocka-dev libmicrohttpd-dev curl-dev"
    more="clang clang-extra-tools compiler-rt gcovr valgrind git cmake cmark meson"
    chromium="chromium chromium-chromedriver"
    server="libpq-dev postgresql pgbouncer"
    mariadb="mariadb-connector-c-dev mariadb mariadb-client"
    check="apk info -e"
elif command -v pacman >/dev/null 2>&1; then
    update=""
    install="pacman -S --needed --noconfirm"
    packages="make gcc binutils pkgconf sqlite cjson cmocka libmicrohttpd curl"
    more="clang compiler-rt gcovr valgrind git cmake cmark meson"
    chromium="chromium"
    server="postgresql-libs postgresql"
    mariadb="mariadb-libs mariadb mariadb-clients"
    check="pacman -Q"
elif command -v brew >/dev/null 2>&1; then
    update=""
    install="brew install"
    packages="pkg-config sqlite cjson cmocka libmicrohttpd curl"
    more="clang-format gcovr cmake meson"
    chromium="chromedriver"
    server="libpq postgresql pgbouncer"
    mariadb="mariadb-connector-c mariadb"
    check="brew list --versions"
else
    echo "No package manager that this script knows. Wanted: a C compiler, make, pkg-config, and the development" >&2
    echo "files of SQLite (3.37 or newer), cJSON and cmocka, and the sqlite3 program." >&2
    exit 1
fi

# Optional packages, which are not available everywhere.
get_extras() {
    get_zig
    get_spdx
    [ "$check" != "dpkg -s" ] || [ "$(dpkg --print-architecture)" != amd64 ] || get_32_bit
}
# The libraries for 32-bit x86; their headers are those of 64 bits.
get_32_bit() {
    libraries="libsqlite3-0:i386 libcjson1:i386 libcmocka0:i386"
    # shellcheck disable=SC2086 # words are meant to be split
    dpkg -s $libraries >/dev/null 2>&1 && return
    {
        dpkg --add-architecture i386 && { apt-get update || true; } &&
            DEBIAN_FRONTEND=noninteractive $install $libraries
    } || echo "deps: no 32-bit libraries, so that the tests will not run with 32 bits"
}
# zig compiles for other systems. It comes as a wheel of PyPI, into build/; make platforms does without it if
# need be.
get_zig() {
    command -v zig >/dev/null 2>&1 && return
    [ -x build/zig/bin/python ] && return
    { python3 -m venv build/zig && build/zig/bin/pip install -q --disable-pip-version-check ziglang==0.17.1; } ||
        { rm -rf build/zig && echo "deps: no zig, so that make platforms will have nothing to do"; }
}
# pyspdxtools checks the SBOM of a release; without it, that is skipped.
get_spdx() {
    [ -x build/spdx/bin/pyspdxtools ] && return
    { python3 -m venv build/spdx && build/spdx/bin/pip install -q --disable-pip-version-check spdx-tools==0.8.5; } ||
        { rm -rf build/spdx && echo "deps: no spdx-tools, so that the SBOM will not be checked"; }
}

missing=""
wanted=$packages
[ -z "$dev" ] || wanted="$packages $more"
[ -z "$browser" ] || wanted="$packages $chromium"
[ -z "$postgres" ] || wanted="$wanted $server"
[ -z "$mysql" ] || wanted="$wanted $mariadb"
[ -z "$machines" ] || wanted="$packages $foreign"
for package in $wanted; do
    [ "$package" = libclang-rt-dev ] && continue
    $check "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ "$check" = "dpkg -s" ] && [ -n "$dev" ] && ! ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan* >/dev/null 2>&1; then
    missing="$missing libclang-rt-dev"
fi
if [ -z "$missing" ]; then
    [ -z "$dev" ] || get_extras
    [ -z "$machines" ] || get_zig
    echo "deps: everything is installed"
    exit 0
fi

if [ "$(id -u)" -ne 0 ] && [ "$install" != "brew install" ]; then
    echo "deps: not running as root. As root, run:" >&2
    [ -z "$update" ] || echo "    $update" >&2
    echo "    $install$missing" >&2
    exit 1
fi
# A list that cannot be fetched may not be needed; the installation will show.
[ -z "$update" ] || $update || echo "deps: going on with the lists that are here"
case $missing in
*libclang-rt-dev*)
    runtime=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/libclang-rt-\1-dev/p')
    missing=$(echo "$missing" | sed "s/libclang-rt-dev/$runtime/")
    ;;
esac
# shellcheck disable=SC2086 # words are meant to be split
DEBIAN_FRONTEND=noninteractive $install $missing
[ -z "$dev" ] || get_extras
[ -z "$machines" ] || get_zig
