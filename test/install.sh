#!/bin/sh
# What `make install` puts in place works: with pkg-config, CMake and Meson where they are, shared and static;
# and `make uninstall` leaves nothing of it.
#     sh test/install.sh BUILD          (MAKE, CC, CFLAGS, LDFLAGS, PKG_CONFIG)
set -eu
build=$1
make=${MAKE:-make}
folder=$(pwd)/$build/test/install
rm -rf "$folder"
mkdir -p "$folder/source"
export CC="${CC:-cc}" CFLAGS="${CFLAGS:-}" LDFLAGS="${LDFLAGS:-}"
unset SQLITE_CFLAGS SQLITE_LIBS CJSON_CFLAGS CJSON_LIBS # what they are by themselves is what gets installed

complain() {
    echo "install: $1"
    exit 1
}
# run LOG COMMAND...: tells what the command said when it fails
run() {
    log=$folder/$1.log
    shift
    "$@" >"$log" 2>&1 || { cat "$log"; complain "failed: $*"; }
}
# in_prefix TARGET DESTDIR PREFIX LIBDIR
in_prefix() {
    run "$1" "$make" --no-print-directory "$1" DESTDIR="$2" PREFIX="$3" LIBDIR="$4" INCLUDEDIR="$3/include" \
        DATADIR="$3/share" PKGCONFIGDIR="$4/pkgconfig" CMAKEDIR="$4/cmake/seslite"
}
nothing_left() {
    left=$(find "$1" ! -type d -o -name seslite)
    [ -z "$left" ] || complain "make uninstall left $left"
}

# ---- as packagers do: below DESTDIR, with the library in a folder of its architecture
stage=$folder/stage
libdir=/usr/lib/x86_64-linux-gnu
in_prefix install "$stage" /usr $libdir
if grep -rl "$folder" "$stage" | grep -v '\.a$\|\.so\.\|\.dylib$'; then
    complain "these files name DESTDIR"
fi
for file in include/seslite.h include/seslite_history.h lib/x86_64-linux-gnu/libseslite.a lib/x86_64-linux-gnu/cmake/seslite/seslite-config.cmake \
    bin/seslite share/man/man1/seslite.1 share/bash-completion/completions/seslite share/zsh/site-functions/_seslite \
    share/fish/vendor_completions.d/seslite.fish share/man/man3/ses_append.3 share/doc/seslite/html/index.html; do
    [ -f "$stage/usr/$file" ] || complain "there is no $file"
done
# pc VARIABLE: as seslite.pc has it, without looking for what it requires
pc() { sed -n -e "s|\${prefix}|/usr|g" -e "s|^$1=||p" "$stage$libdir/pkgconfig/seslite.pc"; }
[ "$(pc libdir) $(pc includedir)" = "$libdir /usr/include" ] || complain "seslite.pc has other folders"
"$stage/usr/bin/seslite" --version | grep -q "^seslite [0-9]" || complain "the installed command does not run"
if man -M "$stage/usr/share/man" -w 3 ses_append 2>/dev/null | grep -q ses_append; then
    # a page of its own, and one that is shared
    for page in ses_append ses_state_get_bool; do
        run man man -M "$stage/usr/share/man" 3 $page
        grep -q "$page *(" "$folder/man.log" || complain "man 3 $page shows something else"
    done
fi
in_prefix uninstall "$stage" /usr $libdir
nothing_left "$stage"

# ---- a prefix of one's own
prefix=$folder/prefix
in_prefix install "" "$prefix" "$prefix/lib"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

cd "$folder/source"
cat >store.c <<'END'
#include <seslite.h>

int main(void)
{
    ses_store *store = 0;
    int code = ses_open(":memory:", 0, &store, 0);
    ses_close(store);
    return code == SES_OK && ses_version_number() == SES_VERSION_NUMBER ? 0 : 1;
}
END
cat >tree.c <<'END'
#include <seslite_cjson.h>

int main(void)
{
    ses_store *store = 0;
    ses_session *session = 0;
    ses_key key = {"app", "user", "session"};
    cJSON *state = cJSON_CreateObject();
    int code = ses_open(":memory:", 0, &store, 0);
    if (code == SES_OK)
        code = ses_create_cjson(store, &key, state, 0, &session, 0);
    cJSON_Delete(state);
    ses_session_close(session);
    ses_close(store);
    return code == SES_OK ? 0 : 1;
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.14)
project(user C)
find_package(seslite ${VERSION} CONFIG REQUIRED COMPONENTS cjson)
add_executable(store store.c)
target_link_libraries(store PRIVATE seslite::seslite)
add_executable(tree tree.c)
target_link_libraries(tree PRIVATE seslite::cjson)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SESLITE REQUIRED IMPORTED_TARGET seslite)
add_executable(store-by-target store.c)
target_link_libraries(store-by-target PRIVATE PkgConfig::SESLITE)
add_executable(store-by-variables store.c)
target_include_directories(store-by-variables PRIVATE ${SESLITE_INCLUDE_DIRS})
target_link_directories(store-by-variables PRIVATE ${SESLITE_LIBRARY_DIRS})
target_link_libraries(store-by-variables PRIVATE ${SESLITE_LIBRARIES})
END
cat >meson.build <<'END'
project('user', 'c')
executable('store', 'store.c', dependencies: dependency('seslite'))
executable('tree', 'tree.c', dependencies: dependency('seslite-cjson'))
END

has() { command -v "$1" >/dev/null 2>&1; }
pkg_config=${PKG_CONFIG:-pkg-config}

by_pkg_config() {
    # shellcheck disable=SC2046,SC2086 # words are meant to be split
    run "pkg-config-$1" $CC $CFLAGS -o "$folder/store-$1" store.c $($pkg_config --cflags --libs seslite) $LDFLAGS
    # shellcheck disable=SC2046,SC2086
    run "pkg-config-$1" $CC $CFLAGS -o "$folder/tree-$1" tree.c $($pkg_config --cflags --libs seslite-cjson) $LDFLAGS
    run "pkg-config-$1" "$folder/store-$1"
    run "pkg-config-$1" "$folder/tree-$1"
}
# by_cmake KIND ARGUMENT...
by_cmake() {
    kind=$1
    shift
    run "cmake-$kind" cmake -S . -B "$folder/cmake-$kind" -DCMAKE_PREFIX_PATH="$prefix" "$@"
    run "cmake-$kind" cmake --build "$folder/cmake-$kind"
    for program in store tree store-by-target store-by-variables; do
        run "cmake-$kind" "$folder/cmake-$kind/$program"
    done
}
by_meson() {
    run "meson-$1" meson setup "$folder/meson-$1" .
    run "meson-$1" meson compile -C "$folder/meson-$1"
    run "meson-$1" "$folder/meson-$1/store"
    run "meson-$1" "$folder/meson-$1/tree"
}
# by_all KIND ARGUMENT...: the arguments are CMake's
by_all() {
    kind=$1
    has "$pkg_config" && by_pkg_config "$kind" || echo "skipped: an installed prefix by pkg-config, which is not here"
    if has cmake; then
        by_cmake "$@"
    else
        echo "skipped: an installed prefix by CMake, which is not here"
    fi
    if has meson && has ninja; then
        by_meson "$kind"
    else
        echo "skipped: an installed prefix by Meson, which is not here"
    fi
}
version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/seslite.pc")
by_all shared -DBUILD_SHARED_LIBS=ON -DVERSION="$version"
rm -f "$prefix"/lib/libseslite.so* "$prefix"/lib/libseslite*.dylib
by_all static -DVERSION="${version%.*}"
if has cmake && cmake -S . -B "$folder/cmake-other" -DCMAKE_PREFIX_PATH="$prefix" -DVERSION=99.0 >"$folder/other.log" 2>&1; then
    complain "find_package(seslite 99.0) takes $version"
fi

cd - >/dev/null
in_prefix uninstall "" "$prefix" "$prefix/lib"
nothing_left "$prefix"
