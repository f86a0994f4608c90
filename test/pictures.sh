#!/bin/sh
# The picture of the rooms in lib/README.md is the one that the code gives. Run from the top of the
# repository.
set -eu

command -v python3 >/dev/null || {
    echo "skipped: pictures, for want of python3"
    exit 0
}
python3 tools/pictures/house.py --check tools/pictures/house.svg
echo "ok      pictures"
