#!/bin/sh
# Checks an SBOM with pyspdxtools, where that is: in the path, or in build/spdx, where `sh tools/deps.sh dev`
# puts it.
#     sh tools/packaging/dist/check_sbom.sh FILE     (from the top of the repository)
set -eu
checker=$(command -v pyspdxtools || echo build/spdx/bin/pyspdxtools)
if [ ! -x "$checker" ]; then
    echo "skipped: the SBOM, for want of pyspdxtools (sh tools/deps.sh dev gets it)"
    exit 0
fi
"$checker" -i "$1"
echo "ok      the SBOM"
