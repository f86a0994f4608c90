#!/bin/sh
# Runs the tests of the services for google-adk with each minor version of it, from the oldest that
# pyproject.toml names to the newest, each as the registry resolves it today, in an environment of its own
# with the wheel that `make wheels` has built:
#     sh tools/python/adk_versions.sh BUILD-FOLDER    (PYTHON=python3; ADK_VERSIONS="oldest 2.13.0": only these)
# It prints a line for each, and fails if a test does. Environments are kept below BUILD-FOLDER/python/adk.
set -eu
build=$1/python
python=${PYTHON:-python3}
tests=tools/python/tests
oldest=$(sed -n 's/^adk = \["google-adk>=\(.*\)"\]$/\1/p' tools/python/pyproject.toml)
wheel=$(ls "$build"/dist/seslite-*manylinux*.whl 2>/dev/null) || {
    echo "skipped: versions of google-adk, for want of a wheel (make wheels)"
    exit 0
}

# The last patch of each minor version.
versions=${ADK_VERSIONS:-$("$python" -m pip index versions google-adk 2>/dev/null | sed -n 's/^Available versions: //p' | tr -d , |
    tr ' ' '\n' | grep -E '^[0-9.]+$' | { cat; echo "$oldest"; } | sort -V | awk -F. -v oldest="$oldest" '
        $0 == oldest {on = 1} on {newest[$1 "." $2] = $0} END {for (minor in newest) print newest[minor]}' | sort -V)}
[ -n "$versions" ] || {
    echo "skipped: versions of google-adk, for want of the registry"
    exit 0
}

failed=0
for version in $versions; do
    [ "$version" != oldest ] || version=$oldest
    folder=$build/adk/$version
    mkdir -p "$folder"
    [ -x "$folder/venv/bin/python" ] || "$python" -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip --disable-pip-version-check -q install --no-compile "google-adk==$version" "$wheel[adk]" \
        'sqlalchemy[asyncio]' aiosqlite pytest >"$folder/pip.log" 2>&1 || {
        echo "$version: not installed: $(tail -1 "$folder/pip.log")"
        failed=1
        continue
    }
    "$folder/venv/bin/python" -m pip --disable-pip-version-check -q install --force-reinstall --no-deps "$wheel"
    # Tests that need the ADK's command line, with its server, run with the version that is pinned.
    "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -k "not sigterm" $tests/adk/test_services.py $tests/adk/test_ours.py \
        $tests/adk/test_artifact_services.py $tests/adk/test_memory.py >"$folder/tests.log" 2>&1 || failed=1
    echo "$version: $(tail -1 "$folder/tests.log")"
done
exit $failed
