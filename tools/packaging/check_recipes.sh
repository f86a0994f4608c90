#!/bin/sh
# Builds with the recipes of packages, each as its own tool does, where that is here, and otherwise as far as
# a check goes. The results are used: the README's first program is compiled against them.
#     sh tools/packaging/check_recipes.sh DIST RECIPES OUT [NAME...]     (from the top; NAME: meson, homebrew, ...)
# The recipes must fetch from DIST: `make recipes-check` makes them so.
set -eu
dist=$(cd "$1" && pwd)
recipes=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)
shift 3
tree=$(pwd)
unset MAKEFLAGS MFLAGS MAKELEVEL
program=$recipes/conan/test_package/program.c
version=$(cd "$dist" && ls seslite-[0-9]*.tar.gz | sed 's/^seslite-//; s/\.tar\.gz$//')

has() { command -v "$1" >/dev/null 2>&1; }
skipped() { echo "skipped: $1, for want of $2"; }
ok() { echo "ok      $1"; }
fail() {
    echo "FAILED  $1"
    exit 1
}
# run COMMAND...: shows what it said if it fails
run() { "$@" >"$out/log" 2>&1 || { tail -n 60 "$out/log"; fail "$*"; }; }
unpack() { gzip -dc "$dist/$1" | tar -xf -; }
# used NAME: the program has printed the state
used() { grep -q '"counter":42' "$out/log" || { cat "$out/log"; fail "$1: the README's first program"; }; }

# The wrap, with the tarball as Meson would have downloaded it.
check_meson() {
    has meson && has ninja || { skipped "the Meson wrap" "meson and ninja"; return; }
    mkdir -p subprojects/packagecache
    cp "$recipes/meson/seslite.wrap" subprojects/
    cp "$dist/seslite-amalgamation-$version.tar.gz" subprojects/packagecache/
    cp "$program" program.c
    cat >meson.build <<'MESON'
project('user', 'c')
executable('program', 'program.c', dependencies: dependency('seslite'))
MESON
    run env PKG_CONFIG_LIBDIR="$(pkg-config --variable pc_path pkg-config)" meson setup built --force-fallback-for=seslite
    run meson compile -C built
    run built/program
    used "the Meson wrap"
    ok "the Meson wrap"
}

# vcpkg's functions are stand-ins, which do with meson what it does.
check_vcpkg() {
    run python3 -m json.tool "$recipes/vcpkg/ports/seslite/vcpkg.json"
    has cmake && has meson && has ninja || { skipped "the vcpkg port" "cmake, meson and ninja"; return; }
    cat >vcpkg.cmake <<'CMAKE'
cmake_policy(VERSION 3.14)
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
    if(result)
        message(FATAL_ERROR "${ARGN}")
    endif()
endfunction()
function(vcpkg_download_distfile variable)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
    file(DOWNLOAD "${arg_URLS}" "${WORK}/${arg_FILENAME}" EXPECTED_HASH SHA512=${arg_SHA512})
    set(${variable} "${WORK}/${arg_FILENAME}" PARENT_SCOPE)
endfunction()
function(vcpkg_extract_source_archive variable)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "")
    file(MAKE_DIRECTORY "${WORK}/source")
    run(tar -x -f "${arg_ARCHIVE}" --strip-components=1 -C "${WORK}/source")
    set(${variable} "${WORK}/source" PARENT_SCOPE)
endfunction()
function(vcpkg_configure_meson)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "")
    run(meson setup --prefix "${CURRENT_PACKAGES_DIR}" --libdir lib "${WORK}/built" "${arg_SOURCE_PATH}")
endfunction()
function(vcpkg_install_meson)
    run(meson install -C "${WORK}/built")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()
include("${PORTFILE}")
CMAKE
    run cmake -DWORK="$PWD" -DVERSION="$version" -DPORT=seslite -DCURRENT_PACKAGES_DIR="$PWD/installed" \
        -DPORTFILE="$recipes/vcpkg/ports/seslite/portfile.cmake" -P vcpkg.cmake
    for file in usage LICENSE; do
        [ -e "installed/share/seslite/$file" ] || fail "the vcpkg port installs no $file"
    done
    run env PKG_CONFIG_PATH="$PWD/installed/lib/pkgconfig" sh "$tree/tools/packaging/first_program.sh" . "$program"
    used "the vcpkg port"
    ok "the vcpkg port, with stand-ins for vcpkg's functions"
}

# conan_system NAME VERSION LIBRARY [PKGCONFIG]: a recipe of that name for a library of this system
conan_system() {
    mkdir "$1"
    cat >"$1/conanfile.py" <<PYTHON
from conan import ConanFile
class System(ConanFile):
    name = "$1"
    version = "$2"
    def package_info(self):
        self.cpp_info.set_property("pkg_config_name", "${4:-$1}")
        self.cpp_info.libdirs = self.cpp_info.bindirs = []
        self.cpp_info.includedirs = "${4:+$(pkg-config --cflags-only-I "$4")}".replace("-I", "").split()
        self.cpp_info.system_libs = ["$3"]
PYTHON
    run "$conan" create "$1" --no-remote
}
# Without a registry: what it requires is found in recipes of this system's libraries.
check_conan() {
    conan=$(command -v conan || echo "$tree/build/conan/bin/conan")
    [ -x "$conan" ] && has cmake || { skipped "the Conan recipe" "conan and cmake"; return; }
    CONAN_HOME=$PWD/home
    export CONAN_HOME
    run "$conan" profile detect
    conan_system sqlite3 3.45.0 sqlite3
    conan_system cjson 1.7.15 cjson
    for shared in False True; do
        run "$conan" create "$recipes/conan" --no-remote -o "seslite/*:shared=$shared"
        used "the Conan recipe (shared=$shared)"
    done
    ok "the Conan recipe"
    pkg-config --exists libpq libmariadb || { skipped "the Conan recipe's servers" "libpq and libmariadb"; return; }
    conan_system libpq 15.0 pq libpq
    conan_system mariadb-connector-c 3.3.3 mariadb libmariadb
    run "$conan" create "$recipes/conan" --no-remote -o "seslite/*:postgres=True" -o "seslite/*:mysql=True"
    used "the Conan recipe (servers)"
    find home -name libseslite.a -path '*/p/lib/*' -exec nm -g {} + 2>/dev/null | grep -q ' T ses_open_mysql$' ||
        fail "the Conan recipe's option mysql"
    ok "the Conan recipe's servers"
}

# The functions of a script, run as the tool would run them, and what they install.
script() {
    what=$1
    shell=$2
    has "$shell" || { skipped "$what" "$shell"; return; }
    unpack "seslite-$version.tar.gz"
    # The folder in which each tool calls them.
    in=$4
    # shellcheck disable=SC2016 # the inner shell's
    run env pkgdir="$PWD/installed" "$shell" -euc 'cd "$2"; . "$1"; build; cd "$3/$2"; package' "$shell" "$3" "$in" "$PWD"
    for file in bin/seslite lib/libseslite.so lib/libseslite.a include/seslite_postgres.h share/man/man3/ses_append.3; do
        [ -e "installed/usr/$file" ] || fail "$what installs no $file"
    done
    "installed/usr/bin/seslite" --version | grep -qF "$version" || fail "$what installs another version"
    ok "$what: its functions, called in $shell"
}
check_alpine() {
    script "the APKBUILD" sh "$recipes/alpine/APKBUILD" "seslite-$version"
}
check_arch() {
    script "the PKGBUILD" bash "$recipes/arch/PKGBUILD" .
}

check_homebrew() {
    has ruby || { skipped "the Homebrew formula" ruby; return; }
    run ruby -wc "$recipes/homebrew/seslite.rb"
    ok "the syntax of the Homebrew formula"
}

check_nix() {
    has nix-instantiate || { skipped "the Nix expression" nix-instantiate; return; }
    # Its nixpkgs are made up: mkDerivation returns its argument, and each package is its name.
    NIX_STORE_DIR=$PWD/store NIX_STATE_DIR=$PWD/state NIX_LOG_DIR=$PWD/log
    export NIX_STORE_DIR NIX_STATE_DIR NIX_LOG_DIR
    cat >given.nix <<'NIX'
{ file }:
let
  given = {
    lib = { licenses.asl20 = "asl20"; platforms.unix = [ "unix" ]; };
    stdenv.mkDerivation = arguments: if builtins.isFunction arguments then throw "a function" else arguments;
    fetchurl = { url, sha256 }: "${url} ${sha256}";
    pkg-config = "pkg-config";
    cjson = "cjson";
    cmocka = "cmocka";
    libpq = "libpq";
    mariadb-connector-c = "mariadb-connector-c";
    sqlite = "sqlite";
  };
in
import file given
NIX
    run nix-instantiate --eval --strict --arg file "$recipes/nix/package.nix" given.nix
    grep -q "version = \"$version\"" "$out/log" || fail "the Nix expression has another version"
    ok "the Nix expression, evaluated with stand-ins for nixpkgs"
}

[ $# -gt 0 ] || set -- meson vcpkg conan alpine arch homebrew nix
for name; do
    rm -rf "${out:?}/$name"
    mkdir "$out/$name"
    (cd "$out/$name" && "check_$name")
    rm -rf "${out:?}/$name"
done
