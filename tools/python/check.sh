#!/bin/sh
# Builds the Python package as its users get it, from a source archive, and runs its tests in a virtual
# environment:
#     sh tools/python/check.sh BUILD-FOLDER      (PYTHON=python3; PYTEST_ARGS for pytest)
# What builds and tests it is pinned in tests/requirements.txt, and nothing else comes from the registry.
# If something is missing or the registry cannot be reached, it says so and skips the tests.
set -eu
build=$1/python
python=${PYTHON:-python3}
skip() {
    echo "skipped: the Python package, for want of $1"
    exit 0
}
command -v "$python" >/dev/null 2>&1 || skip "$python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "Python 3.10 or newer"
"$python" -c 'import venv, ensurepip' 2>/dev/null || skip "its module venv (Debian: python3-venv)"
"$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skip "its C headers (Debian: python3-dev)"

mkdir -p "$build"
[ -x "$build/venv/bin/python" ] || "$python" -m venv "$build/venv"
pip() {
    "$build/venv/bin/python" -m pip --disable-pip-version-check -q "$@"
}
if ! pip install --no-compile -r tools/python/tests/requirements.txt 2>"$build/pip.log"; then
    tail -5 "$build/pip.log" >&2
    skip "packages from the registry"
fi
rm -f "$build"/seslite-*.tar.gz
"$build/venv/bin/python" -m build --no-isolation --sdist --outdir "$build" tools/python >"$build/sdist.log" 2>&1 || {
    tail -20 "$build/sdist.log" >&2
    exit 1
}
# Python's own flags optimize for 40 seconds more of a processor than the tests gain by it.
CFLAGS=-O1 pip install --no-build-isolation --force-reinstall --no-deps "$build"/seslite-*.tar.gz
"$build/venv/bin/python" -m ruff format --quiet --check tools/python
# With the types of google-adk and others, as in `make types`, it takes ten times as long.
"$build/venv/bin/python" -m mypy --config-file tools/python/pyproject.toml --cache-dir "$build/mypy" \
    --exclude '/(adk/|agents\.py|langgraph/)' tools/python/src/seslite

# The tests that the OpenAI Agents SDK has for its own sessions are in its source archive.
sdk=openai_agents-$(sed -n 's/^openai-agents==//p' tools/python/tests/requirements.txt)
if [ -d "$build/$sdk/tests" ] || {
    pip download --no-deps --no-binary :all: -d "$build" "openai-agents==${sdk#*-}" 2>>"$build/pip.log"
    tar -xzf "$build/$sdk.tar.gz" -C "$build" 2>>"$build/pip.log"
}; then
    SESLITE_AGENTS_SDK=$(cd "$build/$sdk" && pwd)
    export SESLITE_AGENTS_SDK
else
    echo "skipped: the tests of the OpenAI Agents SDK, for want of its sources"
fi
# The tests keep their stores in memory, where there is enough of it, since none is about a disk; see
# ../../test/run.sh. A server that root gives to another user passes through the folder.
free_kb=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 {print $4}')
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "${free_kb:-0}" -ge 1000000 ]; then
    TMPDIR=$(mktemp -d /dev/shm/seslite-XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
    chmod 711 "$TMPDIR"
fi
# shellcheck disable=SC2086 # words are meant to be split
"$build/venv/bin/python" -m pytest -q -p no:cacheprovider tools/python/tests ${PYTEST_ARGS:-}

# The benchmark runs, without its many writers; whether its figures are good enough (2) means nothing here.
"$build/venv/bin/python" tools/python/bench.py --rounds 1 --seconds 0 --steps 10 >"$build/bench.log" || [ $? -eq 2 ]
