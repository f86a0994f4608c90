#!/bin/sh
# Prints the ar that goes with a compiler, which for link-time optimization must know its objects:
#     sh tools/archiver.sh CC...
machine=$("$@" -dumpmachine 2>/dev/null)
# Asks the compiler for the path of the program $name.
what() { "$@" "-print-prog-name=$name" 2>/dev/null; }

if echo __clang__ | "$@" -E -P -x c - 2>/dev/null | grep -q 1; then
    names="llvm-ar ar"
else
    names="$machine-gcc-ar"
    # A cross compiler has an ar of its own; the gcc-ar that is in the PATH is this system's.
    name=ar
    [ "$(what "$@")" != ar ] || names="$names gcc-ar"
    names="$names ar"
fi
for name in $names; do
    command -v "$(what "$@")" && exit 0
done
echo ar
